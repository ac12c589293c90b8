package columnar

import (
	"hash/maphash"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// groupNumbers numbers the groups in the order in which they first occur. A group is identified by two hashes of its name, 128 bits in all,
// and not by the name itself, to save memory where each row is a group of its own.
type groupNumbers struct {
	seeds   [2]maphash.Seed
	numbers map[[2]uint64]int32
}

// number returns the number of the group of row i, or -1 where the cell is missing, is white space alone, or has a word that stands for
// none. A whole number names the same group with and without zero decimals, which programs write in columns with missing cells.
func (g *groupNumbers) number(v *table.Values, i int) int32 {
	if v.Lacks(i) {
		return -1
	}
	name := text.Whole(v.Word(i))
	if name == "" || text.LooksMissing(name) {
		return -1
	}
	if g.numbers == nil {
		g.seeds, g.numbers = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, map[[2]uint64]int32{}
	}
	key := [2]uint64{maphash.String(g.seeds[0], name), maphash.String(g.seeds[1], name)}
	n, known := g.numbers[key]
	if !known {
		n = int32(len(g.numbers))
		g.numbers[key] = n
	}
	return n
}

// heldTogether reorders rows so that about len(rows)-n of them are held out, those from order[at] on, and each group is held out as a whole
// or not at all. From the last row backwards it takes the groups that still fit, or one of the smallest where none fits, and never all
// groups.
func heldTogether(rows []int32, n int, group func(row int32) int32) (order []int32, at int) {
	place, groups := map[int32]int{}, [][]int32{}
	for _, row := range slices.Backward(rows) {
		g := group(row)
		at, known := place[g]
		if !known || g < 0 {
			at, groups = len(groups), append(groups, nil)
			place[g] = at
		}
		groups[at] = append(groups[at], row)
	}
	if len(groups) < 2 {
		return rows, len(rows)
	}
	room := max(len(rows)-n, len(slices.MinFunc(groups, func(a, b []int32) int { return len(a) - len(b) })))
	var kept, held []int32
	for _, of := range groups {
		if len(held)+len(of) <= room {
			held = append(held, of...)
		} else {
			kept = append(kept, of...)
		}
	}
	return append(kept, held...), len(kept)
}
