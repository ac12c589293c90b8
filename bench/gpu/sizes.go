//go:build linux

package main

// sizes are how much is timed.
type sizes struct {
	// least is the seconds that a timing takes, warming up apart.
	least float64
	// copied is the number of float32 elements of the copy.
	copied int
	// passes are the numbers of samples of the task gradient, recorded is how often a program repeats it.
	passes   []int
	recorded int
	// digits is the number of base images of ERM and sweep, samples that of the
	// ERM's samples, width its K, iterations those that set its goal.
	digits, samples, width, iterations int
	// targets of the sweep, epochs and floor of its schedule, fixed L-BFGS iterations
	// per epoch, labelled target samples.
	targets, epochs, floor, fixed, labelled int
	// trained are the passes of the convolutional training, in batches of batch, with channels of its layers.
	trained, batch int
	channels       []int
	// inverted are the shapes of the pseudo-inverses.
	inverted [][2]int
}

const (
	inputs = 784
	tasks  = 160
	pools  = 16
)

var full = sizes{
	least: 0.5, copied: 1 << 28, passes: []int{33_000, 4_000_000}, recorded: 20,
	digits: 10_000, samples: 33_000, width: 50, iterations: 400,
	targets: 160, epochs: 4, floor: 50, fixed: 100, labelled: 500,
	trained: 4, batch: 256, channels: []int{16, 32},
	inverted: [][2]int{{50, 159}, {512, 4096}},
}

var small = sizes{
	least: 0.01, copied: 1 << 14, passes: []int{160, 320}, recorded: 2,
	digits: 20, samples: 159, width: 4, iterations: 8,
	targets: 2, epochs: 2, floor: 1, fixed: 1, labelled: 12,
	trained: 1, batch: 53, channels: []int{1, 2},
	inverted: [][2]int{{5, 16}, {12, 40}},
}
