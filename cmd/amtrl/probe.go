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

// probeReport is what a child says of the machine.
type probeReport struct {
	cuda.Report
	// Reason is why CUDA cannot be used, empty where it can.
	Reason string
}

func printProbe(*cli.Context) error {
	r := probeReport{Report: cuda.Probe("")}
	if r.Err != nil {
		r.Reason, r.Err = oneLine(r.Err.Error()), nil
	}
	return emitLine(r)
}

// probeCUDA asks a child what there is of CUDA. Where the child does not answer, the reason says so.
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

// timeoutOption is how long a driver may be silent.
type timeoutOption struct{ seconds flags.Value[int] }

func (o *timeoutOption) addFlags(set *flags.Set) {
	set.Group(groupDevice)
	set.Int(&o.seconds, "probe-timeout", "seconds that a step of the driver may take before it counts as hanging", 60)
}

func (o *timeoutOption) check() error { return flags.Between(o.seconds, 1, maxProbeTimeout) }

func (o *timeoutOption) limit() time.Duration { return time.Duration(o.seconds.V) * time.Second }

const maxProbeTimeout = 86_400

// A driver that is broken can crash the process that asks it, or never answer. So what asks it runs in a child process,
// which says line by line how far it is.

var errNoAnswer = errors.New("no answer")

// child runs this program with the arguments and hands each line that it prints
// to line. A child that prints nothing for limit is killed.
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
		out.Close() // a process that hangs in the driver may not even die: the pipe and the process are not waited for
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

// tail keeps the first line that a child complains with.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), 4096-min(len(t.text), 4096))]...)
	return len(p), nil
}

// explain says how a child ended that did not end well.
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
