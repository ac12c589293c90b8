package columnar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// imageFiles writes two tables beside arrays of vectors of 24 bytes with these shapes, and returns their manifest.
func imageFiles(t *testing.T, shapes [2][]int) *manifest.Manifest {
	dir := t.TempDir()
	for i, shape := range shapes {
		n := 5 + i
		rows := "camera,defect\n" + strings.Repeat(fmt.Sprintf("c%d,ok\nc%d,hole\n", i, i), n)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(rows), 0o644))
		raw := append(npy.FormatHeader("|u1", append([]int{2 * n}, shape...)...), make([]byte, 2*n*24)...)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.npy", i)), raw, 0o644))
	}
	return parse(t, dir, "{files: [0.csv, 1.csv], columns: {source: camera, features: {file: [0.npy, 1.npy], join: row}}, "+
		"labels: [{column: defect, type: classes}]}")
}

// Vectors that are images of one size in every file keep their height and width, whatever number of them a file has.
func TestImagesKeepTheirSize(t *testing.T) {
	for _, c := range []struct {
		shapes [2][]int
		want   [2]int
	}{
		{[2][]int{{4, 6}, {4, 6}}, [2]int{4, 6}},
		{[2][]int{{4, 6, 1}, {4, 6}}, [2]int{4, 6}},
		{[2][]int{{1, 4, 6}, {4, 6}}, [2]int{4, 6}},
		{[2][]int{{1, 24, 1}, {1, 24, 1}}, [2]int{}},
		{[2][]int{{24}, {4, 6}}, [2]int{}},
		{[2][]int{{4, 6}, {24}}, [2]int{}},
		{[2][]int{{1, 24}, {1, 24}}, [2]int{}},
		{[2][]int{{24, 1}, {24, 1}}, [2]int{}},
		{[2][]int{{4, 2, 3}, {4, 2, 3}}, [2]int{4, 2}},
		{[2][]int{{2, 12, 1}, {24, 1}}, [2]int{}},
		{[2][]int{{2, 2, 6}, {2, 2, 6}}, [2]int{}},
		{[2][]int{{3, 1, 8}, {3, 1, 8}}, [2]int{}},
	} {
		m := imageFiles(t, c.shapes)
		out := filepath.Join(t.TempDir(), "out")
		must.Do(t, Import(t.Context(), m, out, nil))
		set := must.Get(Open(out))(t)
		for _, p := range set.Pools {
			must.Equal(t, [2]int{p.Height, p.Width}, c.want, "size of images of shapes %v", c.shapes)
		}
	}
}

// Vectors whose elements cannot mean the same are refused: images of another size, turned, or with channels first.
func TestShapesDiffer(t *testing.T) {
	for _, c := range []struct {
		shapes [2][]int
		says   string
	}{
		{[2][]int{{4, 6}, {6, 4}}, "4 by 6 as in 0.csv, found 6 by 4"},
		{[2][]int{{4, 2, 3}, {3, 4, 2}}, "4 by 2 by 3 as in 0.csv, found 3 by 4 by 2"},
		{[2][]int{{1, 4, 6}, {4, 2, 3}}, "4 by 6 as in 0.csv, found 4 by 2 by 3"},
	} {
		m, out := imageFiles(t, c.shapes), filepath.Join(t.TempDir(), "out")
		c.says = strings.Replace(c.says, "0.csv", filepath.Join(filepath.Dir(m.Path), "0.csv"), 1)
		must.Fail(t, c.says, must.Err(Import(t.Context(), m, out, nil)), "1.csv: expected arrays of "+c.says)
		must.Absent(t, out)
	}
}
