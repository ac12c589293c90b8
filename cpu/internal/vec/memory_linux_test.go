package vec

import (
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// guarded maps at least n bytes between two pages that cannot be accessed, and returns them and a function that unmaps
// them.
func guarded(t testing.TB, n int) ([]byte, func()) {
	page := syscall.Getpagesize()
	inner := max(1, (n+page-1)/page) * page
	m := must.Get(syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE))(t)
	for _, guard := range [][]byte{m[:page], m[page+inner:]} {
		must.Do(t, syscall.Mprotect(guard, syscall.PROT_NONE))
	}
	return m[page : page+inner : page+inner], func() {
		must.Do(t, syscall.Munmap(m))
	}
}
