package dataset

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset/corrupt"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/testrand"
)

// npyFile returns the content of an NPY file. v is a slice of fixed-size values.
func npyFile(descr string, v any, shape ...int) []byte {
	return append(npy.FormatHeader(descr, shape...), elements(v)...)
}

// imageSet writes a pool of n random images for each name to a folder, all with the same labels, and returns what it wrote.
func imageSet(t *testing.T, seed uint64, n int, names ...string) (dir string, images [][]uint8, labels []uint8) {
	rng := rand.New(rand.NewPCG(seed, 7))
	labels = make([]uint8, n)
	for i := range labels {
		labels[i] = uint8(i % 4)
	}
	for range names {
		pixels := make([]uint8, n*784)
		for i := range pixels {
			pixels[i] = uint8(rng.Uint32())
		}
		images = append(images, pixels)
	}
	dir = filepath.Join(t.TempDir(), "made", "here")
	must.Do(t, WriteLayout(dir, names, images, labels))
	return dir, images, labels
}

// A set that is written and read again equals the set made in memory.
func TestLayoutRoundTrip(t *testing.T) {
	checkNoLeak(t)
	seed := testrand.New(t).Uint64()
	names := []string{"a", "b b", "c%d"}
	dir, images, labels := imageSet(t, seed, 4+int(seed%40), names...)
	writeFile(t, filepath.Join(dir, "README.md"), []byte("not a pool"))
	writeFile(t, filepath.Join(dir, ".hidden", "test_images.npy"), []byte("not a pool"))
	got := must.Get(ReadLayout(dir))(t)
	want := must.Get(FromImages(dir, names, images, labels))(t)
	must.Do(t, got.Validate())
	if got.Name != filepath.Base(dir) || got.Hash() != want.Hash() {
		t.Errorf("the set read from %s is not the one written", got.Name)
	}
	if &got.Tasks[0].Labels[0] != &got.Tasks[8].Labels[0] || &got.Tasks[0].Train[0] != &got.Tasks[8].Train[0] {
		t.Error("pools with equal labels share nothing")
	}
}

func TestReadLayoutRealData(t *testing.T) {
	root := realData(t)
	s := must.Get(ReadLayout(filepath.Join(root, "mnist_c")))(t)
	must.Do(t, s.Validate())
	mnistC := corrupt.Names()
	labels := must.Get(ReadIDXLabels(filepath.Join(root, "mnist_idx", "t10k-labels-idx1-ubyte.gz")))(t)
	if !s.Binary || len(s.Pools) != 16 || len(s.Tasks) != 160 {
		t.Fatalf("binary %v, %d pools, %d tasks", s.Binary, len(s.Pools), len(s.Tasks))
	}
	for i, p := range s.Pools {
		if p.Name != mnistC[i] || p.Rows != 5000 || p.Cols != 784 || p.Height != 28 || p.Width != 28 ||
			len(p.U8) != 5000*784 || p.Scale != 1./255 {
			t.Errorf("pool %d: %s, %d by %d, images of %d by %d", i, p.Name, p.Rows, p.Cols, p.Height, p.Width)
		}
	}
	for i, task := range s.Tasks {
		if want := fmt.Sprintf("%s_%d", mnistC[i/10], i%10); task.Name != want {
			t.Errorf("task %d is %s, want %s", i, task.Name, want)
		}
		if len(task.Train) != 4000 || len(task.Test) != 1000 || &task.Labels[0] != &s.Tasks[i%10].Labels[0] {
			t.Errorf("task %s: %d train rows, %d test rows", task.Name, len(task.Train), len(task.Test))
		}
		for r, y := range task.Labels {
			if (y == 1) != (int(labels[r]) == i%10) {
				t.Fatalf("task %s row %d: %v for the digit %d", task.Name, r, y, labels[r])
			}
		}
	}
	pixels, _, _, _, err := ReadIDXImages(filepath.Join(root, "mnist_idx", "t10k-images-idx3-ubyte.gz"))
	must.Do(t, err)
	must.Hold(t, bytes.Equal(pixels, s.Pools[0].U8), "identity is not the IDX images")
	must.Equal(t, must.Get(ReadLayout(filepath.Join(root, "mnist_c")))(t).Hash(), s.Hash(), "the hash when read twice")
	// The header must have the published bytes, not only the published values.
	header := must.Get(os.ReadFile(filepath.Join(root, "mnist_c", "fog", "test_images.npy")))(t)
	if want := npy.FormatHeader("|u1", 5000, 28, 28, 1); !bytes.HasPrefix(header, want) {
		t.Error("the header differs from the published one")
	}
}

