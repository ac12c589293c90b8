package columnar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// Vectors that are images of one size in every file keep their height and width, whatever number of them a file has.
func TestImagesKeepTheirSize(t *testing.T) {
	for _, c := range []struct {
		shapes [2][]int
		want   [2]int
	}{
		{[2][]int{{4, 6}, {4, 6}}, [2]int{4, 6}},
		{[2][]int{{4, 6, 1}, {4, 6}}, [2]int{4, 6}},
		{[2][]int{{1, 4, 6}, {4, 6}}, [2]int{4, 6}},
		{[2][]int{{4, 6}, {6, 4}}, [2]int{}},
		{[2][]int{{1, 24, 1}, {1, 24, 1}}, [2]int{}},
		{[2][]int{{24}, {4, 6}}, [2]int{}},
		{[2][]int{{4, 6}, {24}}, [2]int{}},
		{[2][]int{{1, 24}, {1, 24}}, [2]int{}},
		{[2][]int{{24, 1}, {24, 1}}, [2]int{}},
		{[2][]int{{4, 2, 3}, {4, 2, 3}}, [2]int{4, 2}},
		{[2][]int{{4, 2, 3}, {4, 3, 2}}, [2]int{}},
		{[2][]int{{3, 4, 2}, {4, 2, 3}}, [2]int{}},
		{[2][]int{{2, 2, 6}, {2, 2, 6}}, [2]int{}},
		{[2][]int{{3, 1, 8}, {3, 1, 8}}, [2]int{}},
	} {
		dir := t.TempDir()
		for i, shape := range c.shapes {
			n := 5 + i
			rows := "camera,defect\n" + strings.Repeat(fmt.Sprintf("c%d,ok\nc%d,hole\n", i, i), n)
			must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(rows), 0o644))
			raw := append(npy.FormatHeader("|u1", append([]int{2 * n}, shape...)...), make([]byte, 2*n*24)...)
			must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.npy", i)), raw, 0o644))
		}
		m := parse(t, dir, "{files: [0.csv, 1.csv], columns: {source: camera, features: {file: [0.npy, 1.npy], join: row}}, "+
			"labels: [{column: defect, type: classes}]}")
		out := filepath.Join(dir, "out")
		must.Do(t, Import(t.Context(), m, out, nil))
		set := must.Get(Open(out))(t)
		for _, p := range set.Pools {
			must.Equal(t, [2]int{p.Height, p.Width}, c.want, "size of images of shapes %v", c.shapes)
		}
	}
}
