package dataset

import (
	"fmt"
	"math"
	"slices"
)

// AddClasses adds a column of classes for the rows of pool, and the pool itself where the set does not have it. labels[i] is the class of
// row i, empty where the row has no label. Each class that occurs becomes a task "<pool>_<column>_<class>", in ascending order, with label
// 1 for the class and 0 for the others. Test of each task lists the rows of test that have a label, and Train all other rows that have one;
// where Train would be empty, no task is added. It is an error where the number of labels is not the number of rows, the set has tasks of
// numbers, the pool already has the column, there are more than 1,000 classes, or test lists a row that the pool does not have. The set is
// then unchanged. Without a name of the column the tasks are "<pool>_<class>", as those of the paper are, where by default each task, not
// each pool, is a source.
func (s *Set) AddClasses(pool *Pool, column string, labels []string, test []int32) error {
	var classes []string
	for _, class := range labels {
		if at, is := slices.BinarySearch(classes, class); class != "" && !is && len(classes) <= maxClasses {
			classes = slices.Insert(classes, at, class)
		}
	}
	if len(classes) > maxClasses {
		return s.fault("pool %q: column %q: expected at most %d classes, found more", pool.Name, column, maxClasses)
	}
	outputs := []Output{{Name: column}} // for a column in which no row has a label
	for c, class := range classes {
		outputs = append(outputs[:c], Output{column, class})
	}
	return s.addColumn(pool, true, outputs, len(labels), test, func(c, row int) float32 {
		switch labels[row] {
		case "":
			return float32(math.NaN())
		case classes[c]:
			return 1
		}
		return 0
	})
}

// AddNumbers is [Set.AddClasses] for a column of numbers, which becomes one task, "<pool>_<column>". labels[i] is the number of row i, NaN
// where the row has no label. It is an error where the set has tasks of classes.
func (s *Set) AddNumbers(pool *Pool, column string, labels []float32, test []int32) error {
	return s.addColumn(pool, false, []Output{{Name: column}}, len(labels), test, func(_, row int) float32 { return labels[row] })
}

// addColumn adds a task for each of the outputs of a column. labels is the number of labels, and label returns the label of a row for an
// output, NaN for none.
func (s *Set) addColumn(pool *Pool, binary bool, outputs []Output, labels int, test []int32, label func(output, row int) float32) error {
	if pool == nil {
		return s.fault("column %q: expected a pool, found nil", outputs[0].Name)
	}
	refuse := func(format string, args ...any) error {
		return s.fault("pool %q: %w", pool.Name, fmt.Errorf(format, args...))
	}
	if labels != pool.Rows {
		return refuse("expected %d labels, one for each row, found %d", pool.Rows, labels)
	}
	if len(s.Tasks) > 0 && s.Binary != binary {
		return refuse("expected columns of classes alone, or of numbers alone, in one set")
	}
	at := slices.Index(s.Pools, pool)
	if at < 0 {
		at = len(s.Pools)
	}
	for _, t := range s.Tasks {
		if t.Pool == at && t.Output.Name == outputs[0].Name {
			return refuse("expected each column once, found %q twice", t.Output.Name)
		}
	}
	held := make([]bool, pool.Rows)
	for _, row := range test {
		if row < 0 || int(row) >= pool.Rows {
			return refuse("expected test rows 0 to %d, found %d", pool.Rows-1, row)
		}
		held[row] = true
	}
	t := Task{Pool: at}
	for row := range int32(labels) {
		switch y := label(0, int(row)); {
		case y != y:
		case held[row]:
			t.Test = append(t.Test, row)
		default:
			t.Train = append(t.Train, row)
		}
	}
	if at == len(s.Pools) {
		s.Pools = append(s.Pools, pool)
	}
	if len(t.Train) == 0 {
		return nil
	}
	for c, output := range outputs {
		t.Name, t.Output, t.Labels = pool.Name, output, make([]float32, labels)
		for _, part := range []string{output.Name, output.Class} {
			if part != "" {
				t.Name += "_" + part
			}
		}
		for _, rows := range [][]int32{t.Train, t.Test} {
			for _, row := range rows {
				t.Labels[row] = label(c, int(row))
			}
		}
		s.Tasks = append(s.Tasks, t)
	}
	s.Binary = binary
	return nil
}
