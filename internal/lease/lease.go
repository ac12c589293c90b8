// Package lease makes one process the only writer of a folder, on one machine and, where they share a file system, on many.
// Between processes of one machine a lock on a file decides, which the kernel frees with the process. Between machines,
// whose file system may not pass locks on, the holder changes the lease file every beat, and who finds another's file
// watches it: one that changes is held, one that does not is a dead machine's. Time is measured by waiting, never by
// comparing clocks.
package lease

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
)

// Timing spaces the beats, and says for how long a file must stay as it is to be taken over, and how long a new holder
// waits for a rival's write.
type Timing struct{ Beat, Stale, Settle time.Duration }

// Times is the timing for file systems that are shared.
var Times = Timing{Beat: 5 * time.Second, Stale: 20 * time.Second, Settle: 2 * time.Second}

type leaseFile struct {
	Nonce   string `json:"nonce"`
	Host    string `json:"host"`
	Boot    string `json:"boot"`
	PID     int    `json:"pid"`
	Attempt int    `json:"attempt"`
	Beat    int    `json:"beat"`
}

func (l leaseFile) String() string {
	if l.Attempt == 0 {
		return fmt.Sprintf("process %d on %s", l.PID, text.OneLine(l.Host, 80))
	}
	return fmt.Sprintf("attempt %d, process %d on %s", l.Attempt, l.PID, text.OneLine(l.Host, 80))
}

// InUse is the error of a folder that another process holds.
type InUse struct{ Holder string }

func (e *InUse) Error() string { return "in use by " + e.Holder }

// IsInUse says whether an error is an [*InUse].
func IsInUse(err error) bool {
	_, ok := errors.AsType[*InUse](err)
	return ok
}

// ErrLost is the cause of the end of a process whose lease another one took over, which happens to one that was stopped
// for longer than a lease lasts.
var ErrLost = errors.New("another process took over")

// Lease is held until Release or the end of the process.
type Lease struct {
	path   string
	file   *os.File // the one that claim made
	mine   leaseFile
	unlock func()
	lost   context.CancelCauseFunc
	stop   chan struct{}
	done   sync.WaitGroup
}

// Acquire takes the lease of the folder dir, or returns an [*InUse]. The attempt is for messages, 0 for none. lost is
// called with [ErrLost] when another process takes it over.
func Acquire(ctx context.Context, dir string, attempt int, t Timing, lost context.CancelCauseFunc) (*Lease, error) {
	l := &Lease{path: filepath.Join(dir, "lease"), lost: lost, stop: make(chan struct{})}
	host, _ := os.Hostname()
	l.mine = leaseFile{Nonce: rand.Text(), Host: host, Boot: BootID(), PID: os.Getpid(), Attempt: attempt}
	unlock, err := filelock.File(filepath.Join(dir, "lock"))
	trusted := !errors.Is(err, errors.ErrUnsupported)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		holder := "another process"
		if f, err := read(l.path); err == nil {
			holder = f.String()
		}
		return nil, &InUse{holder}
	case err != nil && trusted:
		return nil, err
	}
	l.unlock = unlock
	if err := l.take(ctx, trusted, t); err != nil {
		if l.file != nil {
			l.file.Close()
		}
		unlock()
		return nil, err
	}
	l.done.Go(func() { l.hold(t.Beat) })
	return l, nil
}

// take writes the lease file once nobody else keeps it.
func (l *Lease) take(ctx context.Context, trusted bool, t Timing) error {
	found, err := read(l.path)
	if errors.Is(err, fs.ErrNotExist) && trusted {
		// Of machines that find none at the same time one makes it.
		if err = l.claim(atomicfile.Create); !errors.Is(err, fs.ErrExist) {
			return err
		}
		found, err = read(l.path)
	}
	foreign := err != nil || !trusted || found.Boot != l.mine.Boot
	if foreign {
		if err := watch(ctx, l.path, t); err != nil {
			return err
		}
	}
	if err := l.claim(atomicfile.Write); err != nil {
		return err
	}
	if !foreign {
		return nil
	}
	if err := Sleep(ctx, t.Settle); err != nil {
		return err
	}
	now, err := read(l.path)
	if err == nil && now.Nonce != l.mine.Nonce {
		return &InUse{now.String()}
	}
	return err
}

// watch returns once the lease file is gone or has stayed as it is for as long as a dead holder's does.
func watch(ctx context.Context, path string, t Timing) error {
	first, err := atomicfile.ReadFile(path, maxLease)
	for waited := time.Duration(0); waited < t.Stale; waited += t.Beat {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := Sleep(ctx, t.Beat); err != nil {
			return err
		}
		var now []byte
		now, err = atomicfile.ReadFile(path, maxLease)
		if err == nil && string(now) != string(first) {
			var f leaseFile
			if json.Unmarshal(now, &f) != nil {
				return &InUse{"another machine"}
			}
			return &InUse{f.String()}
		}
	}
	return nil
}

// hold changes the file every beat until Release.
func (l *Lease) hold(beat time.Duration) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		if !l.Held() {
			l.lost(ErrLost)
			return
		}
		l.beat()
	}
}

// beat changes the file. A write that fails costs the lease at worst.
func (l *Lease) beat() {
	l.mine.Beat++
	l.file.WriteAt(l.encode(), 0)
}

// Held says whether the file is still this attempt's. One that cannot be read says nothing against it.
func (l *Lease) Held() bool {
	now, err := read(l.path)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && now.Nonce == l.mine.Nonce
}

// maxLease bounds what is read of a lease file.
const maxLease = 4096

// leaseSize is the length of a lease file, always the same, so that a beat needs no room on the disk.
const leaseSize = 512

func (l *Lease) encode() []byte {
	js, _ := json.Marshal(l.mine) // of texts and numbers
	js = append(js, bytes.Repeat([]byte{' '}, max(0, leaseSize-1-len(js)))...)
	return append(js, '\n')
}

// claim writes this attempt's file. It is a new file, so that a holder that has lost the lease and does not know it yet
// beats the old one, which nobody reads any more.
func (l *Lease) claim(write func(path string, content ...[]byte) error) error {
	err := write(l.path, l.encode())
	if err != nil {
		return err
	}
	l.file, err = atomicfile.OpenFile(l.path, os.O_RDWR)
	return err
}

// Release gives the lease back.
func (l *Lease) Release() {
	close(l.stop)
	l.done.Wait()
	if l.Held() {
		os.Remove(l.path)
	}
	l.file.Close()
	l.unlock()
}

func read(path string) (leaseFile, error) {
	var f leaseFile
	err := jsonfile.Read(path, maxLease, &f)
	return f, err
}

// BootID tells machines, and the lives of one machine, apart.
func BootID() string {
	if raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(raw))
	}
	host, _ := os.Hostname()
	return host
}

// Sleep waits, or returns the cause of the end of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
