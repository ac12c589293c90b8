package atomicfile

import "sync/atomic"

// Op is a file operation that a test can make fail.
type Op string

// The operations. A write that fails leaves half of its bytes, as on a disk that
// is full; each of the others fails before it does anything.
const (
	OpCreate     Op = "create"
	OpWrite      Op = "write"
	OpSync       Op = "sync"
	OpRename     Op = "rename"
	OpLink       Op = "link"
	OpSyncFolder Op = "sync of the folder"
	OpMkdir      Op = "mkdir"
	OpRemove     Op = "remove"
	OpRead       Op = "read"
)

// Hook is called before each operation of this package, with the path that the operation acts on, for a rename the new
// one. The operation fails with the error that it returns. Many goroutines may call it at the same time.
type Hook func(op Op, path string) error

var hook atomic.Pointer[Hook]

// Intercept sets the hook until the end of the test t. It is for tests only, and only one test at a time may set it;
// the hook can tell other tests that run at the same time by their paths.
func Intercept(t interface{ Cleanup(func()) }, h Hook) {
	if !hook.CompareAndSwap(nil, &h) {
		panic("atomicfile: two hooks at the same time")
	}
	t.Cleanup(func() { hook.Store(nil) })
}

func fail(op Op, path string) error {
	if h := hook.Load(); h != nil {
		return (*h)(op, path)
	}
	return nil
}
