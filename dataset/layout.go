package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/corrupt"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/text"
)

// ReadLayout reads a data set in the layout of MNIST-C: a folder for each pool with test_images.npy and test_labels.npy, or
// train_images.npy and train_labels.npy, or all four. Folders whose names start with a dot are left out. The pools are in alphabetical
// order; where all sixteen of MNIST-C are there, they come first, in the order of MNIST-C.
//
// Images are an array of rows: uint8 (features are pixel/255), float16, float32 or float64 (kept as float32), of at most 1e18 in magnitude.
// It is an error where float32 does not hold the differences between the values of a column, or between labels (see [finite.Digits]).
// All pools must have the same width. Labels are either integers (uint8, int32, int64) everywhere, which makes a 0/1 task
// "<folder>_<class>" for each pool and each class found in any pool, or floats everywhere, which makes one regression task "<folder>" for
// each pool.
//
// Where train and test are both there, they are the train and test rows of one pool, train rows first. Where only one is there, one row in
// five is held out by a permutation that depends on the number of rows alone: row i of pools that show the same base items is on the same
// side everywhere.
//
// Names with control characters are refused. A file takes memory in proportion to what it takes on disk: one with holes may promise at most
// 100 times as much, or 16 MiB if that is more.
//
// The set is named after the folder without its path: the same data in another place are the same data.
func ReadLayout(dir string) (*Set, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if name := filepath.Base(abs); !text.Printable(name) {
		return nil, fmt.Errorf("%q: expected a folder name without control characters", name)
	}
	names, err := layoutFolders(dir)
	if err != nil {
		return nil, err
	}
	splits := splitter{}
	pools := make([]labelled, len(names))
	var images, labels wide
	for i, name := range names {
		if pools[i], err = readFolder(filepath.Join(dir, name), name, splits, &images, &labels); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(images.check(dir, "images"), labels.check(dir, "labels")); err != nil {
		return nil, err
	}
	set, err := newSet(dir, pools)
	if err != nil {
		return nil, err
	}
	set.Name = filepath.Base(abs)
	return set, nil
}

// layoutFolders lists the folders of a layout in the order of its pools.
func layoutFolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string // sorted, as ReadDir returns them
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name())) // follows links
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			continue
		}
		if !text.Printable(e.Name()) {
			return nil, fmt.Errorf("%s: expected a folder name without control characters, found %q", dir, e.Name())
		}
		names = append(names, e.Name())
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: expected a folder for each pool with train_images.npy and train_labels.npy, test_images.npy and "+
			"test_labels.npy, or both, found no folder", dir)
	}
	mnistC := corrupt.Names()
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(mnistC, n) })
	if len(others)+len(mnistC) > len(names) {
		return names, nil
	}
	return append(mnistC, others...), nil
}

// part is the train or the test half of a folder.
type part struct {
	imagesPath, labelsPath string
	images, labels         *npy.Array
}

// readFolder reads one pool with its labels, and records the digits of those that are float64.
func readFolder(dir, name string, splits splitter, images, labels *wide) (l labelled, err error) {
	var parts []part
	for _, half := range []string{"train", "test"} {
		p := part{
			imagesPath: filepath.Join(dir, half+"_images.npy"),
			labelsPath: filepath.Join(dir, half+"_labels.npy"),
		}
		if there, err := p.exists(); err != nil {
			return l, err
		} else if !there {
			continue
		}
		if p.images, err = npy.Open(p.imagesPath); err != nil {
			return l, err
		}
		defer p.images.Close()
		if p.labels, err = npy.Open(p.labelsPath); err != nil {
			return l, err
		}
		defer p.labels.Close()
		if err := p.check(); err != nil {
			return l, err
		}
		p.images.Wide, p.labels.Wide = images.of(p.images), labels.of(p.labels)
		parts = append(parts, p)
	}
	switch len(parts) {
	case 0:
		return l, fmt.Errorf("%s: expected train_images.npy or test_images.npy, found neither", dir)
	case 1:
		l.split, err = splits.held(parts[0].images.Rows())
		if err != nil {
			return l, fmt.Errorf("%s: %w", parts[0].imagesPath, err)
		}
	case 2:
		if err := parts[0].matches(parts[1]); err != nil {
			return l, err
		}
		l.split = splits.given(parts[0].images.Rows(), parts[1].images.Rows())
	}
	if l.pool, err = readPool(name, parts); err != nil {
		return l, err
	}
	l.shape = parts[0].images.Shape[1:]
	l.classes, l.values, err = readLabels(parts)
	return l, err
}

