//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync"
)

// gate keeps the captures of a context apart from the calls that concern the whole context. Such a
// call may wait for every stream (an allocation, the creation or destruction of a handle, the
// loading of a module, a decomposition) and breaks the captures of all threads; and a stream that
// is being captured can be neither waited for nor made to wait. Many captures may be on at once,
// and many such calls, but never one beside the other.
//
// A capture does not wait for its turn, since its work can be issued without a graph.
type gate struct {
	mu       sync.Mutex
	free     *sync.Cond // signals that no capture is on
	captures int
	calls    int // calls that concern the whole context, running or waiting for their turn
}

func newGate() *gate {
	g := new(gate)
	g.free = sync.NewCond(&g.mu)
	return g
}

// capture begins a capture and returns true, or returns false where context-wide calls run or wait.
func (g *gate) capture() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls > 0 {
		return false
	}
	g.captures++
	return true
}

func (g *gate) captured() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.captures--; g.captures == 0 {
		g.free.Broadcast()
	}
}

// whole makes a call that concerns the whole context, once no capture is on. The call may itself
// use whole.
func (g *gate) whole(call func() error) error {
	g.mu.Lock()
	g.calls++
	for g.captures > 0 {
		g.free.Wait()
	}
	g.mu.Unlock()
	defer g.leave()
	return call()
}

// tryWhole makes the call and returns its result, or returns false where a capture is on.
func (g *gate) tryWhole(call func() bool) bool {
	g.mu.Lock()
	if g.captures > 0 {
		g.mu.Unlock()
		return false
	}
	g.calls++
	g.mu.Unlock()
	defer g.leave()
	return call()
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls--
}

// errCapturing reports a context-wide call in a capture, which would wait for its own capture.
var errCapturing = errors.New("cuda: a call that concerns the whole context, in a capture")

// errStreamed reports a pass over streamed samples in a capture: the host has a part in it.
var errStreamed = errors.New("cuda: samples that are streamed, in a capture")

// whole makes a call that concerns the whole context, or returns errCapturing in a capture.
func (q *queue) whole(call func() error) error {
	if q.capturing {
		return errCapturing
	}
	return q.dev.ctx.whole(call)
}
