package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/cuda"
)

// probeReport is what a child says of the machine.
type probeReport struct {
	cuda.Report
	// Reason is why CUDA cannot be used, empty where it can.
	Reason string
	// Cache is the folder of compiled kernels.
	Cache string
}

// probeCommand prints a probeReport as one line of JSON.
func probeCommand() *cli.Command {
	return &cli.Command{
		Name:   "probe-cuda",
		Usage:  "say what there is of CUDA, as one line of JSON",
		Hidden: true,
		Action: func(c *cli.Context) error {
			r := probeReport{Report: cuda.Probe(""), Cache: cuda.CacheDir()}
			if r.Err != nil {
				r.Reason = oneLine(r.Err.Error())
				r.Err = nil
			}
			js, err := json.Marshal(r)
			if err != nil {
				return err
			}
			return emit(c, string(js)+"\n")
		},
	}
}

// probeCUDA asks a child what there is of CUDA. Where the child does not answer,
// the reason says so.
func probeCUDA(limit time.Duration) probeReport {
	var r probeReport
	seen := false
	err := child(limit, func(line []byte) error {
		seen = true
		return json.Unmarshal(line, &r)
	}, "probe-cuda")
	if err == nil && !seen {
		err = errNoAnswer
	}
	if err != nil {
		r = probeReport{Reason: oneLine(hinted(err).Error())}
	}
	return r
}

// hinted adds to a driver's silence what helps.
func hinted(err error) error {
	if errors.Is(err, errNoAnswer) {
		return &hint{err, "the driver hangs: nvidia-smi will tell as much; a restart of the machine or of the driver's service helps"}
	}
	return &hint{err, "the driver crashed: compare its version with nvidia-smi's, and update it"}
}

// hint is an error with advice.
type hint struct {
	error
	advice string
}

func (h *hint) Error() string { return h.error.Error() + "; " + h.advice }

func (h *hint) Unwrap() error { return h.error }

// timeoutFlag is how long a driver may be silent.
func timeoutFlag() cli.Flag {
	return intFlag(categoryDevice, "probe-timeout", "seconds that a step of the driver may take before it counts as hanging", 60)
}

const maxProbeTimeout = 86_400

func probeTimeout(c *cli.Context) (time.Duration, error) {
	if err := between(c, "probe-timeout", 1, maxProbeTimeout); err != nil {
		return 0, err
	}
	return time.Duration(c.Int("probe-timeout")) * time.Second, nil
}
