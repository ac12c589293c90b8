package backendtest

import (
	"errors"

	"github.com/amtrl/amtrl/backend"
)

var closeCases = []testCase{
	{"Close", testClose},
}

// testClose closes a backend that holds buffers, then tries everything.
func testClose(e *env) {
	b, err := e.open()
	e.must(err)
	defer b.Close()
	c := &env{T: e.T, b: b, open: e.open, rng: e.rng, tol: e.tol}
	calls := c.calls(smallDims)
	pb := c.newProblem(problemSpec{d: 3, counts: []int{2}, pools: stored})
	buf := c.alloc(backend.Float32, 2)
	e.must(b.Close())
	if err := b.Close(); err != nil {
		e.failf("the second Close: %v", err)
	}

	closed := func(what string, err error) {
		e.Helper()
		if !errors.Is(err, backend.ErrClosed) {
			e.failf("%s after Close: expected ErrClosed, found %v", what, err)
		}
	}
	for _, call := range calls {
		_, err := call.run()
		closed(call.name, err)
	}
	_, err = b.Alloc(backend.Float32, 1)
	closed("Alloc", err)
	_, err = b.Alloc(backend.Float32, 0)
	closed("Alloc of nothing", err)
	_, err = b.NewSamples(pb.set)
	closed("NewSamples", err)
	closed("Upload", b.Upload(buf, 0, make([]byte, 8)))
	closed("Download", b.Download(make([]byte, 8), buf, 0))
	closed("Synchronize", b.Synchronize())
	closed("SolveSPD of nothing", b.SolveSPD(0, 0, 0, buf, buf))

	if u := b.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		e.failf("a closed backend holds %+v", u)
	}
	if b.Info() != e.b.Info() {
		e.failf("Info changed to %+v", b.Info())
	}
	for _, o := range c.owned {
		o.Free()
	}
	if u := b.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		e.failf("after freeing what Close had freed the backend holds %+v", u)
	}
}