func TestReadLayoutOrder(t *testing.T) {
	mnistC := corrupt.Names()
	dir, _, _ := imageSet(t, 1, 4, append([]string{"zz", "aa"}, mnistC...)...)
	order := func() (names []string) {
		s := must.Get(ReadLayout(dir))(t)
		for _, p := range s.Pools {
			names = append(names, p.Name)
		}
		return names
	}
	if got, want := order(), append(slices.Clone(mnistC), "aa", "zz"); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	must.Do(t, os.RemoveAll(filepath.Join(dir, "fog")))
	if got := order(); !slices.IsSorted(got) || len(got) != 17 {
		t.Errorf("order %v, want it sorted", got)
	}
}

// Where labels are floats, as of embeddings with numbers to predict, each folder makes one regression task.
func TestReadLayoutRegression(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "b", "test_images.npy"), npyFile("<f8", []float64{1, 2, 3, 4, 5, 6}, 2, 3))
	writeFile(t, filepath.Join(dir, "b", "test_labels.npy"), npyFile("<f4", []float32{-1.5, 7}, 2, 1))
	writeFile(t, filepath.Join(dir, "a", "train_images.npy"), npyFile("<f2", make([]uint16, 15), 5, 1, 3))
	writeFile(t, filepath.Join(dir, "a", "train_labels.npy"), npyFile("<f8", []float64{1, 2, 3, 4, 5}, 5))
	s := must.Get(ReadLayout(dir))(t)
	must.Do(t, s.Validate())
	a, b := s.Pools[0], s.Pools[1]
	if s.Binary || len(s.Tasks) != 2 || s.Tasks[0].Name != "a" || s.Tasks[1].Name != "b" {
		t.Errorf("binary %v, tasks %+v", s.Binary, s.Tasks)
	}
	must.Hold(t, len(a.F16) == 15 && a.Scale == 1 && a.Height == 0 && a.Width == 0, "pool a: %+v", a)
	if !slices.Equal(b.F32, []float32{1, 2, 3, 4, 5, 6}) || b.Scale != 1 || b.Height != 0 || b.Width != 0 {
		t.Errorf("pool b: %+v", b)
	}
	if !slices.Equal(s.Tasks[1].Labels, []float32{-1.5, 7}) || len(s.Tasks[0].Train) != 4 || len(s.Tasks[0].Test) != 1 {
		t.Errorf("tasks %+v", s.Tasks)
	}
}

// Train and test files of a folder make one pool, and classes are collected over all folders.
func TestReadLayoutTrainAndTest(t *testing.T) {
	dir := t.TempDir()
	for i, folder := range []string{"a", "b"} {
		writeFile(t, filepath.Join(dir, folder, "train_images.npy"), npyFile("|u1", []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 2, 1, 2))
		writeFile(t, filepath.Join(dir, folder, "train_labels.npy"), npyFile("<i4", []int32{-1, 5, -1}, 3))
		writeFile(t, filepath.Join(dir, folder, "test_images.npy"), npyFile("|u1", []uint8{13, 14, 15, 16}, 1, 2, 1, 2))
		writeFile(t, filepath.Join(dir, folder, "test_labels.npy"), npyFile("<i8", []int64{[]int64{5, 1 << 40}[i]}, 1))
	}
	s := must.Get(ReadLayout(dir))(t)
	must.Do(t, s.Validate())
	var names []string
	for _, task := range s.Tasks {
		names = append(names, task.Name)
		if !slices.Equal(task.Train, []int32{0, 1, 2}) || !slices.Equal(task.Test, []int32{3}) || &task.Train[0] != &s.Tasks[0].Train[0] {
			t.Errorf("task %s: train %v, test %v", task.Name, task.Train, task.Test)
		}
	}
	if want := []string{"a_-1", "a_5", "a_1099511627776", "b_-1", "b_5", "b_1099511627776"}; !slices.Equal(names, want) {
		t.Errorf("tasks %v, want %v", names, want)
	}
	if !slices.Equal(s.Tasks[1].Labels, []float32{0, 1, 0, 1}) || !slices.Equal(s.Tasks[4].Labels, []float32{0, 1, 0, 0}) {
		t.Errorf("labels of class 5: %v and %v", s.Tasks[1].Labels, s.Tasks[4].Labels)
	}
	p := s.Pools[0]
	must.Hold(t, p.Rows == 4 && p.Cols == 4 && p.Height == 0 && p.U8[0] == 1 && p.U8[15] == 16, "pool %+v", p)
}

