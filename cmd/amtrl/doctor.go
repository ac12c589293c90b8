package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check what computing needs: libraries, device, and results against the CPU",
		Description: "It prints a line for each check, and ends with exit code 1 if one failed. With --backend cpu the\n" +
			"CPU alone is checked; without it a machine on which CUDA cannot be used is one that fails.",
		Flags:  slices.Concat(deviceFlags(), []cli.Flag{timeoutFlag(), jsonFlag("the checks")}),
		Action: doctor,
	}
}

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

func doctor(c *cli.Context) error {
	for _, check := range []func(*cli.Context) error{noArguments, checkDevice} {
		if err := check(c); err != nil {
			return err
		}
	}
	limit, err := probeTimeout(c)
	if err != nil {
		return err
	}
	res := doctorResult{OK: true}
	tell := func(f finding) error {
		res.OK = res.OK && f.Verdict != verdictFail
		res.Checks = append(res.Checks, f)
		if c.Bool("json") {
			return nil
		}
		return emit(c, f.String())
	}
	if err := tell(checkCPU(c.Int("threads"))); err != nil {
		return err
	}
	if c.String("backend") != "cpu" {
		// The child names each check before it begins it, so that the one in which it
		// hangs or dies is known.
		current := "driver"
		err := child(limit, func(line []byte) error {
			var f finding
			if err := json.Unmarshal(line, &f); err != nil {
				return err
			}
			current = f.Check
			if f.Verdict == "" {
				return nil
			}
			return tell(f)
		}, "check-cuda", "--device="+strconv.Itoa(c.Int("device")), "--tf32="+strconv.FormatBool(c.Bool("tf32")))
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
	if c.Bool("json") {
		if err := emitJSON(c, res); err != nil {
			return err
		}
	}
	if !res.OK {
		return errors.New("a check failed")
	}
	return nil
}

// checkCommand carries out the checks of CUDA, and prints each first by name and
// then with its verdict as one line of JSON.
func checkCommand() *cli.Command {
	return &cli.Command{
		Name:   "check-cuda",
		Usage:  "check CUDA, with a line of JSON for each check",
		Hidden: true,
		Flags:  deviceFlags(),
		Action: func(c *cli.Context) error {
			print := func(f finding) error {
				js, err := json.Marshal(f)
				if err != nil {
					return err
				}
				return emit(c, string(js)+"\n")
			}
			return checkCUDA(c, print)
		},
	}
}
