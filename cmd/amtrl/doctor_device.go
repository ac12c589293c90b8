package main

import (
	"errors"
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
)

// checkCPU holds the CPU backend to plain loops.
func checkCPU(threads int) finding {
	f := finding{Check: "cpu", Verdict: verdictOK}
	d, err := openCPU(threads)()
	if err == nil {
		defer d.Close()
		info := d.Info()
		f.Detail = fmt.Sprintf("%s, %s, %d threads", info.Device, info.Detail, info.Threads)
		err = checkDeviceResults(d, false, func(k finding) error {
			if k.Verdict == verdictFail {
				return fmt.Errorf("%s: %s", k.Check, k.Detail)
			}
			return nil
		})
	}
	if err != nil {
		f.Verdict, f.Detail = verdictFail, oneLine(err.Error())
	}
	return f
}

// checkDeviceResults tells each check of a device's results by name, and then
// with its verdict.
func checkDeviceResults(d backend.Device, tf32 bool, tell func(finding) error) error {
	for _, k := range backendtest.Quick(tf32) {
		if err := tell(finding{Check: k.Name}); err != nil {
			return err
		}
		f := finding{Check: k.Name, Verdict: verdictOK}
		var err error
		if f.Detail, err = k.Run(d); err != nil {
			f.Verdict, f.Detail = verdictFail, oneLine(err.Error())
			f.Hint = "this device cannot be relied on; --backend cpu computes without it"
			if errors.Is(err, backend.ErrOutOfMemory) {
				f.Hint = "nvidia-smi lists the processes that hold the device's memory"
			}
		}
		if err := tell(f); err != nil {
			return err
		}
	}
	return nil
}

// checkLeaks tells whether everything allocated was freed.
func checkLeaks(d backend.Device) finding {
	f := finding{Check: "memory", Verdict: verdictOK, Detail: "all that was allocated was freed"}
	if u := d.Usage(); u != (backend.Usage{}) {
		f.Verdict, f.Detail = verdictFail, fmt.Sprintf("%d buffers of %d bytes are left", u.Buffers, u.Bytes)
	}
	if err := d.Close(); err != nil {
		f.Verdict, f.Detail = verdictFail, oneLine(err.Error())
	}
	return f
}
