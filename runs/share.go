package runs

import (
	"slices"
	"sync"
)

// share hands the units of a sweep to the workers of several devices. Where a device is lost, its units go to the
// others.
type share struct {
	mu      sync.Mutex
	change  *sync.Cond
	todo    []int // in order
	busy    int   // units handed out and neither done nor returned
	lost    []bool
	stopped bool
}

func newShare(todo []int, devices int) *share {
	s := &share{todo: todo, lost: make([]bool, devices)}
	s.change = sync.NewCond(&s.mu)
	return s
}

// next waits for a unit for a device, and reports whether there is one. It waits while other devices have units, since
// these may come back.
func (s *share) next(device int) (unit int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.todo) == 0 && s.busy > 0 && !s.stopped && !s.lost[device] {
		s.change.Wait()
	}
	if len(s.todo) == 0 || s.stopped || s.lost[device] {
		return 0, false
	}
	unit, s.todo = s.todo[0], s.todo[1:]
	s.busy++
	return unit, true
}

func (s *share) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.change.Broadcast()
}

// giveBack returns a unit of a device that is lost. It reports whether the loss is news, and whether another device is
// left.
func (s *share) giveBack(device, unit int) (news, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news = !s.lost[device]
	s.lost[device] = true
	s.busy--
	at, _ := slices.BinarySearch(s.todo, unit)
	s.todo = slices.Insert(s.todo, at, unit)
	s.change.Broadcast()
	return news, slices.Contains(s.lost, false)
}

func (s *share) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.change.Broadcast()
}
