package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cuda"
)

// checkCUDA tells what it finds, check by check, from the search for the
// libraries to results on the device.
func checkCUDA(o *deviceOptions, tell func(finding) error) error {
	skip := func(names ...string) error {
		for _, name := range names {
			if err := tell(finding{Check: name, Verdict: verdictSkip, Detail: "needs what failed above"}); err != nil {
				return err
			}
		}
		return nil
	}
	var later []string
	for _, k := range backendtest.Quick(o.tf32.V) {
		later = append(later, k.Name)
	}
	later = append(later, "memory")

	if err := tell(finding{Check: "driver"}); err != nil {
		return err
	}
	r := cuda.Probe("")
	for _, f := range describeSearch(r) {
		if err := tell(f); err != nil {
			return err
		}
	}
	if err := tell(checkCache(cuda.CacheDir())); err != nil {
		return err
	}
	if r.Err != nil {
		return skip(append([]string{"open"}, later...)...)
	}
	if err := tell(finding{Check: "open"}); err != nil {
		return err
	}
	d, err := o.openCUDA()
	if err != nil {
		f := finding{Check: "open", Verdict: verdictFail, Detail: oneLine(err.Error()), Hint: "amtrl devices lists the devices"}
		if err := tell(f); err != nil {
			return err
		}
		return skip(later...)
	}
	defer d.Close()
	info := d.Info()
	f := finding{Check: "open", Verdict: verdictOK, Detail: fmt.Sprintf("device %d, %s: %s", o.device.V, info.Device, info.Detail)}
	if err := tell(f); err != nil {
		return err
	}
	if err := checkDeviceResults(d, o.tf32.V, tell); err != nil {
		return err
	}
	return tell(checkLeaks(d))
}

// describeSearch tells what the loader looked at, what it took, and whether the
// versions agree.
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
		f := finding{Check: "driver", Verdict: verdictFail, Detail: oneLine(r.Err.Error())}
		f.Hint = "without a CUDA device amtrl computes on the CPU"
		switch {
		case len(r.Libraries) > 0:
			f.Check = "devices"
		case slices.ContainsFunc(r.Search, func(s cuda.SearchStep) bool { return s.Taken && s.What == "libcuda.so.1" }):
			f.Check = "libraries"
		}
		return append(list, f)
	}
	list = append(list, finding{Check: "driver", Verdict: verdictOK, Detail: "runs CUDA " + r.Driver})
	for _, l := range r.Libraries {
		list = append(list, finding{Check: "library", Verdict: verdictInfo, Detail: fmt.Sprintf("%s %s: %s", l.Name, l.Version, l.Path)})
	}
	agree := fmt.Sprintf("all of CUDA %d, versions agree: %s", r.Family, versions(r.Libraries))
	list = append(list, finding{Check: "libraries", Verdict: verdictOK, Detail: agree})
	for _, d := range r.Devices {
		list = append(list, finding{
			Check: fmt.Sprintf("device %d", d.Ordinal), Verdict: verdictOK,
			Detail: fmt.Sprintf("%s, compute capability %s, %d multiprocessors, %s %s",
				d.Name, d.ComputeCapability, d.Multiprocessors, memory(d.MemoryBytes), d.UUID),
		})
	}
	return list
}

// checkCache tells where compiled kernels are kept, and whether they can be.
func checkCache(dir string) finding {
	f := finding{Check: "kernel cache", Verdict: verdictOK}
	if dir == "" {
		f.Verdict, f.Detail = verdictSkip, "off: every process compiles its kernels"
		return f
	}
	files, bytes := 0, int64(0)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files, bytes = files+1, bytes+info.Size()
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(f, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(f, err)
	}
	if err := cuda.CheckCache(dir); err != nil {
		return unusable(f, err)
	}
	probe, err := os.CreateTemp(dir, ".doctor")
	if err != nil {
		return unusable(f, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return unusable(f, err)
	}
	f.Detail = fmt.Sprintf("%s: %d files, %d bytes, can be written", filepath.Clean(dir), files, bytes)
	return f
}

// unusable is a cache that works without being one: kernels are compiled anew.
func unusable(f finding, err error) finding {
	f.Verdict, f.Detail, f.Hint = verdictFail, err.Error(), "AMTRL_CUBIN_CACHE names another folder, or is off"
	return f
}
