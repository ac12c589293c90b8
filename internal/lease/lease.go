// Package lease makes one process the only writer of a folder, on one machine or on several that share a file system.
// Between processes of one machine a lock on a file decides, which the kernel releases with the process. Between
// machines, whose file system may not pass locks on, the holder changes the lease file at every beat, and whoever finds
// the file of another watches it: a lease whose file changes is held, one whose file does not change belongs to a dead
// machine. Time is measured by waiting, never by comparing clocks.
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

// Timing holds the time between two beats, how long a lease file must stay unchanged before it is taken over, and how
// long a new holder waits for the write of a rival.
type Timing struct{ Beat, Stale, Settle time.Duration }

// Times is the timing for shared file systems.
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

// IsInUse reports whether an error is an [*InUse].
func IsInUse(err error) bool {
	_, ok := errors.AsType[*InUse](err)
	return ok
}

// ErrLost is the cause with which a process ends after another one took over its lease. This happens to a process that
// was stopped for longer than a lease lasts.
var ErrLost = errors.New("another process took over")

// Lease is held until Release or the end of the process.
type Lease struct {
	path   string
	file   *os.File // the lease file that claim made
	mine   leaseFile
	unlock func()
	lost   context.CancelCauseFunc
	stop   chan struct{}
	done   sync.WaitGroup
}

// Acquire takes the lease of the folder dir, or returns an [*InUse]. attempt is for messages, 0 for none. lost is
// called with [ErrLost] when another process takes the lease over.
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

// take writes the lease file once no other process holds the lease. trusted reports whether the lock on the file works.
func (l *Lease) take(ctx context.Context, trusted bool, t Timing) error {
	found, err := read(l.path)
	if errors.Is(err, fs.ErrNotExist) && trusted {
		// Of several machines that find no file at the same time, only one makes it.
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

// watch returns nil once the lease file is gone or has not changed for t.Stale, as that of a dead holder, and an
// [*InUse] if the file changes.
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

// beat changes the file. A write that fails can at worst lose the lease.
func (l *Lease) beat() {
	l.mine.Beat++
	l.file.WriteAt(l.encode(), 0)
	l.file.Sync() // other machines see it only then, where the file system writes late
}

// Held reports whether the lease file is still that of this attempt. A file that exists but cannot be read counts as still held.
func (l *Lease) Held() bool {
	now, err := read(l.path)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && now.Nonce == l.mine.Nonce
}

// maxLease bounds the bytes that are read of a lease file.
const maxLease = 4096

// leaseSize is the size of a lease file in bytes. It is always the same, so that a beat needs no room on the disk.
const leaseSize = 512

func (l *Lease) encode() []byte {
	js, _ := json.Marshal(l.mine) // of texts and numbers
	js = append(js, bytes.Repeat([]byte{' '}, max(0, leaseSize-1-len(js)))...)
	return append(js, '\n')
}

// claim writes the lease file of this attempt as a new file. A holder that has lost the lease and does not know it yet
// then changes the old file, which nobody reads any more.
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

// HolderHere returns the process of this machine that holds the lease of the folder dir.
func HolderHere(dir string) (pid int, err error) {
	f, err := read(filepath.Join(dir, "lease"))
	if host, _ := os.Hostname(); err == nil && (f.Boot != BootID() || f.Host != host || f.PID < 2) {
		err = &InUse{f.String()}
	}
	return f.PID, err
}

// BootID returns an id of this boot of this machine, or the host name if the system has none.
func BootID() string {
	if raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(raw))
	}
	host, _ := os.Hostname()
	return host
}

// Sleep waits for d, or returns the cause of ctx as soon as ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
