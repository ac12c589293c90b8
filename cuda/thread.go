//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/amtrl/amtrl/backend"
)

// thread is the one OS thread that makes a queue's calls of the CUDA libraries.
// The current context, a capture and the libraries' handles are a thread's own,
// and a goroutine may move between any two calls.
//
// Each queue has a thread instead of each device: a wait for one stream blocks
// the thread that waits, and must not keep the others from issuing work.
type thread struct {
	jobs  chan *job
	ended chan struct{}

	mu     sync.RWMutex // held for reading while a job is on
	closed bool
}

type job struct {
	fn    func() error
	err   error
	panic string // of fn, with its stack
	done  chan struct{}
}

var jobs = sync.Pool{New: func() any { return &job{done: make(chan struct{}, 1)} }}

func startThread() *thread {
	t := &thread{jobs: make(chan *job), ended: make(chan struct{})}
	go t.loop()
	return t
}

// loop never unlocks: the thread ends with the goroutine.
func (t *thread) loop() {
	runtime.LockOSThread()
	defer close(t.ended)
	for j := range t.jobs {
		j.run()
		j.done <- struct{}{}
	}
}

func (j *job) run() {
	defer func() {
		if v := recover(); v != nil {
			j.panic = fmt.Sprintf("%v, on the thread of a queue:\n%s", v, debug.Stack())
		}
	}()
	j.err = j.fn()
}

// do runs fn on the thread and returns what it returns; a panic of fn goes on in
// the caller.
func (t *thread) do(fn func() error) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return backend.ErrClosed
	}
	return t.send(fn)
}

// stop waits for the jobs that are on, runs last and ends the thread. Later
// calls return nil.
func (t *thread) stop(last func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	err := t.send(last)
	close(t.jobs)
	<-t.ended
	return err
}

func (t *thread) send(fn func() error) error {
	j := jobs.Get().(*job)
	j.fn, j.err, j.panic = fn, nil, ""
	t.jobs <- j
	<-j.done
	err, p := j.err, j.panic
	j.fn = nil
	jobs.Put(j)
	if p != "" {
		panic(p)
	}
	return err
}
