//go:build linux

package main

// sizes are how much is timed.
type sizes struct {
	// least is the seconds that a timing takes, warming up apart.
	least float64
	// copied is the number of float32 elements of the copy.
	copied int
	// passes are the numbers of samples of the task gradient.
	passes []int
	// digits is the number of base images of ERM and sweep, samples that of the
	// ERM's samples, width its K, iterations those that set its goal.
	digits, samples, width, iterations int
	// targets of the sweep, epochs and floor of its schedule, fixed L-BFGS iterations
	// an epoch, labelled target samples.
	targets, epochs, floor, fixed, labelled int
	// inverted are the shapes of the pseudo-inverses.
	inverted [][2]int
}

const (
	inputs = 784
	tasks  = 160
	pools  = 16
)

var full = sizes{
	least: 0.5, copied: 1 << 28, passes: []int{33_000, 4_000_000},
	digits: 10_000, samples: 33_000, width: 50, iterations: 400,
	targets: 160, epochs: 4, floor: 50, fixed: 100, labelled: 500,
	inverted: [][2]int{{50, 159}, {512, 4096}},
}

var small = sizes{
	least: 0.01, copied: 1 << 14, passes: []int{320, 640},
	digits: 30, samples: 477, width: 4, iterations: 8,
	targets: 2, epochs: 2, floor: 2, fixed: 3, labelled: 12,
	inverted: [][2]int{{5, 16}, {12, 40}},
}