// Arrays of images give their height and width, and the channels that come last.
func TestReadLayoutImages(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  [3]int
	}{
		{[]int{5, 24}, [3]int{0, 0, 0}},
		{[]int{5, 4, 6}, [3]int{4, 6, 1}},
		{[]int{5, 4, 6, 1}, [3]int{4, 6, 1}},
		{[]int{5, 1, 6, 4}, [3]int{6, 4, 1}},
		{[]int{5, 4, 2, 3}, [3]int{4, 2, 3}},
		{[]int{5, 3, 1, 8}, [3]int{0, 0, 0}}, // a side of 1
		{[]int{5, 2, 2, 6}, [3]int{0, 0, 0}}, // no camera's channels
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "a", "train_images.npy"), npyFile("|u1", make([]uint8, 5*24), c.shape...))
		writeFile(t, filepath.Join(dir, "a", "train_labels.npy"), npyFile("<f8", []float64{1, 2, 3, 4, 5}, 5))
		set := must.Get(ReadLayout(dir))(t)
		must.Do(t, set.Validate())
		p := set.Pools[0]
		must.Equal(t, [3]int{p.Height, p.Width, p.Channels()}, c.want, "size of images of shape %v", c.shape)

		writeFile(t, filepath.Join(dir, "b", "train_images.npy"), npyFile("|u1", make([]uint8, 5*24), 5, 3, 4, 2))
		writeFile(t, filepath.Join(dir, "b", "train_labels.npy"), npyFile("<f8", []float64{1, 2, 3, 4, 5}, 5))
		if _, err := ReadLayout(dir); len(c.shape) == 2 { // which may be of any shape
			must.Do(t, err)
		} else {
			must.Fail(t, fmt.Sprint(c.shape), err, dir+": expected arrays of one shape, found ", " in pool a and 3 by 4 by 2 in b")
		}
	}
}

