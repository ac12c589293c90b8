//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"slices"
	"sync"
)

// shared is scratch memory that programs of a queue have together: they run one after the
// other, in the order of its stream. It never moves, since graphs hold its address, and
// lives as long as one of the programs. One that needs more has another.
type shared struct {
	block block
	users int
}

// sharing are the scratch memories of a queue's programs. Any thread may free one.
type sharing struct {
	mu  sync.Mutex
	all []*shared
}

// share returns scratch memory for a program of n bytes, in the queue's turn.
func (q *queue) share(op string, n int64) (*shared, error) {
	if n == 0 {
		return nil, nil
	}
	if s := q.scratch.join(n); s != nil {
		return s, nil
	}
	b, err := q.take(op, n)
	if err != nil {
		return nil, err
	}
	s := &shared{b, 1}
	q.scratch.mu.Lock()
	defer q.scratch.mu.Unlock()
	q.scratch.all = append(q.scratch.all, s)
	return s, nil
}

// join returns memory that is there and suffices, or nil.
func (s *sharing) join(n int64) *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.all {
		if have.block.size >= n {
			have.users++
			return have
		}
	}
	return nil
}

// unshare ends a program's use of what share returned; the last one gives it back.
func (q *queue) unshare(s *shared) {
	if s == nil {
		return
	}
	q.scratch.mu.Lock()
	defer q.scratch.mu.Unlock()
	if s.users--; s.users == 0 {
		q.scratch.all = slices.DeleteFunc(q.scratch.all, func(o *shared) bool { return o == s })
		q.dev.pool.give(s.block, q)
	}
}
