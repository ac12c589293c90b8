package columnar

import (
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/testrand"
)

// record is a row of made-up data. Its kind is empty where it has no label.
type record struct {
	id, source, kind, split string
	price                   float64
	features                []float32
}

func makeRecords(rng *rand.Rand, rows, sources, cols int) []record {
	records := make([]record, rows)
	for i := range records {
		s := rng.IntN(sources)
		r := record{
			id: fmt.Sprintf("r%d", i), source: fmt.Sprintf("s%d", s), kind: []string{"", "", "10", "9", "snö, \"x\""}[rng.IntN(5)],
			split: []string{"train", "test", "train", ""}[rng.IntN(4)], price: float64(1 + s%3),
		}
		for range cols {
			r.features = append(r.features, float32(rng.NormFloat64()))
		}
		records[i] = r
	}
	return records
}

// writeCSV writes records to CSV files with one column for each feature.
func writeCSV(t *testing.T, dir string, records []record, files int) {
	t.Helper()
	for part := range files {
		f := must.Get(os.Create(filepath.Join(dir, fmt.Sprintf("part-%d.csv", part))))(t)
		w := csv.NewWriter(f)
		head := []string{"id", "kind", "domain", "fold", "price", "place"}
		for j := range records[0].features {
			head = append(head, fmt.Sprintf("f%d", j))
		}
		must.Do(t, w.Write(head))
		lo, hi := part*len(records)/files, (part+1)*len(records)/files
		for i, r := range records[lo:hi] {
			row := []string{r.id, r.kind, r.source, r.split, fmt.Sprint(r.price), fmt.Sprint(lo + i)}
			for _, x := range r.features {
				row = append(row, strconv.FormatFloat(float64(x), 'g', -1, 32))
			}
			must.Do(t, w.Write(row))
		}
		w.Flush()
		must.Do(t, w.Error())
		must.Do(t, f.Close())
	}
}

// writeArrays writes the features of the CSV files as NPY: one file for each CSV file, and one for all.
func writeArrays(t *testing.T, dir string, records []record) {
	t.Helper()
	parts, cols := must.Get(filepath.Glob(filepath.Join(dir, "part-*.csv")))(t), len(records[0].features)
	for part, path := range parts {
		some := records[part*len(records)/len(parts) : (part+1)*len(records)/len(parts)]
		raw := npy.FormatHeader("<f4", len(some), cols)
		for _, r := range some {
			raw = must.Get(binary.Append(raw, binary.LittleEndian, r.features))(t)
		}
		must.Do(t, os.WriteFile(strings.TrimSuffix(path, ".csv")+".npy", raw, 0o644))
	}
	all := npy.FormatHeader("<f4", len(records), cols)
	for _, r := range records {
		all = must.Get(binary.Append(all, binary.LittleEndian, r.features))(t)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "all.npy"), all, 0o644))
}

const made = `files: part-*.csv
columns: {id: id, source: domain, features: "f[0-9]*", scale: none, split: fold, cost: price}
labels: [{column: kind}]
target: {source: s1}
sources: {exclude: s3, cost: {s2: 7}}
`

func parse(t *testing.T, dir, text string) *manifest.Manifest {
	t.Helper()
	return must.Get(manifest.Parse(filepath.Join(dir, "m.yaml"), []byte(text)))(t)
}

