package backendtest

import (
	"errors"

	"github.com/amtrl/amtrl/backend"
)

var closeCases = []testCase{
	{"Close", testClose},
}

// testClose closes a device that holds buffers, then tries everything.
func testClose(e *env) {
	c := e.another()
	dev, q := c.dev, c.q
	calls := c.calls(smallDims)
	pb := c.newProblem(problemSpec{d: 3, counts: []int{2}, pools: stored})
	buf := c.alloc(backend.Float32, 2)
	e.must(dev.Close())
	if err := dev.Close(); err != nil {
		e.failf("the second Close: %v", err)
	}
	if err := q.Close(); err != nil {
		e.failf("Close of a queue whose device is closed: %v", err)
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
	_, err := q.Alloc(backend.Float32, 1)
	closed("Alloc", err)
	_, err = q.Alloc(backend.Float32, 0)
	closed("Alloc of nothing", err)
	_, err = q.NewSamples(pb.set)
	closed("NewSamples", err)
	closed("Upload", q.Upload(buf, 0, make([]byte, 8)))
	closed("Download", q.Download(make([]byte, 8), buf, 0))
	_, err = dev.NewQueue()
	closed("NewQueue", err)
	closed("Synchronize", q.Synchronize())
	closed("SolveSPD of nothing", q.SolveSPD(0, 0, 0, buf, buf))

	if u := dev.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		e.failf("a closed device holds %+v", u)
	}
	if dev.Info() != e.dev.Info() {
		e.failf("Info changed to %+v", dev.Info())
	}
	for _, o := range c.owned {
		o.Free()
	}
	if u := dev.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		e.failf("after freeing what Close had freed the device holds %+v", u)
	}
}
