//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"slices"
	"sync"
)

// shared is scratch memory that several programs of a queue use: they run one after the other, in
// the order of the queue's stream. It never moves, since graphs hold its address, and lives as long
// as one of the programs. A program that needs more gets another one.
type shared struct {
	block block
	users int
}

// sharing holds the scratch memories of a queue's programs. Any thread may free a program.
type sharing struct {
	mu  sync.Mutex
	all []*shared
}

// share returns scratch memory of at least n bytes for a program, in the queue's turn, or nil where
// n is 0.
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

// join returns existing scratch memory of at least n bytes, with one user more, or nil.
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

// unshare ends a program's use of what share returned; the last user returns the block to the pool.
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
