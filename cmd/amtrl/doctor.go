package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/flags"
)

// doctorOptions are those of amtrl doctor.
type doctorOptions struct {
	device  deviceOptions
	timeout timeoutOption
	output
}

func (o *doctorOptions) addFlags(set *flags.Set) {
	o.device.addFlags(set)
	o.timeout.addFlags(set)
	set.Group(groupOutput)
	o.addJSON(set, "the checks")
}

func (o *doctorOptions) check() error { return cmp.Or(o.device.check(), o.timeout.check()) }

// The verdicts of a check. A check that is told without one informs.
const (
	verdictOK   = "ok"
	verdictFail = "FAIL"
	verdictSkip = "skip"
	verdictInfo = "info"
)

// finding is the outcome of one check.
type finding struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	// Hint says what helps.
	Hint string `json:"hint,omitempty"`
}

func (f finding) String() string {
	text := fmt.Sprintf("%-5s %-14s %s\n", f.Verdict, f.Check, f.Detail)
	if f.Hint != "" {
		text += strings.Repeat(" ", 21) + f.Hint + "\n"
	}
	return text
}

// doctorResult is what --json prints.
type doctorResult struct {
	OK     bool      `json:"ok"`
	Checks []finding `json:"checks"`
}

func (o *doctorOptions) run(context.Context) error {
	res := doctorResult{OK: true}
	tell := func(f finding) error {
		res.OK = res.OK && f.Verdict != verdictFail
		res.Checks = append(res.Checks, f)
		if o.json.V {
			return nil
		}
		return o.emit(f.String())
	}
	if err := tell(checkCPU(o.device.threads.V)); err != nil {
		return err
	}
	if o.device.backend.V != "cpu" {
		// The child names each check before it begins it, so that the one in which it
		// hangs or dies is known.
		current := "driver"
		err := child(o.timeout.limit(), func(line []byte) error {
			var f finding
			if err := json.Unmarshal(line, &f); err != nil {
				return err
			}
			current = f.Check
			if f.Verdict == "" {
				return nil
			}
			return tell(f)
		}, "check-cuda", "--device="+strconv.Itoa(o.device.device.V), "--tf32="+strconv.FormatBool(o.device.tf32.V))
		if err != nil {
			f := finding{Check: current, Verdict: verdictFail, Detail: oneLine(err.Error())}
			var h *hint
			if errors.As(hinted(err), &h) {
				f.Hint = h.advice
			}
			if err := tell(f); err != nil {
				return err
			}
		}
	}
	if o.json.V {
		if err := o.emitJSON(res); err != nil {
			return err
		}
	}
	if !res.OK {
		return errors.New("a check failed")
	}
	return nil
}

// checkOptions are those of the child that carries out the checks of CUDA. It
// prints each first by name and then with its verdict as one line of JSON.
type checkOptions struct{ deviceOptions }

func (o *checkOptions) run(context.Context) error {
	return checkCUDA(&o.deviceOptions, func(f finding) error { return emitLine(f) })
}