// An import holds, source by source and in the order of the files, what a slow
// reading of the same rows finds.
func TestImport(t *testing.T) {
	rng := testrand.New(t)
	for range 5 {
		dir := t.TempDir()
		records := makeRecords(rng, 200+rng.IntN(3000), 5, 1+rng.IntN(40))
		writeCSV(t, dir, records, 1+rng.IntN(3))
		out := filepath.Join(dir, "out")
		must.Do(t, Import(t.Context(), parse(t, dir, made), out, nil))
		set := must.Get(Open(out))(t)
		must.Do(t, set.Validate())
		compare(t, set, records, []string{"s0", "s2", "s4", "s1"}, []string{"9", "10", "snö, \"x\""})
		hash := set.Hash()
		writeArrays(t, dir, records)
		for i, features := range []string{"{file: \"part-*.npy\", join: row}", "{file: all.npy, join: id}"} {
			other := fmt.Sprint(out, i)
			text := strings.Replace(made, `"f[0-9]*"`, features, 1)
			if i == 1 {
				text = strings.Replace(text, "id: id", "id: place", 1)
			}
			must.Do(t, Import(t.Context(), parse(t, dir, text), other, nil))
			if got := must.Get(Open(other))(t); got.Hash() != hash {
				t.Errorf("with features %s the data are others", features)
			}
		}
		scaled := parse(t, dir, strings.Replace(made, "scale: none", "scale: feature", 1))
		must.Do(t, Import(t.Context(), scaled, out+"-scaled", nil))
		compareScaled(t, must.Get(Open(out+"-scaled"))(t), set)
		costs := map[string]float64{"s0": 1, "s1": 2, "s2": 7, "s4": 2}
		for _, p := range set.Pools {
			if p.Cost != costs[p.Name] || p.Target != (p.Name == "s1") {
				t.Errorf("pool %s costs %g, target %v", p.Name, p.Cost, p.Target)
			}
		}
		must.Hold(t, set.Name == "m" && set.Binary, "set %q, binary %v", set.Name, set.Binary)
	}
}

// compareScaled checks scaled features against the features in their units: each has mean 0 and spread 1 over all rows, and its centre and
// spread give back its values.
func compareScaled(t *testing.T, got, want *dataset.Set) {
	t.Helper()
	must.Do(t, got.Validate())
	cols, rows := got.Pools[0].Cols, 0.
	sum, squares := make([]float64, cols), make([]float64, cols)
	for i, p := range got.Pools {
		rows += float64(p.Rows)
		for e, x := range p.F32 {
			j := e % cols
			sum[j], squares[j] = sum[j]+float64(x), squares[j]+float64(x)*float64(x)
			back := float64(x)*got.Columns.Spread[j] + got.Columns.Centre[j]
			if w := float64(want.Pools[i].F32[e]); math.Abs(back-w) > 1e-5*(1+math.Abs(w)) {
				t.Fatalf("element %d of pool %s is %g in its units, want %g", e, p.Name, back, w)
			}
		}
	}
	for j := range cols {
		if mean, square := sum[j]/rows, squares[j]/rows; math.Abs(mean) > 1e-4 || math.Abs(square-1) > 1e-3 {
			t.Errorf("feature %d has mean %g and mean square %g", j, mean, square)
		}
	}
	must.Hold(t, len(want.Columns.Centre) == 0, "scale: none has the centres %v", want.Columns.Centre)
}

func compare(t *testing.T, set *dataset.Set, records []record, sources, classes []string) {
	t.Helper()
	if len(set.Pools) != len(sources) {
		t.Fatalf("%d pools, want %d", len(set.Pools), len(sources))
	}
	for i, source := range sources {
		p := set.Pools[i]
		var want []float32
		var rows []record
		for place, r := range records {
			if r.source == source {
				if id, row, err := p.Origin.Find(len(rows)); err != nil || id != r.id || row != int64(place) {
					t.Fatalf("row %d of %s is %q, row %d of the input, %v, want %q, %d", len(rows), source, id, row, err, r.id, place)
				}
				want, rows = append(want, r.features...), append(rows, r)
			}
		}
		if p.Name != source || p.Rows != len(rows) || !slices.Equal(p.F32, want) {
			t.Fatalf("pool %d is %s of %d rows, want %s of %d, or has other features", i, p.Name, p.Rows, source, len(rows))
		}
		for _, class := range classes {
			name := source + "_" + class
			task := &set.Tasks[must.Get(set.TaskIndex(name))(t)]
			var train, test []int32
			for j, r := range rows {
				if (task.Labels[j] == 1) != (r.kind == class) {
					t.Fatalf("task %s, row %d: label %v of kind %q", name, j, task.Labels[j], r.kind)
				}
				switch {
				case r.kind == "":
				case r.split == "test":
					test = append(test, int32(j))
				default:
					train = append(train, int32(j))
				}
			}
			if !slices.Equal(task.Train, train) || !slices.Equal(task.Test, test) || set.Pools[task.Pool] != p ||
				task.Output != (dataset.Output{Name: "kind", Class: class}) {
				t.Fatalf("task %s has other rows, another pool or output %v", name, task.Output)
			}
		}
	}
	must.Equal(t, len(set.Tasks), len(sources)*len(classes), "tasks")
}

