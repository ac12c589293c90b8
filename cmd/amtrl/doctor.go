package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/amtrl/amtrl/internal/flags"
)

type doctorOptions struct {
	device  deviceOptions
	timeout timeoutOption
	output
}

func (o *doctorOptions) addFlags(set *flags.Set) {
	o.device.addFlags(set)
	o.timeout.addFlags(set)
	o.addGroup(set, "the checks")
}

func (o *doctorOptions) check() error { return cmp.Or(o.device.check(), o.timeout.check()) }

type doctorResult struct {
	OK     bool      `json:"ok"`
	Checks []finding `json:"checks"`
}

func (o *doctorOptions) run(context.Context) error {
	res := doctorResult{OK: true}
	var unheard error
	tell := func(f finding) {
		res.OK = res.OK && f.Verdict != verdictFail
		res.Checks = append(res.Checks, f)
		if !o.json.V && unheard == nil {
			unheard = o.emit(f.String())
		}
	}
	tell(checkCPU(o.device.threads.V))
	if unheard == nil && o.device.backend.V != "cpu" {
		// The child names each check before it begins it, so that the check in which it hangs or dies is known.
		current := "driver"
		err := child(o.timeout.limit(), func(line []byte) error {
			var f finding
			if err := json.Unmarshal(line, &f); err != nil {
				return err
			}
			if current = f.Check; f.Verdict != "" {
				tell(f)
			}
			return unheard
		}, "check-cuda", "--device="+strconv.Itoa(o.device.device.V), "--tf32="+strconv.FormatBool(o.device.tf32.V))
		if err != nil {
			tell(failed(current, err, advice(err)))
		}
	}
	if o.json.V {
		unheard = o.emitJSON(res)
	}
	if unheard == nil && !res.OK {
		return errors.New("a check failed")
	}
	return unheard
}

// checkOptions holds the options of check-cuda, the child process that checks CUDA. For each check it prints two lines
// of JSON: the name alone before the check, and the finding with its verdict after it.
type checkOptions struct{ device deviceOptions }

func (o *checkOptions) addFlags(set *flags.Set) { o.device.addFlags(set) }

func (o *checkOptions) run(context.Context) error {
	var unheard error
	checkCUDA(&o.device, func(f finding) {
		if unheard == nil {
			unheard = emitLine(f)
		}
	})
	return unheard
}
