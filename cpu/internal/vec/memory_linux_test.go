package vec

import (
	"syscall"
	"testing"
)

// guarded maps at least n bytes between two pages that cannot be accessed.
func guarded(t testing.TB, n int) ([]byte, func()) {
	page := syscall.Getpagesize()
	inner := max(1, (n+page-1)/page) * page
	m, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for _, guard := range [][]byte{m[:page], m[page+inner:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[page : page+inner : page+inner], func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	}
}
