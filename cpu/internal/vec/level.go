package vec

import "os"

// levelVariable is the environment variable that can lower the level.
const levelVariable = "AMTRL_CPU"

// active is the implementation in use: the best that the machine has, unless
// the environment asks for less.
var active = choose(available(), os.Getenv(levelVariable))

// Level names the implementation in use: "generic", "avx2" or "avx512". The
// environment variable AMTRL_CPU lowers it to the one named; a level that the
// machine lacks, or an unknown name, leaves it as detected.
func Level() string { return active.name }

// choose returns the level called name, or the last one.
func choose(levels []*kernels, name string) *kernels {
	for _, k := range levels {
		if k.name == name {
			return k
		}
	}
	return levels[len(levels)-1]
}