// Without a split nothing is held out. With folds, a part of the target's labelled rows is held out and nothing of the sources, or without
// a target a part of each source.
func TestHeldOut(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	records := makeRecords(rng, 2000, 4, 2)
	writeCSV(t, dir, records, 1)
	labelled := map[string]int{}
	for _, r := range records {
		if r.kind != "" {
			labelled[r.source]++
		}
	}
	plain := strings.NewReplacer(", split: fold", "", "sources: {exclude: s3, cost: {s2: 7}}", "").Replace(made)
	for name, change := range map[string]struct {
		text string
		held func(source string) bool
		part int
	}{
		"target":    {plain, func(string) bool { return false }, 5},
		"folds":     {strings.Replace(plain, "s1", "s1, folds: 3", 1), func(s string) bool { return s == "s1" }, 3},
		"no target": {strings.Replace(plain, "target: {source: s1}", "target: {folds: 5}", 1), func(string) bool { return true }, 5},
	} {
		out := filepath.Join(dir, name)
		must.Do(t, Import(t.Context(), parse(t, dir, change.text), out, nil))
		set := must.Get(Open(out))(t)
		must.Do(t, set.Validate())
		for _, task := range set.Tasks {
			source := set.Pools[task.Pool].Name
			want := 0
			if change.held(source) {
				want = labelled[source] / change.part
			}
			if len(task.Test) != want || len(task.Train) != labelled[source]-want {
				t.Errorf("%s: task %s: %d train and %d test rows of %d labelled ones, want %d test rows", name, task.Name, len(task.Train),
					len(task.Test), labelled[source], want)
			}
		}
	}
}

// The same import again leaves the folder alone. Another import into it is refused, and a cancelled one leaves nothing behind.
func TestImportAgain(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	records := makeRecords(rng, 500, 5, 3)
	writeCSV(t, dir, records, 2)
	m := parse(t, dir, made)
	out := filepath.Join(dir, "out")
	must.Do(t, Import(t.Context(), m, out, nil))
	before := must.Get(os.Stat(filepath.Join(out, headerFile)))(t)
	must.Do(t, Import(t.Context(), m, out, func(int64, int64, string) { t.Error("it is read again") }))
	if after := must.Get(os.Stat(filepath.Join(out, headerFile)))(t); !os.SameFile(before, after) {
		t.Error("it is written again")
	}
	// The features of an import that is opened again are in the same memory, those of another import in its place are not.
	first, again := must.Get(Open(out))(t), must.Get(Open(out))(t)
	at := func(set *dataset.Set) *float32 { return unsafe.SliceData(set.Pools[1].F32) }
	must.Hold(t, runtime.GOOS == "windows" || at(first) == at(again), "an import that is opened twice is mapped twice")
	must.Do(t, os.RemoveAll(out))
	fewer := slices.Clone(records[:400])
	writeCSV(t, dir, fewer, 2)
	must.Do(t, Import(t.Context(), parse(t, dir, made), out, nil))
	must.Hold(t, at(must.Get(Open(out))(t)) != at(first), "another import has the memory of the first")
	other := parse(t, dir, strings.Replace(made, "s2: 7", "s2: 8", 1))
	must.Fail(t, "another manifest", Import(t.Context(), other, out, nil), out, "expected no folder or one of the same import")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, Import(ctx, other, filepath.Join(dir, "cancelled"), nil), context.Canceled, "cancelled")
	entries := must.Get(os.ReadDir(dir))(t)
	must.Equal(t, len(entries), 3, "what is left behind")
}
