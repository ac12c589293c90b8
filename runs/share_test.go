package runs

import (
	"slices"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/internal/testrand"
)

// TestShare loses devices at random while their workers have units: each unit is done once, as long as one device is left.
func TestShare(t *testing.T) {
	rng := testrand.New(t)
	for round := range 200 {
		devices, workers, units := 1+rng.IntN(4), 1+rng.IntN(3), rng.IntN(20)
		var todo []int
		for i := range units {
			todo = append(todo, i)
		}
		s := newShare(slices.Clone(todo), devices)
		gone := make([]int, devices) // number of units after which each device is lost
		for d := range gone {
			gone[d] = rng.IntN(units + 2)
		}
		if round%4 > 0 {
			gone[rng.IntN(devices)] = units + 1
		}
		var mu sync.Mutex
		var done []int
		began, told, ended := make([]int, devices), make([]int, devices), false
		var wg sync.WaitGroup
		for d := range devices {
			for range workers {
				wg.Go(func() {
					for {
						unit, ok := s.next(d)
						if !ok {
							return
						}
						mu.Lock()
						began[d]++
						lost := began[d] > gone[d]
						if !lost {
							done = append(done, unit)
						}
						mu.Unlock()
						if !lost {
							s.done()
							continue
						}
						news, left := s.giveBack(d, unit)
						mu.Lock()
						if news {
							told[d]++
						}
						ended = ended || !left
						mu.Unlock()
						if !left {
							return
						}
					}
				})
			}
		}
		wg.Wait()
		slices.Sort(done)
		if !ended && !slices.Equal(done, todo) || len(slices.Compact(slices.Clone(done))) != len(done) {
			t.Fatalf("units %v of %d were done, all devices lost: %v", done, units, ended)
		}
		if i := slices.IndexFunc(told, func(n int) bool { return n > 1 }); i >= 0 {
			t.Fatalf("device %d was lost %d times", i, told[i])
		}
	}
}

// TestShareStops: stop ends the wait for a unit that may come back.
func TestShareStops(t *testing.T) {
	s := newShare([]int{0}, 2)
	s.next(0)
	ended := make(chan bool)
	go func() {
		_, ok := s.next(1)
		ended <- ok
	}()
	s.stop()
	if <-ended {
		t.Error("there is a unit after the end")
	}
}
