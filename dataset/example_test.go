package dataset_test

import (
	"fmt"
	"log"

	"github.com/amtrl/amtrl/dataset"
)

// review is what somebody knows of a text: its shop, two features, and how it sounds, or "" where nobody has said.
type review struct {
	shop     string
	features [2]float32
	mood     string
}

// A set from rows of one's own, some of them without a label: a pool for each shop, which is a source, and in it a task for each
// class. Labels are 1 for the class of the task, and rows without a label are in neither Train nor Test.
func ExampleSet() {
	reviews := []review{
		{"books", [2]float32{0.1, 2}, "bad"}, {"books", [2]float32{1.2, 1}, "good"}, {"books", [2]float32{1.1, 3}, ""},
		{"shoes", [2]float32{0.3, 2}, "bad"}, {"shoes", [2]float32{1.4, 1}, "good"}, {"shoes", [2]float32{0.2, 4}, "bad"},
	}
	set := &dataset.Set{Name: "reviews", Binary: true}
	for p, shop := range []string{"books", "shoes"} {
		pool := &dataset.Pool{Name: shop, Cols: 2, Scale: 1, Cost: float64(1 + p)}
		var moods []string
		for _, r := range reviews {
			if r.shop == shop {
				pool.F32 = append(pool.F32, r.features[:]...)
				moods = append(moods, r.mood)
			}
		}
		pool.Rows = len(moods)
		set.Pools = append(set.Pools, pool)
		var labelled []int32
		for row, mood := range moods {
			if mood != "" {
				labelled = append(labelled, int32(row))
			}
		}
		for _, class := range []string{"bad", "good"} {
			t := dataset.Task{
				Name: shop + "_" + class, Pool: p, Output: dataset.Output{Name: "mood", Class: class},
				Labels: make([]float32, pool.Rows), Train: labelled,
			}
			for row, mood := range moods {
				if mood == class {
					t.Labels[row] = 1
				}
			}
			set.Tasks = append(set.Tasks, t)
		}
	}
	if err := set.Validate(); err != nil {
		log.Fatal(err)
	}
	for _, t := range set.Tasks {
		fmt.Println(t.Name, t.Labels, t.Train)
	}
	set.Tasks[3].Labels[0] = 2
	fmt.Println(set.Validate())
	// Output:
	// books_bad [1 0 0] [0 1]
	// books_good [0 1 0] [0 1]
	// shoes_bad [1 0 1] [0 1 2]
	// shoes_good [0 1 0] [0 1 2]
	// reviews: task "shoes_good": row 0: expected a label of 0 or 1, found 2
}
