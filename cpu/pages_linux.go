package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// adviseHugePages asks for huge pages for a large, new buffer. The rows of a pool are read in random order, and with
// small pages the address look-ups cost more than the reads. It is advice: where it is refused, nothing changes.
func adviseHugePages(raw []byte) {
	if len(raw) < 2*hugePage {
		return
	}
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % hugePage
	whole := (uintptr(len(raw)) - skip) / hugePage * hugePage
	_ = unix.Madvise(raw[skip:skip+whole], unix.MADV_HUGEPAGE)
}
