package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestFromImages(t *testing.T) {
	rng := testrand.New(t)
	n := 2 + rng.IntN(60)
	labels := make([]uint8, n)
	for i := range labels {
		labels[i] = uint8(rng.IntN(4)) * 3
	}
	labels[0], labels[1] = 0, 9
	names := []string{"b", "a"}
	images := [][]uint8{make([]uint8, n*784), make([]uint8, n*784)}
	s := must.Get(FromImages("made", names, images, labels))(t)
	var classes []int
	for c := range 256 {
		if slices.Contains(labels, uint8(c)) {
			classes = append(classes, c)
		}
	}
	if !s.Binary || len(s.Pools) != 2 || len(s.Tasks) != 2*len(classes) {
		t.Fatalf("binary %v, %d pools, %d tasks for %d classes", s.Binary, len(s.Pools), len(s.Tasks), len(classes))
	}
	for i, task := range s.Tasks {
		class := classes[i%len(classes)]
		if want := names[i/len(classes)] + "_" + string(rune('0'+class)); task.Name != want || task.Pool != i/len(classes) {
			t.Errorf("task %d is %s of pool %d, want %s", i, task.Name, task.Pool, want)
		}
		for r, y := range task.Labels {
			if (y == 1) != (int(labels[r]) == class) || y != 0 && y != 1 {
				t.Fatalf("task %s row %d: label %v for class %d", task.Name, r, y, labels[r])
			}
		}
		if &task.Train[0] != &s.Tasks[0].Train[0] || &task.Labels[0] != &s.Tasks[i%len(classes)].Labels[0] {
			t.Errorf("task %s shares nothing", task.Name)
		}
	}
	if p := s.Pools[0]; &p.U8[0] != &images[0][0] || p.Scale != 1./255 || p.Height != 28 || p.Width != 28 {
		t.Errorf("pool %+v", p)
	}
}

func TestSplitHoldsOutOneInFive(t *testing.T) {
	for _, n := range []int{2, 3, 5, 9, 10, 11, 1000, 5000} {
		s := splitter{}
		a := must.Get(s.held(n))(t)
		all := slices.Concat(a.train, a.test)
		slices.Sort(all)
		for i, r := range all {
			if int(r) != i {
				t.Fatalf("%d rows: row %d missing or twice", n, i)
			}
		}
		if len(all) != n || len(a.test) != max(1, n/5) || !slices.IsSorted(a.train) || !slices.IsSorted(a.test) {
			t.Errorf("%d rows: %d train, %d test", n, len(a.train), len(a.test))
		}
		if b, _ := s.held(n); &b.train[0] != &a.train[0] {
			t.Errorf("%d rows: the second split is another slice", n)
		}
		if b, _ := (splitter{}).held(n); !slices.Equal(b.train, a.train) {
			t.Errorf("%d rows: the split is not fixed", n)
		}
	}
	// Runs are compared across versions: the rows held out must never change.
	if a, _ := (splitter{}).held(20); !slices.Equal(a.test, []int32{0, 6, 7, 16}) {
		t.Errorf("held out %v", a.test)
	}
}

func TestFromImagesRefuses(t *testing.T) {
	img := make([]uint8, 3*784)
	for _, c := range []struct {
		names  []string
		images [][]uint8
		labels []uint8
		want   string
	}{
		{[]string{"a"}, nil, []uint8{1, 2, 3}, "found 1 names and 0 pools"},
		{nil, nil, []uint8{1, 2, 3}, "found 0 names and 0 pools"},
		{[]string{"a"}, [][]uint8{img[1:]}, []uint8{1, 2, 3}, "pool a: expected 2352 pixels for 3 labels, found 2351"},
		{[]string{"a"}, [][]uint8{img[:784]}, []uint8{1}, "found 1"},
		{[]string{"a"}, [][]uint8{img}, []uint8{7, 7, 7}, "expected at least 2 classes, found only [7]"},
	} {
		_, err := FromImages("made", c.names, c.images, c.labels)
		if err == nil || !strings.HasPrefix(err.Error(), "made: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// A few bytes of labels cannot ask for gigabytes of tasks, be it by many classes of many rows or by many pools of many classes.
func TestLabelsThatAskForTooMuch(t *testing.T) {
	const rows, classes = 200_000, 500
	labels := make([]int32, rows)
	for i := range labels {
		labels[i] = int32(i % classes)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a", "test_images.npy"), npyFile("|u1", make([]uint8, rows), rows, 1))
	writeFile(t, filepath.Join(dir, "a", "test_labels.npy"), npyFile("<i4", labels, rows))
	var err error
	if n := must.Allocated(func() { _, err = ReadLayout(dir) }); n > 32<<20 {
		t.Errorf("many rows: %d bytes allocated", n)
	}
	wantFault(t, "many rows", err, dir, "at most 268435456 bytes beside pools of 200000 bytes", "found 200000 rows of 500 classes")

	one := labelled{pool: &Pool{Name: "a", Rows: maxClasses, Cols: 1}, classes: make([]int64, maxClasses)}
	for i := range one.classes {
		one.classes[i] = int64(i)
	}
	pools := slices.Repeat([]labelled{one}, maxTasks/maxClasses+1)
	if n := must.Allocated(func() { _, err = newSet("made", pools) }); n > 1<<20 {
		t.Errorf("many pools: %d bytes allocated", n)
	}
	wantFault(t, "many pools", err, "made", "at most 1048576 tasks", "found 1049 pools and 1000 classes")
	must.Equal(t, len(must.Get(newSet("made", pools[:2]))(t).Tasks), 2*maxClasses, "tasks of two pools of %d classes", maxClasses)

	// The labels of a wide pool may take as many bytes as its elements.
	wide := labelled{pool: &Pool{Rows: rows, Cols: 4 * classes, U8: make([]uint8, 4*classes*rows)}, classes: make([]int64, rows)}
	must.Do(t, checkTasks([]labelled{wide}, classes))
	must.Fail(t, "labels larger than their pool", checkTasks([]labelled{wide}, classes+1))
}
