package dataset

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Limits on what labels may ask for: a task for each pool and class, and a 0/1 vector for each class. The vectors may take as much memory
// as the pools, or freeLabelBytes if that is more.
const (
	maxClasses     = 1000
	maxTasks       = 1 << 20
	freeLabelBytes = 256 << 20
)

// labelled is a pool with its labels, before tasks are made from it. Exactly one of classes and values is set, with one entry for each row.
type labelled struct {
	pool    *Pool
	classes []int64
	values  []float32
	split   split
	shape   []int // of a row, empty where that is not known
}

// FromImages makes a set of one-against-rest tasks from pools of 28 by 28
// images that show the same base items: row i of every pool has label
// labels[i]. images[p] holds len(labels)*784 pixels and is kept, not copied;
// features are pixel/255. There is a task "<pool>_<class>" for each pool and,
// ascending, each class in labels. One base item in five is for tests, chosen
// by a permutation that depends on the number of rows alone.
func FromImages(name string, poolNames []string, images [][]uint8, labels []uint8) (*Set, error) {
	if len(poolNames) != len(images) || len(images) == 0 {
		return nil, fmt.Errorf("%s: expected as many names as pools and at least one, found %d names and %d pools", name,
			len(poolNames), len(images))
	}
	rows, err := splitter{}.held(len(labels))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	classes := make([]int64, len(labels))
	for i, l := range labels {
		classes[i] = int64(l)
	}
	const side = 28
	var pools []labelled
	for p, pixels := range images {
		if len(pixels) != len(labels)*side*side {
			return nil, fmt.Errorf("%s: pool %s: expected %d pixels for %d labels, found %d", name, poolNames[p], len(labels)*side*side,
				len(labels), len(pixels))
		}
		pools = append(pools, labelled{
			pool: &Pool{
				Name: poolNames[p], Rows: len(labels), Cols: side * side,
				U8: pixels, Scale: 1. / 255, Height: side, Width: side,
			},
			classes: classes,
			split:   rows,
		})
	}
	return newSet(name, pools)
}

// newSet makes a set of the pools: where labels are classes, a 0/1 task for each pool and each class found in any pool, and where they are
// values, a regression task for each pool.
func newSet(name string, pools []labelled) (*Set, error) {
	s := &Set{Name: name, Binary: pools[0].classes != nil}
	for _, p := range pools {
		if (p.classes != nil) != s.Binary {
			return nil, fmt.Errorf("%s: expected labels of one kind, found integers and floats: pools %s and %s", name,
				pools[0].pool.Name, p.pool.Name)
		}
		if a, b := table.Squeeze(pools[0].shape), table.Squeeze(p.shape); min(len(a), len(b)) > 1 && !slices.Equal(a, b) {
			return nil, fmt.Errorf("%s: expected arrays of one shape, found %s in pool %s and %s in %s", name, table.Sides(a),
				pools[0].pool.Name, table.Sides(b), p.pool.Name)
		}
		if p.pool.Cols != pools[0].pool.Cols {
			return nil, fmt.Errorf("%s: expected pools of one width, found %s in %s and %s in %s", name,
				text.Several(pools[0].pool.Cols, "column"), pools[0].pool.Name, text.Several(p.pool.Cols, "column"), p.pool.Name)
		}
		s.Pools = append(s.Pools, p.pool)
	}
	if !s.Binary {
		for i, p := range pools {
			s.Tasks = append(s.Tasks, Task{Name: p.pool.Name, Pool: i, Labels: p.values, Train: p.split.train, Test: p.split.test})
		}
		return s, nil
	}
	classes, err := distinctClasses(pools)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkTasks(pools, len(classes)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var indicators [][]float32
	for i, p := range pools {
		if !sharesLabels(pools, i) {
			indicators = oneAgainstRest(p.classes, classes)
		}
		for c, class := range classes {
			s.Tasks = append(s.Tasks, Task{
				Name: fmt.Sprintf("%s_%d", p.pool.Name, class), Pool: i, Output: Output{Class: strconv.FormatInt(class, 10)},
				Labels: indicators[c], Train: p.split.train, Test: p.split.test,
			})
		}
	}
	return s, nil
}

// distinctClasses lists the classes of all pools, ascending.
func distinctClasses(pools []labelled) ([]int64, error) {
	seen := map[int64]bool{}
	var classes []int64
	for _, p := range pools {
		for _, c := range p.classes {
			if seen[c] {
				continue
			}
			if seen[c] = true; len(seen) > maxClasses {
				return nil, fmt.Errorf("expected at most %d classes, found more distinct integer labels (floats make a regression task)", maxClasses)
			}
			classes = append(classes, c)
		}
	}
	if len(classes) < 2 {
		return nil, fmt.Errorf("expected at least 2 classes, found only %d", classes)
	}
	slices.Sort(classes)
	return classes, nil
}

// sharesLabels reports whether pool i has the same labels as the pool before it.
func sharesLabels(pools []labelled, i int) bool {
	return i > 0 && slices.Equal(pools[i].classes, pools[i-1].classes)
}

// checkTasks refuses labels that make more than maxTasks tasks or take memory out of proportion to the pools.
func checkTasks(pools []labelled, classes int) error {
	if len(pools) > maxTasks/classes {
		return fmt.Errorf("expected at most %d tasks, one for each pool and class, found %d pools and %d classes", maxTasks, len(pools), classes)
	}
	rows, stored := int64(0), int64(0)
	for i, p := range pools {
		stored += int64(len(p.pool.U8)) + 2*int64(len(p.pool.F16)) + 4*int64(len(p.pool.F32))
		if !sharesLabels(pools, i) {
			rows += int64(len(p.classes))
		}
	}
	if most := max(freeLabelBytes, stored); rows > most/4/int64(classes) {
		return fmt.Errorf("expected 0/1 labels of at most %d bytes beside pools of %d bytes, found %d rows of %d classes, 4 bytes each",
			most, stored, rows, classes)
	}
	return nil
}

// oneAgainstRest returns, for each of the ascending classes, a vector that is 1 where a label is that class and 0 elsewhere.
func oneAgainstRest(labels, classes []int64) [][]float32 {
	out := make([][]float32, len(classes))
	for c := range out {
		out[c] = make([]float32, len(labels))
	}
	for i, l := range labels {
		c, _ := slices.BinarySearch(classes, l)
		out[c][i] = 1
	}
	return out
}
