//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestSweepAcrossDevices sweeps on one of four devices, on all four with too little memory for the data, and on several
// of which one is lost at a random instant: the folders hold the same bytes. Without -v it takes half of the methods and one of two ends,
// by chance.
func TestSweepAcrossDevices(t *testing.T) {
	t.Parallel()
	dir, rng := t.TempDir(), testrand.New(t)
	targets, methods := "fog_[0-3]", "active,uniform,target,constant"
	if !testing.Verbose() {
		targets, methods = "fog_[0-2]", []string{"active,target", "uniform,constant"}[rng.IntN(2)]
	}
	run := func(orders string, args ...string) outcome {
		t.Helper()
		args = append([]string{"sweep", "--digits", "20", "--target-samples", "10", "--k", "2", "--iterations", "1", "--epochs", "2",
			"--floor", "1", "--budgets", "160", "--targets", targets, "--methods", methods, "--backend", "cuda"}, args...)
		return onStandIn(t, dir, "devices=4 "+orders, args...)
	}
	folder := func(name string) string { return filepath.Join(dir, name) }
	run("", "--out", "one", "--jobs", "3").Succeeds(t)
	// The four devices have no room for the pools: drawn rows are copied to them, and are streamed once the libraries
	// have taken their memory.
	o := run(fmt.Sprint("memory=", 150<<20), "--out", "four", "--jobs", "4", "--devices", "all")
	o.Complains(t, 0, "backend cuda (4 x Stand-in H200): devices [0 1 2 3]", "the device has no room for")
	if strings.Count(o.Stderr, "no room") != 1 {
		t.Errorf("said more than once: %s", o.Stderr)
	}
	foldertest.Same(t, folder("four"), folder("one"))
	work := 40 + rng.IntN(must.Long(400, 250)) // the first 33 operations place the data
	o = run(fmt.Sprintf("lost=2:%d", work), "--out", "lost", "--jobs", "8", "--devices", "0,2,3")
	if o.Code != 0 || strings.Count(o.Stderr, "device 2 is lost, its targets go to the others") != 1 {
		t.Errorf("device 2 goes away after %d operations: exit code %d: %s", work, o.Code, o.Stderr)
	}
	foldertest.Same(t, folder("lost"), folder("one"))

	one := rng.IntN(2)
	if testing.Verbose() || one == 0 { // if all devices are lost, the sweep ends, and another one goes on from its results
		o = run("lost=1:100 lost=3:300", "--out", "none", "--devices", "1,3")
		o.Complains(t, exitFailed, "the device is lost")
		run("", "--out", "none", "--devices", "all").Prints(t, 0)
		foldertest.Same(t, folder("none"), folder("one"))
	}
	if testing.Verbose() || one == 1 { // devices of one model need not have the same memory to the byte: a display takes some of one
		run(fmt.Sprint("memory=1:", 140<<30), "--out", "display", "--devices", "1,3").Prints(t, 0)
		foldertest.Same(t, folder("display"), folder("one"))
	}

	o = run("name=3:Another", "--out", "mixed", "--devices", "1,3")
	o.Complains(t, exitUsage, "device 1 is a Stand-in H200", "device 3 a Another")
	o = run("", "--out", "x", "--devices", "0,4")
	o.Complains(t, exitFailed, "the driver sees 4, numbered from 0")
	must.Absent(t, folder("x"))
}
