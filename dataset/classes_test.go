package dataset

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// UnseenClasses returns the classes that training rows of the sources have and none of the listed rows of the target has.
func TestUnseenClasses(t *testing.T) {
	rng := testrand.New(t)
	const rows = slipLeast - 1 // too few for classes of a source's own
	for range 300 {
		classes := []string{"p", "q", "r", "s"}[:2+rng.IntN(3)]
		binary := len(classes) == 2 && rng.IntN(2) == 0
		set := &Set{Binary: true, Columns: &Columns{Labels: []LabelColumn{{Name: "y", Classes: classes}, {Name: "z", Classes: classes}}}}
		of := make([][]string, 3)
		for pool := range of {
			set.Pools = append(set.Pools, &Pool{Rows: rows, Target: pool == 2})
			most := 1 + rng.IntN(len(classes))
			for range rows {
				of[pool] = append(of[pool], classes[rng.IntN(most)])
			}
			train := upTo[int32](rows)[:1+rng.IntN(rows)]
			for c, class := range classes {
				y := make([]float32, rows)
				for r := range y {
					if of[pool][r] == class {
						y[r] = 1
					}
				}
				if !binary || c == 1 {
					set.Tasks = append(set.Tasks, Task{Pool: pool, Output: Output{"y", class}, Labels: y, Train: train})
				}
			}
			of[pool] = of[pool][:len(train)]
		}
		drawn := upTo[int32](rows)[:rng.IntN(len(of[2])+1)]
		for _, list := range [][]int32{nil, drawn} {
			own := of[2]
			if list != nil {
				own = own[:len(drawn)]
			}
			var want []Unseen
			for _, c := range classes {
				if slices.Contains(own, c) || !slices.Contains(of[0], c) && !slices.Contains(of[1], c) {
					continue
				}
				if want == nil {
					want = []Unseen{{Column: "y"}}
				}
				want[0].Classes = append(want[0].Classes, c)
			}
			if got := set.UnseenClasses(2, list); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, rows %v: %v, want %v", of, list, got, want)
			}
		}
	}
}

// Lists of names are cut off: the message quotes the first names and counts the others.
func TestAlike(t *testing.T) {
	set := &Set{Columns: &Columns{Labels: []LabelColumn{{Name: "y"}, {Name: "z", Classes: []string{"a b", "ab", "c"}}}}}
	for i := range 20 {
		set.Columns.Labels[0].Classes = append(set.Columns.Labels[0].Classes, fmt.Sprint("c", i), fmt.Sprint(" C", i))
	}
	got := set.alike()
	must.Hold(t, len(got) == 1, "%v", got)
	const found = `the classes of y differ in case, blanks or zero decimals alone: "c0", " C0"; "c1", " C1"; "c2", " C2"; and 17 more`
	must.Equal(t, got[0].Found, found, "found")
	of := measured(testrand.New(t))
	of.Columns = set.Columns
	must.Hold(t, slices.Contains(of.Warnings().Oddities(true), got[0]), "before a run: %v", of.Warnings().Oddities(true))
	must.Equal(t, Unseen{"", []string{"a", "b"}}.String(), `of class "a", "b"`, "two classes")
	const many = `of class "", "", "", "", "", "", "", "", "", "" and 989 more of y`
	must.Equal(t, Unseen{"y", make([]string, 999)}.String(), many, "many classes")
}

// Names that look the same are named by their characters, apart from names that differ in what can be seen.
func TestLookAlike(t *testing.T) {
	set := &Set{Columns: &Columns{Labels: []LabelColumn{{Name: "y",
		Classes: []string{"caf\u00e9", "Cafe\u0301", "cafe", "no", "n\u200bo", "a", "A"}}}}}
	var found []string
	for _, o := range set.alike() {
		found = append(found, o.Found)
	}
	must.EqualSlices(t, found, []string{`the classes of y differ in case, blanks or zero decimals alone: "a", "A"`,
		`the classes of y look alike in other characters of Unicode: "caf\u00e9", "Cafe\u0301"; "no", "n\u200bo"`}, "what is alike")
}
