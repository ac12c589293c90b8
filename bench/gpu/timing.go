//go:build linux

package main

import (
	"slices"
	"time"

	"github.com/amtrl/amtrl/backend"
)

// timed returns the median seconds of f over five batches of repetitions, each batch between two synchronisations. The
// batches together last about least seconds.
func timed(q backend.Queue, least float64, f func() error) (float64, error) {
	batch := func(n int) (float64, error) {
		if err := q.Synchronize(); err != nil {
			return 0, err
		}
		start := time.Now()
		for range n {
			if err := f(); err != nil {
				return 0, err
			}
		}
		err := q.Synchronize()
		return time.Since(start).Seconds() / float64(n), err
	}
	if _, err := batch(3); err != nil {
		return 0, err
	}
	once, err := batch(1)
	if err != nil {
		return 0, err
	}
	n := max(1, min(10_000, int(least/5/max(once, 1e-7))))
	times := make([]float64, 5)
	for i := range times {
		if times[i], err = batch(n); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return times[2], nil
}

// timedProgram is timed for an operation that a recorded program repeats n times,
// so that launches cost next to nothing on a device that keeps programs as graphs.
func timedProgram(q backend.Queue, least float64, n int, f func() error) (float64, error) {
	p, err := q.Record(func() error {
		for range n {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer p.Free()
	s, err := timed(q, least, p.Run)
	return s / float64(n), err
}
