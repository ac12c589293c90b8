//go:build unix

package lease

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/must"
)

var quick = Timing{Beat: 20 * time.Millisecond, Stale: 200 * time.Millisecond, Settle: 20 * time.Millisecond}

func acquire(t *testing.T, dir string, attempt int, lost context.CancelCauseFunc) (*Lease, error) {
	t.Helper()
	return Acquire(context.Background(), dir, attempt, quick, lost)
}

func notLost(t *testing.T) context.CancelCauseFunc {
	return func(err error) { t.Errorf("the lease was lost: %v", err) }
}

// foreign writes a lease that another machine holds, and returns it.
func foreign(t *testing.T, dir string, beat int) leaseFile {
	t.Helper()
	f := leaseFile{Nonce: "other", Host: "far", Boot: "another boot", PID: 7, Attempt: 3, Beat: beat}
	js := must.Get(json.Marshal(f))(t)
	must.Do(t, atomicfile.Write(filepath.Join(dir, "lease"), js)) // a new file, as another holder writes it
	return f
}

func TestLeaseIsExclusive(t *testing.T) {
	dir := t.TempDir()
	first := must.Get(acquire(t, dir, 1, notLost(t)))(t)
	var used *InUse
	if _, err := acquire(t, dir, 2, notLost(t)); !errors.As(err, &used) || !strings.Contains(used.Holder, "attempt 1, process") {
		t.Errorf("a second lease: %v", err)
	}
	first.Release()
	must.Absent(t, filepath.Join(dir, "lease"))
	second := must.Get(acquire(t, dir, 2, notLost(t)))(t)
	second.Release()
}

// The lease of a killed process goes to the next process of its machine at once.
func TestLeaseOfKilledProcess(t *testing.T) {
	if dir := os.Getenv("LEASE_DIR"); dir != "" {
		must.Get(Acquire(context.Background(), dir, 1, quick, func(error) {}))(t)
		os.WriteFile(filepath.Join(dir, "held"), nil, 0o644)
		select {}
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestLeaseOfKilledProcess$")
	cmd.Env = append(os.Environ(), "LEASE_DIR="+dir)
	must.Do(t, cmd.Start())
	for range 1000 {
		if _, err := os.Stat(filepath.Join(dir, "held")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must.Fail(t, "the lease of a process that runs", must.Err(acquire(t, dir, 2, notLost(t))))
	cmd.Process.Kill()
	cmd.Wait()
	l := must.Get(Acquire(context.Background(), dir, 2, Timing{Beat: time.Hour, Stale: time.Hour, Settle: time.Hour}, notLost(t)))(t)
	l.Release()
}

// A lease of another machine is taken over once it has stopped changing, whatever the clocks say.
func TestLeaseOfAnotherMachine(t *testing.T) {
	for _, clock := range []time.Duration{0, -1000 * time.Hour, 1000 * time.Hour} {
		dir := t.TempDir()
		foreign(t, dir, 1)
		then := time.Now().Add(clock)
		must.Do(t, os.Chtimes(filepath.Join(dir, "lease"), then, then))
		start := time.Now()
		l := must.Get(acquire(t, dir, 4, notLost(t)))(t)
		if waited := time.Since(start); waited < quick.Stale {
			t.Errorf("a lease was taken over after %v", waited)
		}
		l.Release()
	}

	dir := t.TempDir()
	foreign(t, dir, 1)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for beat := 2; ; beat++ {
			select {
			case <-stop:
				return
			case <-time.After(quick.Beat):
				foreign(t, dir, beat)
			}
		}
	}()
	var used *InUse
	if _, err := acquire(t, dir, 4, notLost(t)); !errors.As(err, &used) {
		t.Errorf("a lease that is kept on another machine: %v", err)
	}
	close(stop)
	<-stopped
}

// If two machines find no lease at the same time, one gets it and the other notices.
func TestLeaseOfTwoMachinesAtOnce(t *testing.T) {
	dir := t.TempDir()
	late := &Lease{path: filepath.Join(dir, "lease"), mine: leaseFile{Nonce: "late", Host: "far", Boot: "another boot", PID: 7}}
	var first *Lease
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if op == atomicfile.OpRename && path == late.path && first == nil { // late has found no lease
			first = new(Lease)
			first = must.Get(acquire(t, dir, 1, notLost(t)))(t)
		}
		return nil
	})
	var used *InUse
	// Locks do not reach from one machine to another, so late also has its lock.
	if err := late.take(t.Context(), true, quick); !errors.As(err, &used) {
		t.Errorf("the lease of two: %v", err)
	}
	time.Sleep(5 * quick.Beat)
	first.Release()
	if late.file != nil {
		late.file.Close()
	}
}

// A holder hears that another machine took over its lease.
func TestLeaseLost(t *testing.T) {
	dir := t.TempDir()
	lost := make(chan error, 1)
	l := must.Get(acquire(t, dir, 1, func(err error) { lost <- err }))(t)
	theirs := foreign(t, dir, 1)
	select {
	case err := <-lost:
		if !errors.Is(err, ErrLost) {
			t.Errorf("the cause is %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the attempt did not hear that it lost its lease")
	}
	if l.Held() {
		t.Error("a lost lease is held")
	}
	l.Release()
	if f, err := read(filepath.Join(dir, "lease")); err != nil || f != theirs {
		t.Errorf("the other's lease became %+v, %v", f, err)
	}
}

func TestLeaseWaitEnds(t *testing.T) {
	dir := t.TempDir()
	foreign(t, dir, 1)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Acquire(ctx, dir, 1, Times, notLost(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A holder that has not yet noticed the loss of its lease does not overwrite the file of the next holder.
func TestLostLeaseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	l := must.Get(Acquire(context.Background(), dir, 1, Timing{Beat: time.Hour}, notLost(t)))(t)
	theirs := &Lease{path: filepath.Join(dir, "lease"), mine: leaseFile{Nonce: "other", Host: "far", Boot: "another", PID: 7, Attempt: 2}}
	must.Do(t, theirs.claim(atomicfile.Write))
	defer theirs.file.Close()
	l.beat()
	if now, err := read(theirs.path); err != nil || now != theirs.mine {
		t.Errorf("the lease is %+v, %v; expected %+v", now, err, theirs.mine)
	}
	l.Release()
	if now, err := read(theirs.path); err != nil || now != theirs.mine {
		t.Errorf("after the release the lease is %+v, %v; expected %+v", now, err, theirs.mine)
	}
}
