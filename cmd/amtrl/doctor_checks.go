package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/text"
)

// The verdicts of a check. A finding without a verdict announces that the check begins.
const (
	verdictOK   = "ok"
	verdictFail = "FAIL"
	verdictSkip = "skip"
	verdictInfo = "info"
)

type finding struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	// Hint is advice on what to do.
	Hint string `json:"hint,omitempty"`
}

func (f finding) String() string {
	text := fmt.Sprintf("%-5s %-14s %s\n", f.Verdict, f.Check, f.Detail)
	if f.Hint != "" {
		text += strings.Repeat(" ", 21) + f.Hint + "\n"
	}
	return text
}

func passed(check, format string, args ...any) finding {
	return finding{Check: check, Verdict: verdictOK, Detail: fmt.Sprintf(format, args...)}
}

func failed(check string, err error, hint string) finding {
	return finding{Check: check, Verdict: verdictFail, Detail: oneLine(err.Error()), Hint: hint}
}

// checkCPU compares results of the CPU backend with those of plain loops.
func checkCPU(threads int) finding {
	d, err := cpu.Open(threads)
	if err != nil {
		return failed("cpu", err, "")
	}
	defer d.Close()
	for _, k := range backendtest.Quick(false) {
		if _, err := k.Run(d); err != nil {
			return failed("cpu", fmt.Errorf("%s: %w", k.Name, err), "")
		}
	}
	info := d.Info()
	return passed("cpu", "%s, %s, %s", info.Device, info.Detail, text.Several(info.Threads, "thread"))
}

// checkCUDA runs the checks of CUDA, from the search for the libraries to results on the device, and passes each finding to tell.
func checkCUDA(o *deviceOptions, tell func(finding)) {
	checks := backendtest.Quick(o.tf32.V)
	left := []string{"open"}
	for _, k := range checks {
		left = append(left, k.Name)
	}
	left = append(left, "captures", "memory")
	skip := func(names []string) {
		for _, name := range names {
			tell(finding{Check: name, Verdict: verdictSkip, Detail: "needs what failed above"})
		}
	}

	tell(finding{Check: "driver"})
	r := cuda.Probe("")
	for _, f := range describeSearch(r) {
		tell(f)
	}
	tell(checkCache(cuda.CacheDir()))
	if r.Err != nil {
		skip(left)
		return
	}
	tell(finding{Check: "open"})
	d, err := o.openCUDA(o.threads.V)
	if err != nil {
		tell(failed("open", err, "amtrl devices lists the devices"))
		skip(left[1:])
		return
	}
	defer d.Close()
	info := d.Info()
	tell(passed("open", "device %d, %s: %s", o.device.V, info.Device, info.Detail))
	for _, k := range checks {
		tell(finding{Check: k.Name})
		detail, err := k.Run(d)
		switch {
		case err == nil:
			tell(passed(k.Name, "%s", detail))
		case errors.Is(err, backend.ErrOutOfMemory):
			tell(failed(k.Name, err, "nvidia-smi lists the processes that hold the device's memory"))
		default:
			tell(failed(k.Name, err, "this device cannot be relied on; --backend cpu computes without it"))
		}
	}
	tell(checkCaptures(cuda.GraphsOf(d)))
	tell(checkLeaks(d))
}

// checkCaptures reports whether the recorded programs of the checks ran as CUDA graphs. Without graphs results are the
// same and fits take longer, which nothing else would explain.
func checkCaptures(g cuda.Graphs) finding {
	const name, hint = "captures", "results are the same without graphs, but fits take longer"
	switch {
	case !g.Supported:
		return finding{Check: name, Verdict: verdictInfo, Detail: g.String(), Hint: hint}
	case g.Failed > 0 || g.Launched == 0:
		return failed(name, errors.New(g.String()), hint)
	}
	return passed(name, "%s", g)
}

// describeSearch returns findings on where the loader looked, what it took, and whether the versions agree.
func describeSearch(r cuda.Report) []finding {
	var list []finding
	for _, s := range r.Search {
		text := s.Place + ": "
		if s.Dir != "" {
			text += s.Dir + ": "
		}
		text += s.What + ": " + s.Found
		if s.Taken {
			text += ", taken"
		}
		list = append(list, finding{Check: "search", Verdict: verdictInfo, Detail: text})
	}
	if r.Err != nil {
		check := "driver"
		switch {
		case len(r.Libraries) > 0:
			check = "devices"
		case slices.ContainsFunc(r.Search, func(s cuda.SearchStep) bool { return s.Taken && s.What == "libcuda.so.1" }):
			check = "libraries"
		}
		return append(list, failed(check, r.Err, "without a CUDA device amtrl computes on the CPU"))
	}
	list = append(list, passed("driver", "runs CUDA %s", r.Driver))
	for _, l := range r.Libraries {
		list = append(list, finding{Check: "library", Verdict: verdictInfo, Detail: fmt.Sprintf("%s %s: %s", l.Name, l.Version, l.Path)})
	}
	list = append(list, passed("libraries", "all of CUDA %d, versions agree: %s", r.Family, versions(r.Libraries)))
	for _, d := range r.Devices {
		list = append(list, passed(fmt.Sprintf("device %d", d.Ordinal), "%s, compute capability %s, %d multiprocessors, %s %s",
			d.Name, d.ComputeCapability, d.Multiprocessors, memory(d.MemoryBytes), d.UUID))
	}
	return list
}

// versions lists the libraries, except the driver, that tell their versions.
func versions(list []cuda.LibraryInfo) string {
	var out []string
	for _, l := range list {
		if l.Version != "" && l.Name != "driver" {
			out = append(out, l.Name+" "+l.Version)
		}
	}
	return strings.Join(out, ", ")
}

// checkCache reports where compiled kernels are kept and whether files can be written there.
func checkCache(dir string) finding {
	const name = "kernel cache"
	if dir == "" {
		return finding{Check: name, Verdict: verdictSkip, Detail: "off: every process compiles its kernels"}
	}
	files, bytes := 0, int64(0)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files, bytes = files+1, bytes+info.Size()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = cuda.CheckCache(dir)
	}
	if err == nil {
		err = checkWritable(dir)
	}
	if err != nil { // every process then compiles its kernels anew
		return failed(name, err, "AMTRL_CUBIN_CACHE names another folder, or is off")
	}
	return passed(name, "%s: %s, %s bytes, can be written", filepath.Clean(dir), text.Several(files, "file"), text.Count(bytes))
}

func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func checkLeaks(d backend.Device) finding {
	u := d.Usage()
	if err := d.Close(); err != nil {
		return failed("memory", err, "")
	}
	if u != (backend.Usage{}) {
		return failed("memory", fmt.Errorf("%d buffers of %d bytes are left", u.Buffers, u.Bytes), "")
	}
	return passed("memory", "all that was allocated was freed")
}
