package dataset

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/text"
)

// WriteLayout writes pools of 28 by 28 images that show the same base items in the layout of MNIST-C, for [ReadLayout] and for NumPy. For
// each pool it writes dir/<name>/test_images.npy, uint8 of shape (n, 28, 28, 1), and dir/<name>/test_labels.npy, int64 of shape (n,);
// images[p] holds the n*784 pixels of pool names[p].
//
// Folders are made as needed. A file that already has the content is left as it is; where any file has other content, WriteLayout returns
// an error and writes nothing. Each file appears complete or not at all, labels before images.
func WriteLayout(dir string, names []string, images [][]uint8, labels []uint8) error {
	const side = 28
	n := len(labels)
	if len(names) != len(images) || len(images) == 0 || n == 0 {
		return fmt.Errorf("%s: expected as many names as pools, at least one, and labels, found %d names, %d pools and %d labels", dir,
			len(names), len(images), n)
	}
	for p, name := range names {
		if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) || !text.Printable(name) ||
			slices.Contains(names[:p], name) {
			return fmt.Errorf("%s: pool %d: expected a folder name of its own without slashes, control characters and leading dot, found %q", dir, p,
				name)
		}
		if len(images[p]) != n*side*side {
			return fmt.Errorf("%s: pool %s: expected %d pixels for %d labels, found %d", dir, name, n*side*side, n, len(images[p]))
		}
	}
	wide := make([]byte, 0, 8*n)
	for _, l := range labels {
		wide = binary.LittleEndian.AppendUint64(wide, uint64(l))
	}
	type file struct {
		path    string
		content [][]byte
	}
	if err := atomicfile.MkdirAll(dir); err != nil {
		return err
	}
	unlock, err := filelock.Folder(dir)
	if err != nil {
		return err
	}
	defer unlock()
	var missing []file
	for p, name := range names {
		for _, f := range []file{
			{filepath.Join(dir, name, "test_labels.npy"), [][]byte{npy.FormatHeader("<i8", n), wide}},
			{filepath.Join(dir, name, "test_images.npy"), [][]byte{npy.FormatHeader("|u1", n, side, side, 1), images[p]}},
		} {
			exists, same, err := sameContent(f.path, f.content...)
			if err != nil {
				return err
			}
			if exists && !same {
				return fmt.Errorf("%s: expected no file or one with the same content, found another; nothing was written", f.path)
			}
			if !exists {
				missing = append(missing, f)
			}
		}
	}
	for _, f := range missing {
		if err := atomicfile.MkdirAll(filepath.Dir(f.path)); err != nil {
			return err
		}
		if err := atomicfile.Write(f.path, f.content...); err != nil {
			return err
		}
	}
	return nil
}
