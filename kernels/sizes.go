package kernels

import (
	"fmt"
	"regexp"
	"strconv"
)

// The sizes of tiles and blocks, as sizes.cuh states them for the kernels.
var (
	sizes = defines("sizes.cuh")

	block       = size("BLOCK")
	perBlock    = block * size("EACH") // elements that a block of an elementwise operation takes
	tileSide    = size("TILE")
	tileBlock   = [2]int{tileSide, size("TILE_LINES")}
	warpsPer    = block / warp
	convThreads = size("CONV_THREADS")
	convRows    = size("CONV_ROWS")
	convCols    = size("CONV_COLS")
	convSlab    = size("CONV_SLAB")
	convWide    = size("CONV_WIDE")
	convNarrow  = size("CONV_NARROW")
	gradColumns = size("GRAD_COLUMNS")
	gradTurns   = size("GRAD_TURNS")
)

// warp is the number of threads of a warp on every device.
const warp = 32

// defines returns the numbers that a header defines, by name.
func defines(header string) map[string]int {
	text, err := files.ReadFile(header)
	if err != nil {
		panic(err) // it is embedded
	}
	all := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#define (\w+) (\d+) `).FindAllStringSubmatch(string(text), -1) {
		if all[m[1]], err = strconv.Atoi(m[2]); err != nil {
			panic(fmt.Sprintf("kernels: %s: %v", header, err))
		}
	}
	return all
}

// size returns the number that sizes.cuh defines for a name.
func size(name string) int {
	n, ok := sizes[name]
	if !ok {
		panic("kernels: sizes.cuh does not define " + name)
	}
	return n
}

// threads returns the shape of a block of n threads in one row.
func threads(n int) [2]int { return [2]int{n, 1} }
