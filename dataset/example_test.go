package dataset_test

import (
	"fmt"
	"log"

	"github.com/amtrl/amtrl/dataset"
)

// review is a text as a user knows it: its shop, two features, and its mood, which is empty where nobody has labelled it.
type review struct {
	shop     string
	features [2]float32
	mood     string
}

// A set made of a program's own rows, some of which have no label. Each shop is a pool, and so a source, with a task for each class.
func ExampleSet() {
	reviews := []review{
		{"books", [2]float32{0.1, 2}, "bad"}, {"books", [2]float32{1.2, 1}, "good"}, {"books", [2]float32{1.1, 3}, ""},
		{"shoes", [2]float32{0.3, 2}, "bad"}, {"shoes", [2]float32{1.4, 1}, "good"}, {"shoes", [2]float32{0.2, 4}, "bad"},
	}
	set := &dataset.Set{Name: "reviews"}
	for i, shop := range []string{"books", "shoes"} {
		pool := &dataset.Pool{Name: shop, Cols: 2, Scale: 1, Cost: float64(1 + i)}
		var moods []string
		for _, r := range reviews {
			if r.shop == shop {
				pool.F32 = append(pool.F32, r.features[:]...)
				moods = append(moods, r.mood)
			}
		}
		pool.Rows = len(moods)
		if err := set.AddClasses(pool, "mood", moods, nil); err != nil {
			log.Fatal(err)
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
	// books_mood_bad [1 0 0] [0 1]
	// books_mood_good [0 1 0] [0 1]
	// shoes_mood_bad [1 0 1] [0 1 2]
	// shoes_mood_good [0 1 0] [0 1 2]
	// reviews: task "shoes_mood_good": row 0: expected a label of 0 or 1, found 2
}
