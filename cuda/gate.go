//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync"
)

// gate keeps the captures of a context and the calls that concern all of it apart.
// A call that may wait for every stream (an allocation, a handle made or destroyed,
// a module loaded, a decomposition) breaks the captures of all threads, and a stream
// that is captured can be neither waited for nor told to wait. Many captures go on
// together, and many such calls do, but never one beside the other.
//
// A capture does not wait for its turn: there is another way to do its work.
type gate struct {
	mu       sync.Mutex
	free     *sync.Cond // no capture is on
	captures int
	calls    int // that concern the whole context, those that wait for their turn among them
}

func newGate() *gate {
	g := new(gate)
	g.free = sync.NewCond(&g.mu)
	return g
}

// capture begins a capture, or reports that there cannot be one now.
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

// whole makes a call that concerns the whole context, once no capture is on. Such
// calls may contain others.
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

// tryWhole is whole where no capture is on, and otherwise false.
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

// errCapturing is a call that would wait for its own capture.
var errCapturing = errors.New("cuda: a call that concerns the whole context, in a capture")

// errStreamed is work in which the host has a part, in a capture.
var errStreamed = errors.New("cuda: samples that are streamed, in a capture")

// whole makes a call that concerns the whole context.
func (q *queue) whole(call func() error) error {
	if q.capturing {
		return errCapturing
	}
	return q.dev.ctx.whole(call)
}
