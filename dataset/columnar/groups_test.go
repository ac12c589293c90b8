package columnar

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func groupsIn(t *testing.T, dir, columns, more string) (out string, err error) {
	t.Helper()
	out = filepath.Join(dir, "out")
	m, err := manifest.Parse(filepath.Join(dir, "m.yaml"),
		[]byte("{files: [rows.*], columns: {source: shop, features: x"+columns+"}, labels: [{column: y, type: number}]"+more+"}"))
	if err != nil {
		return out, err
	}
	return out, Import(t.Context(), m, out, nil)
}

// A group is the same in all sources and files, and a whole number names the same group with and without zero decimals. A row without a
// word for the group is on its own.
func TestImportGroups(t *testing.T) {
	dir := t.TempDir()
	rows := "shop,who,y,x\nb,7,1,1\na,ann,2,2\nb,,3,3\nb,ann,4,4\na,7.0,5,5\na,NA,6,6\nb, ,7,7\na,0,8,8\nb,07,9,9\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
	out, err := groupsIn(t, dir, ", group: who", "")
	must.Do(t, err)
	set := must.Get(Open(out))(t)
	must.EqualSlices(t, set.Pools[0].Groups, []int32{1, 0, -1, 2}, "groups of a")
	must.EqualSlices(t, set.Pools[1].Groups, []int32{0, -1, 1, -1, 3}, "groups of b")
	must.Do(t, set.Validate())
	digest := must.Get(Digest(out))(t)
	must.Do(t, os.RemoveAll(out))
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(strings.Replace(rows, "a,ann", "a,7", 1)), 0o644))
	moved, err := groupsIn(t, dir, ", group: who", "")
	must.Do(t, err)
	must.Hold(t, must.Get(Digest(moved))(t) != digest, "a row of another group changes no digest")
	must.Do(t, os.RemoveAll(out))
	plain, err := groupsIn(t, dir, "", "")
	must.Do(t, err)
	without := must.Get(Open(plain))(t)
	must.Hold(t, without.Pools[0].Groups == nil && without.Hash() != set.Hash() && must.Get(Digest(plain))(t) != digest,
		"data without groups are those with")
	must.Hold(t, !strings.Contains(string(must.Get(os.ReadFile(filepath.Join(plain, headerFile)))(t)), "group"), "the header has groups")
	must.Do(t, os.RemoveAll(out))
	for columns, want := range map[string]string{
		", group: whom": "whom", ", group: (file)": "columns: group: expected the name of a column, found \"(file)\"",
		", group: y":     "columns: group: expected a column that is no label, found \"y\"",
		", group: [who]": "line 1: expected the name of a column",
	} {
		_, err := groupsIn(t, dir, columns, "")
		must.Fail(t, columns, err, want)
	}
}

// Ids of groups in Parquet may be integers or floating-point numbers, into which missing cells turn integers.
func TestImportGroupsOfNumbers(t *testing.T) {
	type integers struct {
		Shop string  `parquet:"shop"`
		Who  int64   `parquet:"who"`
		Y    float64 `parquet:"y"`
		X    float64 `parquet:"x"`
	}
	type numbers struct {
		Shop string   `parquet:"shop"`
		Who  *float64 `parquet:"who,optional"`
		Y    float64  `parquet:"y"`
		X    float64  `parquet:"x"`
	}
	dir, twelve := t.TempDir(), 12.0
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.1.parquet"), []integers{{"a", 12, 1, 1}, {"a", 5, 2, 2}}))
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.2.parquet"), []numbers{{"a", &twelve, 3, 3}, {"a", nil, 4, 4}}))
	out, err := groupsIn(t, dir, ", group: who", "")
	must.Do(t, err)
	must.EqualSlices(t, must.Get(Open(out))(t).Pools[0].Groups, []int32{0, 1, 0, -1}, "groups")
}

// Where folds hold rows of the target out, these are whole groups with about a fifth of the rows.
func TestFoldsHoldGroupsOut(t *testing.T) {
	rng := testrand.New(t)
	for range 10 {
		dir, groups, people := t.TempDir(), map[string][]int{}, 2+rng.IntN(20)
		var rows strings.Builder
		rows.WriteString("shop,who,y,x\n")
		n := 20 + rng.IntN(40)
		for i := range n {
			who := fmt.Sprint("p", rng.IntN(people))
			groups[who] = append(groups[who], i)
			fmt.Fprintf(&rows, "t,%s,%d,%d\ns,,%d,%d\n", who, i, i, i, i)
		}
		if len(groups) < 2 {
			continue
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows.String()), 0o644))
		out, err := groupsIn(t, dir, ", group: who", ", target: {source: t, folds: 5}")
		must.Do(t, err)
		set := must.Get(Open(out))(t)
		target, pool := set.Tasks[len(set.Tasks)-1], set.Pools[1]
		least, held := n, func(r int32) int32 { return pool.Groups[r] }
		for _, of := range groups {
			least = min(least, len(of))
		}
		must.Hold(t, len(target.Test) > 0 && len(target.Test) <= max(least, max(1, n/5)) && len(target.Train)+len(target.Test) == n,
			"%d of %d rows in %d groups are held out", len(target.Test), n, len(groups))
		for _, r := range target.Test {
			must.Hold(t, !slices.ContainsFunc(target.Train, func(o int32) bool { return held(o) == held(r) }), "row %d is apart from its group", r)
		}
		// The candidates of a study have the same groups.
		must.EqualSlices(t, must.Get(OpenCandidates(out, "", 0))(t).Set.Pools[1].Groups, pool.Groups, "groups of candidates")
	}
}
