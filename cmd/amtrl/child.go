package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A driver that is broken can crash the process that asks it, or never answer.
// So what asks it runs in a child process, which says line by line how far it
// is.

// errNoAnswer is a child that was silent for too long.
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
	lines := make(chan []byte)
	stop := make(chan struct{})
	defer close(stop)
	ended := make(chan error, 1)
	go func() {
		r := bufio.NewScanner(out)
		r.Buffer(nil, 16<<20)
		for r.Scan() {
			select {
			case lines <- slices.Clone(r.Bytes()):
			case <-stop:
			}
		}
		close(lines)
		ended <- errors.Join(r.Err(), cmd.Wait())
	}()
	silence := time.NewTimer(limit)
	defer silence.Stop()
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return complaint.explain(<-ended)
			}
			silence.Reset(limit)
			if err := line(l); err != nil {
				cmd.Process.Kill()
				return err
			}
		case <-silence.C:
			// Not waited for: a process that hangs in the driver may not even die.
			cmd.Process.Kill()
			return fmt.Errorf("%w for %s", errNoAnswer, limit)
		}
	}
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

var _ io.Writer = (*tail)(nil)