func TestReadLayoutRefuses(t *testing.T) {
	checkNoLeak(t)
	images, labels := npyFile("|u1", make([]uint8, 6), 3, 2), npyFile("<i8", []int64{0, 1, 0}, 3)
	floats := npyFile("<f4", make([]float32, 3), 3)
	many := make([]int64, maxClasses+1)
	for i := range many {
		many[i] = int64(i)
	}
	type files map[string][]byte
	for _, c := range []struct {
		files files
		place string
		want  string
	}{
		{files{}, "", "expected a folder for each pool with train_images.npy and train_labels.npy, test_images.npy and test_labels.npy, or " +
			"both, found no folder"},
		{files{"test_images.npy": images, "test_labels.npy": labels}, "", "found no folder"},
		{files{"a/images.npy": images}, "a", "expected train_images.npy or test_images.npy, found neither"},
		{files{"a/test_images.npy": images}, "a/test_labels.npy", "expected this file beside test_images.npy, found none"},
		{files{"a/train_labels.npy": labels}, "a/train_images.npy", "expected this file beside train_labels.npy, found none"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": npyFile("<i8", []int64{0, 1}, 2)}, "a/test_labels.npy",
			"expected 3 labels, one for each row of test_images.npy, found 2"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": npyFile("<i8", []int64{0, 1, 0, 1, 0, 1}, 3, 2)}, "a/test_labels.npy",
			"expected shape (n,), found [3 2]"},
		{files{"a/test_images.npy": labels, "a/test_labels.npy": labels}, "a/test_images.npy",
			"expected shape (n, d), (n, h, w) or (n, h, w, c), found [3]"},
		{files{"a/test_images.npy": npyFile("|u1", make([]uint8, 3), 3, 1, 1, 1, 1), "a/test_labels.npy": labels},
			"a/test_images.npy", "found [3 1 1 1 1]"},
		{files{"a/test_images.npy": npyFile("<i4", make([]int32, 3), 3, 1), "a/test_labels.npy": labels}, "a/test_images.npy",
			`expected images of type uint8, float16, float32 or float64, found "<i4"`},
		{files{"a/test_images.npy": npyFile("<f4", []float32{1, float32(math.NaN()), 3}, 3, 1), "a/test_labels.npy": labels}, "a/test_images.npy",
			"row 1, column 0: expected a value that is finite in float32, found NaN"},
		{files{"a/test_images.npy": npyFile("<f8", []float64{1, 2, 1e39}, 3, 1), "a/test_labels.npy": labels}, "a/test_images.npy",
			"row 2, column 0: expected a value that is finite in float32, found 1e+39"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": npyFile("<f4", []float32{1, 2, float32(math.Inf(1))}, 3)}, "a/test_labels.npy",
			"row 2, column 0: expected a value that is finite in float32, found +Inf"},
		{files{"a/test_images.npy": images[:130], "a/test_labels.npy": labels}, "a/test_images.npy",
			"byte 128: expected 6 elements of 1 bytes for shape [3 2], found 2 bytes"},
		{files{"a/test_images.npy": npyFile("|u1", []uint8{1}, 1, 1), "a/test_labels.npy": npyFile("|u1", []uint8{1}, 1)}, "a/test_images.npy",
			"expected at least 2 rows to split into train and test, found 1"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": npyFile("|u1", []uint8{1, 1, 1}, 3)}, "",
			"expected at least 2 classes, found only [1]"},
		{files{"a/test_images.npy": npyFile("|u1", make([]uint8, len(many)), len(many), 1),
			"a/test_labels.npy": npyFile("<i8", many, len(many))}, "",
			"expected at most 1000 classes, found more distinct integer labels"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": labels, "b/test_images.npy": images, "b/test_labels.npy": floats}, "",
			"expected labels of one kind, found integers and floats: pools a and b"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": labels, "b/test_images.npy": npyFile("|u1", make([]uint8, 9), 3, 3),
			"b/test_labels.npy": labels}, "", "expected pools of one width, found 2 columns in a and 3 columns in b"},
		{files{"a/test_images.npy": images, "a/test_labels.npy": labels, "a/train_images.npy": images, "a/train_labels.npy": floats},
			"a/test_labels.npy", `expected labels as in train_labels.npy, type "<f4", found "<i8"`},
		{files{"a/test_images.npy": images, "a/test_labels.npy": labels, "a/train_images.npy": npyFile("|u1", make([]uint8, 9), 3, 3),
			"a/train_labels.npy": labels}, "a/test_images.npy",
			`expected rows as in train_images.npy, type "|u1" and shape [3], found "|u1" and [2]`},
		{files{"a/test_images.npy": images, "a/test_labels.npy": labels, "a/train_images.npy": npyFile("<f4", make([]float32, 6), 3, 2),
			"a/train_labels.npy": labels}, "a/test_images.npy",
			`expected rows as in train_images.npy, type "<f4" and shape [2], found "|u1" and [2]`},
	} {
		dir := t.TempDir()
		for name, content := range c.files {
			writeFile(t, filepath.Join(dir, name), content)
		}
		_, err := ReadLayout(dir)
		wantFault(t, c.want, err, filepath.Join(dir, c.place)+":", c.want)
	}
	_, err := ReadLayout(filepath.Join(t.TempDir(), "none"))
	wantFault(t, "no folder", err, "none", "no such file")
	rows := &npy.Array{Header: npy.Header{Descr: "|u1", Shape: []int{1 << 31, 4}}, Cols: 4}
	wantFault(t, "more rows than indices", part{imagesPath: "images.npy", images: rows}.check(), "images.npy",
		"expected at most 2147483647 rows, found 2147483648")
}

// A file of 1 KB must not make the reader allocate what its header promises.
func TestNPYMemoryIsBounded(t *testing.T) {
	for _, promise := range []string{"(1099511627776,)", "(1048576, 1048576)", "(1024, 1024, 1024, 1024)", "(2147483647, 512)"} {
		for _, descr := range []string{"|u1", "<f2", "<f4", "<f8"} {
			dir := t.TempDir()
			text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, promise)
			path := writeFile(t, filepath.Join(dir, "a", "test_images.npy"), append([]byte("\x93NUMPY\x01\x00"+string(rune(len(text)))+"\x00"+text),
				make([]byte, 1024)...))
			writeFile(t, filepath.Join(dir, "a", "test_labels.npy"), npyFile("|u1", []uint8{0, 1}, 2))
			var err error
			if n := must.Allocated(func() { _, err = ReadLayout(dir) }); n > 2<<20 {
				t.Errorf("%s of %s: %d bytes allocated", promise, descr, n)
			}
			wantFault(t, promise, err, path)
		}
	}
}
