//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"testing"

	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// TestCapturesBesideOthers opens and closes queues, decomposes, allocates, pins, loads kernels and purges beside
// queues that record and run programs. The stand-in lets no capture live through such a call of another thread.
func TestCapturesBesideOthers(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	for range 3 {
		soon(t, "captures beside others", func() {
			c.Order("memory=50000000", "cc=8.0") // with workspaces of 4 MiB
			d := must.Get(dev())(t)
			must.Do(t, errors.Join(backendtest.Beside(d, 5), d.Close()))
		})
		c.Check()
		if t.Failed() {
			return
		}
	}
	if n := c.Calls("cuGraphLaunch"); n == 0 {
		t.Error("no graph was launched")
	}
}
