package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/flags"
)

// probeReport is what a child says of the machine.
type probeReport struct {
	cuda.Report
	// Reason is why CUDA cannot be used, empty where it can.
	Reason string
	// Cache is the folder of compiled kernels.
	Cache string
}

// probeOptions are those of the hidden command that prints a probeReport as one
// line of JSON.
type probeOptions struct{ output }

func probeCommand() *cli.Command {
	return newCommand(cli.Command{Name: "probe-cuda", Usage: "say what there is of CUDA, as one line of JSON", Hidden: true}, &probeOptions{})
}

func (*probeOptions) addFlags(*flags.Set) {}

func (*probeOptions) check([]string) error { return nil }

func (o *probeOptions) run(context.Context) error {
	r := probeReport{Report: cuda.Probe(""), Cache: cuda.CacheDir()}
	if r.Err != nil {
		r.Reason = oneLine(r.Err.Error())
		r.Err = nil
	}
	return o.emitLine(r)
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

// timeoutOption is how long a driver may be silent.
type timeoutOption struct{ seconds flags.Value[int] }

func (o *timeoutOption) addFlags(set *flags.Set) {
	set.Group(groupDevice)
	set.Int(&o.seconds, "probe-timeout", "seconds that a step of the driver may take before it counts as hanging", 60)
}

func (o *timeoutOption) check() error { return flags.Between(o.seconds, 1, maxProbeTimeout) }

func (o *timeoutOption) limit() time.Duration { return time.Duration(o.seconds.V) * time.Second }

const maxProbeTimeout = 86_400
