package columnar

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A folder with more classes, in another order, is read and hashed like one with the given classes, and refused where a label has a class
// that is not among these.
func TestReorderedClasses(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("source,y,x\ns,b,1\ns,a,2\ns,,3\nt,c,4\nt,a,5\n"), 0o644))
	folder := func(classes string) string {
		out := filepath.Join(dir, classes)
		must.Do(t, Import(t.Context(), parse(t, dir, "files: rows.csv\ncolumns: {source: source, features: x}\nlabels: [{column: y, classes: ["+
			classes+"]}]\ntarget: {source: t}\n"), out, nil))
		return out
	}
	three, four := folder("a, b, c"), folder("d, c, b, a")
	list := []string{"a", "b", "c"}
	want := must.Get(Digest(three))(t)
	must.Equal(t, must.Get(Digest(four, list))(t), want, "digest")
	must.Equal(t, must.Get(Digest(three, list))(t), want, "digest as of its own classes")
	must.Hold(t, must.Get(Digest(four))(t) != want, "the digests of other classes are the same")
	a, b := must.Get(OpenCandidates(three, "", 0))(t), must.Get(OpenCandidates(four, "", 0, list))(t)
	must.EqualSlices(t, b.Outputs[0].Classes, list, "classes")
	must.EqualSlices(t, names(b.Set), names(a.Set), "tasks")
	for i := range a.Known {
		must.Hold(t, slices.Equal(a.Known[i].Rows, b.Known[i].Rows) && slices.Equal(a.Known[i].Values, b.Known[i].Values), "known %+v and %+v",
			a.Known[i], b.Known[i])
	}
	c := must.Get(OpenCandidates(three, "", 0, []string{"a", "b", "c", "d"}))(t)
	must.EqualSlices(t, c.Known[1].Values, []float32{2, 0}, "labels with one class more")
	must.Fail(t, "fewer classes", must.Err(OpenCandidates(three, "", 0, []string{"a", "b"})),
		"expected labels among the classes a, b of output y")
}
