package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/flags"
)

// probeReport is what the child process reports about CUDA on this machine.
type probeReport struct {
	cuda.Report
	// Reason is why CUDA cannot be used, empty if it can.
	Reason string
}

func printProbe(*cli.Context) error {
	r := probeReport{Report: cuda.Probe("")}
	if r.Err != nil {
		r.Reason, r.Err = oneLine(r.Err.Error()), nil
	}
	return emitLine(r)
}

// probeCUDA has a child process report on CUDA. If the child fails or does not answer, Reason says so.
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
		r = probeReport{Reason: oneLine(err.Error() + "; " + advice(err))}
	}
	return r
}

func advice(err error) string {
	if errors.Is(err, errNoAnswer) {
		return "the driver hangs: nvidia-smi will tell as much; a restart of the machine or of the driver's service helps"
	}
	return "the driver crashed: compare its version with nvidia-smi's, and update it"
}

// timeoutOption is the option that limits how long a driver may be silent.
type timeoutOption struct{ seconds flags.Value[int] }

func (o *timeoutOption) addFlags(set *flags.Set) {
	set.Group(groupDevice)
	set.Int(&o.seconds, "probe-timeout", "seconds that a step of the driver may take before it counts as hanging", 60)
}

func (o *timeoutOption) check() error { return flags.Between(o.seconds, 1, maxProbeTimeout) }

func (o *timeoutOption) limit() time.Duration { return time.Duration(o.seconds.V) * time.Second }

const maxProbeTimeout = 86_400

// A broken driver can crash the process that calls it, or never return. So the driver is called in a child process,
// which prints a line at each step.

var errNoAnswer = errors.New("no answer")

// child runs this program with args and calls line with each line that it prints. It kills a child that prints nothing
// for limit, and the error then wraps errNoAnswer.
func child(limit time.Duration, line func([]byte) error, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	var complaint tail
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var silent atomic.Bool
	silence := time.AfterFunc(limit, func() {
		silent.Store(true)
		cmd.Process.Kill()
		out.Close() // a process that hangs in the driver may not even die, so neither the pipe nor the process is waited for
	})
	defer silence.Stop()
	r := bufio.NewScanner(out)
	r.Buffer(nil, 16<<20)
	for r.Scan() {
		silence.Reset(limit)
		if err := line(r.Bytes()); err != nil {
			cmd.Process.Kill()
			return err
		}
	}
	if silent.Load() {
		return fmt.Errorf("%w for %s", errNoAnswer, limit)
	}
	silence.Stop()
	return complaint.explain(errors.Join(r.Err(), cmd.Wait()))
}

// tail keeps the first 4,096 bytes that a child writes to standard error.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), 4096-min(len(t.text), 4096))]...)
	return len(p), nil
}

// explain adds to the error of a child that ended badly the first line that the child wrote to standard error. It
// returns other errors, and nil, unchanged.
func (t *tail) explain(err error) error {
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(t.text)), "\n")
	if first == "" {
		return fmt.Errorf("the process that asks the driver ended: %w", err)
	}
	return fmt.Errorf("the process that asks the driver ended: %w: %s", err, first)
}
