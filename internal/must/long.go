package must

import "testing"

// Long returns how often a test repeats something: n times where go test shows what tests log (-v), as the commands of docs do, and less
// often elsewhere, so that all tests together take less time.
func Long(n, less int) int {
	if testing.Verbose() {
		return n
	}
	return less
}
