package dataset_test

import (
	"fmt"
	"log"
	"math"

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

// ids are the ids of a pool's rows, which results then name.
type ids []string

func (i ids) Find(row int) (id string, at int64, err error) { return i[row], int64(row), nil }

// Numbers of photographs, with a byte for each pixel: those of one animal are drawn, left out and held out together, and the last animal of
// the zoo is held out. Each photograph has an id. The weight of an animal is NaN where it is not known.
func ExampleSet_AddNumbers() {
	set := &dataset.Set{Name: "photographs"}
	for _, place := range []string{"farm", "zoo"} {
		pool := &dataset.Pool{
			Name: place, Rows: 6, Cols: 4, U8: make([]uint8, 6*4), Scale: 1. / 255, Height: 2, Width: 2,
			Groups: []int32{0, 0, 1, 1, 1, -1}, // of the animals 0 and 1, and one that nobody recognised
		}
		for i := range pool.U8 {
			pool.U8[i] = uint8(40 * (i % 5))
		}
		var names ids
		for i := range pool.Rows {
			names = append(names, fmt.Sprintf("%s-%d.jpg", place, i))
		}
		pool.Origin = names
		weights := []float32{4.5, 4.5, 3, 3, 3, float32(math.NaN())}
		var held []int32
		if place == "zoo" { // the groups of another place are others
			pool.Groups, held = []int32{2, 2, 3, 3, 3, -1}, []int32{2, 3, 4}
		}
		if err := set.AddNumbers(pool, "weight", weights, held); err != nil {
			log.Fatal(err)
		}
	}
	if err := set.Validate(); err != nil {
		log.Fatal(err)
	}
	for _, t := range set.Tasks {
		fmt.Println(t.Name, "to draw from:", t.Train, "held out:", t.Test)
	}
	// Output:
	// farm_weight to draw from: [0 1 2 3 4] held out: []
	// zoo_weight to draw from: [0 1] held out: [2 3 4]
}
