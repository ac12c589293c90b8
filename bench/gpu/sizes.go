//go:build linux

package main

// sizes holds the sizes of the measurements.
type sizes struct {
	// least is the approximate duration of a timing in seconds, not counting the warm-up.
	least float64
	// copied is the number of float32 elements of the copy.
	copied int
	// passes lists the numbers of samples of the task gradient; recorded is the number of times that a program repeats
	// it.
	passes   []int
	recorded int
	// digits is the number of base images of ERM and sweep, samples the number of samples of the ERM, width its K, and
	// iterations the number of iterations that set its goal.
	digits, samples, width, iterations int
	// targets is the number of targets of the sweep, epochs and floor are of its schedule, fixed is the number of
	// L-BFGS iterations per epoch, and labelled the number of labelled target samples.
	targets, epochs, floor, fixed, labelled int
	// trained is the number of passes of the convolutional training, batch the size of its batches, and channels the
	// channels of its layers.
	trained, batch int
	channels       []int
	// inverted lists the shapes of the matrices to invert.
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