// exists reports whether both files of the part are there. It is an error when only one of them is.
func (p part) exists() (bool, error) {
	var found, missing []string
	for _, path := range []string{p.imagesPath, p.labelsPath} {
		switch _, err := os.Stat(path); {
		case err == nil:
			found = append(found, path)
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, path)
		default:
			return false, err
		}
	}
	if len(found) == 1 {
		return false, fmt.Errorf("%s: expected this file beside %s, found none", missing[0], filepath.Base(found[0]))
	}
	return len(found) == 2, nil
}

// check refuses images and labels that do not fit each other or cannot become a pool.
func (p part) check() error {
	if rank := len(p.images.Shape); rank < 2 || rank > 4 {
		return fmt.Errorf("%s: expected shape (n, d), (n, h, w) or (n, h, w, c), found %v", p.imagesPath, p.images.Shape)
	}
	if rows := p.images.Rows(); rows > math.MaxInt32 {
		return fmt.Errorf("%s: expected at most %d rows, found %d", p.imagesPath, math.MaxInt32, rows)
	}
	if d := p.images.Descr; d == "<i4" || d == "<i8" {
		return fmt.Errorf("%s: expected images of type uint8, float16, float32 or float64, found %q", p.imagesPath, d)
	}
	if rank := len(p.labels.Shape); rank > 2 || p.labels.Cols != 1 {
		return fmt.Errorf("%s: expected shape (n,), found %v", p.labelsPath, p.labels.Shape)
	}
	if p.labels.Rows() != p.images.Rows() {
		return fmt.Errorf("%s: expected %d labels, one for each row of %s, found %d", p.labelsPath, p.images.Rows(),
			filepath.Base(p.imagesPath), p.labels.Rows())
	}
	return nil
}

// matches returns an error where the train rows p and the test rows q cannot be rows of one pool.
func (p part) matches(q part) error {
	a, b := p.images, q.images
	if a.Descr != b.Descr || !slices.Equal(a.Shape[1:], b.Shape[1:]) {
		return fmt.Errorf("%s: expected rows as in %s, type %q and shape %v, found %q and %v", b.Path, filepath.Base(a.Path), a.Descr,
			a.Shape[1:], b.Descr, b.Shape[1:])
	}
	if a.Rows() > math.MaxInt32-b.Rows() || a.Rows()+b.Rows() > math.MaxInt/a.Cols {
		return fmt.Errorf("%s: expected at most %d train and test rows, found %d and %d", b.Path, math.MaxInt32, a.Rows(), b.Rows())
	}
	if p.labels.IsInteger() != q.labels.IsInteger() {
		return fmt.Errorf("%s: expected labels as in %s, type %q, found %q", q.labelsPath, filepath.Base(p.labelsPath),
			p.labels.Descr, q.labels.Descr)
	}
	return nil
}

// readPool reads the images of all parts into one pool.
func readPool(name string, parts []part) (*Pool, error) {
	first := parts[0].images
	p := &Pool{Name: name, Cols: first.Cols, Scale: 1}
	for _, q := range parts {
		p.Rows += q.images.Rows()
	}
	p.Height, p.Width = table.ImageOf(first.Shape[1:])
	images, err := func(q part) *npy.Array { return q.images }, error(nil)
	switch first.Descr {
	case "|u1":
		p.Scale = 1. / 255
		p.U8, err = joined(parts, images, (*npy.Array).Uint8s)
	case "<f2":
		p.F16, err = joined(parts, images, (*npy.Array).Float16s)
	default:
		p.F32, err = joined(parts, images, func(a *npy.Array, dst []float32) error { return a.Bounded(dst, maxFeature) })
	}
	return p, err
}

// readLabels reads the labels of all parts, as classes or as values.
func readLabels(parts []part) (classes []int64, values []float32, err error) {
	labels := func(p part) *npy.Array { return p.labels }
	if parts[0].labels.IsInteger() {
		classes, err = joined(parts, labels, (*npy.Array).Int64s)
	} else {
		values, err = joined(parts, labels, (*npy.Array).Float32s)
	}
	return classes, values, err
}

// joined reads one array of each part and concatenates them.
func joined[E any](parts []part, array func(part) *npy.Array, read func(*npy.Array, []E) error) ([]E, error) {
	n := 0
	for _, p := range parts {
		n += array(p).Rows() * array(p).Cols
	}
	all := make([]E, n)
	for rest := all; len(parts) > 0; parts = parts[1:] {
		a := array(parts[0])
		if err := read(a, rest[:a.Rows()*a.Cols]); err != nil {
			return nil, err
		}
		rest = rest[a.Rows()*a.Cols:]
	}
	return all, nil
}
