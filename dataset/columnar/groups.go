package columnar

import (
	"hash/maphash"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// groupNumbers are the numbers of groups in the order in which they come up. Groups are known by two hashes of their names, 128 bits in
// all, so that those of a row each take no more memory than ids do.
type groupNumbers struct {
	seeds   [2]maphash.Seed
	numbers map[[2]uint64]int32
}

// number is that of the group of row i, -1 where it has none: an empty cell, one of blanks, or a word for none. A whole number is the same
// with zero decimals, as programs write it where some are missing.
func (g *groupNumbers) number(v *table.Values, i int) int32 {
	if v.IsMissing(i) {
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

// heldTogether orders rows such that about those from n on are held out, and all of a group or none: from the last on, the groups that
// there is room for, or the smallest where there is none for any, and never all.
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
