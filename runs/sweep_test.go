package runs

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// smallSweep returns a sweep of 2 targets, 2 budgets and 2 seeds.
func smallSweep(t testing.TB) (*pipeline.Resident, Identity) {
	dev := openDevice(t, 2, smallSet(41, 4, 250, 5, false))
	cfg := smallConfig()
	cfg.Schedule.Epochs, cfg.ERM.Iterations = 2, 6
	id := identityOf(dev, cfg, []string{"bytes_2", "floats_1"}, 3, 4)
	id.Budgets = []float64{150, 300}
	return dev, id
}

func mustSweep(t testing.TB, dev *pipeline.Resident, id Identity, dir string, jobs int) *Summary {
	t.Helper()
	return must.Get(Sweep(t.Context(), dev, id, dir, jobs, nil))(t)
}

// A sweep of one target and seed has the intervals over rows of its runs, at each budget.
func TestSweepOfOneComparesRows(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds, id.Config.Head.Prior = id.Targets[:1], id.Seeds[:1], pipeline.PriorSources
	dir := t.TempDir()
	sum := mustSweep(t, dev, id, dir, 1)
	compared := 0
	for _, u := range id.Units() {
		var r Result
		must.Do(t, jsonfile.Read(filepath.Join(dir, "results", u.Name()+".json"), 1<<20, &r))
		for _, want := range r.Comparisons {
			for _, c := range sum.Comparisons {
				if c.Budget == u.Budget && c.A == want.A && c.B == want.B {
					compared++
					must.Hold(t, c.Interval != nil, "%s over %s at %g has no interval", c.A, c.B, c.Budget)
					must.Equal(t, *c.Interval, *want.Interval, "the interval of %s over %s at %g", c.A, c.B, c.Budget)
				}
			}
		}
	}
	must.Hold(t, compared == len(id.Budgets), "%d comparisons", compared)
}

func TestSweepBytesDoNotDependOnJobs(t *testing.T) {
	dev, id := smallSweep(t)
	var want map[string]string
	var first *Summary
	for _, jobs := range []int{1, 2, 5, 0} {
		dir := t.TempDir()
		sum := mustSweep(t, dev, id, dir, jobs)
		if want == nil {
			want, first = foldertest.Read(t, dir), sum
			continue
		}
		foldertest.Equal(t, fmt.Sprintf("%d jobs", jobs), foldertest.Read(t, dir), want)
		if !reflect.DeepEqual(sum, first) {
			t.Errorf("%d jobs: the summary is %+v, want %+v", jobs, sum, first)
		}
	}
	var names []string
	for _, u := range id.Units() {
		names = append(names, filepath.Join("results", u.Name()+".json"))
	}
	names = append(names, "config.json", "results.csv", "summary.json")
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(want)); len(names) != 11 || !slices.Equal(got, names) {
		t.Errorf("the folder has %v, want %v", got, names)
	}
}

// A unit of a sweep is the run of the same target, budget and seed.
func TestSweepUnitsAreRuns(t *testing.T) {
	dev, id := smallSweep(t)
	dir := t.TempDir()
	var steps []SweepStep
	sum := must.Get(Sweep(t.Context(), dev, id, dir, 1, func(s SweepStep) { steps = append(steps, s) }))(t)
	results := map[Unit]*Result{}
	for i, u := range id.Units() {
		cfg := cloneConfig(id.Config)
		cfg.Schedule.Budget = u.Budget
		res := mustRun(t, dev, identityOf(dev, cfg, []string{u.Target}, u.Seed), t.TempDir())
		res.Files, res.SHA256 = nil, steps[i].Result.SHA256 // a unit of a sweep has no other files
		if res.Target != u.Target || res.Seed != u.Seed || res.Budget != u.Budget {
			t.Errorf("%+v: the result is of %s, %d, %g", u, res.Target, res.Seed, res.Budget)
		}
		if s := steps[i]; s.Unit != u || !reflect.DeepEqual(s.Result, res) || s.Done != i+1 || s.Total != 8 || s.Resumed {
			t.Errorf("step %d: %+v, want %+v", i, s, res)
		}
		stored, err := readResult(filepath.Join(dir, "results", u.Name()+".json"), u, id.Config.Methods)
		if err != nil || !reflect.DeepEqual(stored, res) {
			t.Errorf("%s: %+v, %v, want %+v", u.Name(), stored, err, res)
		}
		results[u] = res
	}

	// The table has a row for each unit and method.
	raw := must.Get(os.ReadFile(filepath.Join(dir, "results.csv")))(t)
	rows := must.Get(csv.NewReader(bytes.NewReader(raw)).ReadAll())(t)
	if len(rows) != 1+8*2 {
		t.Fatalf("results.csv has %d rows", len(rows))
	}
	for i, row := range rows[1:] {
		u := id.Units()[i/2]
		m := results[u].Methods[i%2]
		num := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		want := []string{u.Target, fmt.Sprint(u.Seed), num(u.Budget), m.Method, fmt.Sprint(m.Samples), num(m.Cost), fmt.Sprint(m.Iterations),
			num(m.Objective), num(m.TargetLoss), m.Score.Metric, num(m.Score.Value)}
		if !slices.Equal(row, want) {
			t.Errorf("row %d is %v, want %v", i+1, row, want)
		}
	}

	// The summary averages over targets and seeds, and compares by target.
	var stored Summary
	raw = must.Get(os.ReadFile(filepath.Join(dir, "summary.json")))(t)
	if err := json.Unmarshal(raw, &stored); err != nil || !reflect.DeepEqual(&stored, sum) {
		t.Errorf("summary.json holds %+v, %v, want %+v", stored, err, sum)
	}
	if len(sum.Methods) != 4 || len(sum.Comparisons) != 2 || sum.Metric != pipeline.MetricMSE || sum.Data != "small set" {
		t.Fatalf("the summary is %+v", sum)
	}
	for i, budget := range id.Budgets {
		for j, method := range []string{pipeline.Active, pipeline.Uniform} {
			value, samples := 0.0, 0.0
			for u, r := range results {
				if u.Budget == budget {
					value += r.Method(method).Score.Value / 4
					samples += float64(r.Method(method).Samples) / 4
				}
			}
			m := sum.Methods[2*i+j]
			if m.Method != method || m.Budget != budget || m.Runs != 4 || !near(m.Value, value, 1e-12) || !near(m.Samples, samples, 1e-12) {
				t.Errorf("%s at %g: %+v, want %g samples and %g", method, budget, m, samples, value)
			}
		}
		c := sum.Comparisons[i]
		if c.Budget != budget || c.A != pipeline.Active || c.B != pipeline.Uniform || c.Targets != 2 ||
			!near(c.Difference, sum.Methods[2*i+1].Value-sum.Methods[2*i].Value, 1e-12) {
			t.Errorf("the comparison at %g is %+v", budget, c)
		}
	}
}

// A sweep that was stopped after any number of units goes on with the others.
func TestSweepResumes(t *testing.T) {
	dev, id := smallSweep(t)
	clean := t.TempDir()
	mustSweep(t, dev, id, clean, 2)
	want := foldertest.Read(t, clean)
	for _, jobs := range []int{1, 3} {
		for stop := 1; stop+jobs <= 8; stop += 2 {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			_, err := Sweep(ctx, dev, id, dir, jobs, func(s SweepStep) {
				if s.Done == stop {
					cancel()
				}
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled after %d units: %v", stop, err)
			}
			must.Absent(t, filepath.Join(dir, "summary.json"))
			had := foldertest.Read(t, dir)
			resumed, fresh := 0, 0
			must.Get(Sweep(t.Context(), dev, id, dir, jobs, func(s SweepStep) {
				_, was := had[filepath.Join("results", s.Unit.Name()+".json")]
				if s.Resumed != was {
					t.Errorf("%s: resumed is %v", s.Unit.Name(), s.Resumed)
				}
				resumed += b2i(s.Resumed)
				fresh += b2i(!s.Resumed)
			}))(t)
			if resumed < stop || resumed+fresh != 8 {
				t.Errorf("stopped after %d units: %d were read, %d carried out", stop, resumed, fresh)
			}
			foldertest.Equal(t, fmt.Sprintf("%d jobs, stopped after %d units", jobs, stop), foldertest.Read(t, dir), want)
		}
	}
	// Once more over the finished folder.
	again := mustSweep(t, dev, id, clean, 1)
	if again == nil || len(again.Methods) != 4 {
		t.Errorf("a finished sweep gives %+v", again)
	}
	foldertest.Equal(t, "swept twice", foldertest.Read(t, clean), want)
}

// A sweep that is stopped between two units, for whatever reason, ends with the error of its context. One that is stopped after the last
// unit has finished.
func TestSweepStoppedForAReason(t *testing.T) {
	dev, id := smallSweep(t)
	units := len(id.Units())
	for _, jobs := range []int{1, 2} {
		for _, stop := range []int{0, 1, 3, units} {
			dir := t.TempDir()
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("the machine goes down")
			if stop == 0 {
				cancel(reason)
			}
			_, err := Sweep(ctx, dev, id, dir, jobs, func(s SweepStep) {
				if s.Done == stop {
					cancel(reason)
				}
			})
			cancel(nil)
			if stop == units {
				must.Do(t, err)
				continue
			}
			must.Is(t, err, context.Canceled, "%d jobs, stopped after %d units", jobs, stop)
			must.Absent(t, filepath.Join(dir, "summary.json"))
		}
	}
}

func TestSweepAcrossNothing(t *testing.T) {
	_, id := smallSweep(t)
	dir := filepath.Join(t.TempDir(), "new")
	for _, none := range [][]*pipeline.Resident{nil, {}} {
		must.Fail(t, "no device", must.Err(SweepAcross(t.Context(), none, id, dir, 2, nil, nil)), "expected a device at least, found none")
	}
	must.Absent(t, dir)
}

// A unit that was begun goes on from its checkpoint, after any epoch.
func TestSweepResumesUnits(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds = id.Targets[:1], id.Seeds[:1]
	clean := t.TempDir()
	mustSweep(t, dev, id, clean, 1)
	files := foldertest.Read(t, clean)
	s := id.Units()[1]
	key := must.Get(id.Of(s).Digest())(t)
	p := must.Get(id.problem(dev.Set, s))(t)
	u := must.Get(pipeline.NewLearner(dev, p))(t)
	defer u.Close()
	for stop := 1; stop <= 3; stop++ {
		dir := t.TempDir()
		errStop := errors.New("stop")
		path := filepath.Join(dir, "checkpoint", s.Name()+".safetensors")
		_, err := u.Solve(context.Background(), pipeline.State{}, quiet, func(st pipeline.State) error {
			if len(st.Epochs) < stop {
				return nil
			}
			return errors.Join(checkpoint{path: path, id: key + "/" + s.Name()}.save(st), errStop)
		})
		if !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		raw := must.Get(os.ReadFile(path))(t)
		mustSweep(t, dev, id, dir, 2)
		foldertest.Equal(t, fmt.Sprintf("unit stopped after %d epochs", stop), foldertest.Read(t, dir), files)

		// The checkpoint is really read: of a damaged one the unit begins anew and says so, and that of another unit is refused.
		raw[len(raw)-1] ^= 1
		bad := restored(t, map[string]string{filepath.Join("checkpoint", s.Name()+".safetensors"): string(raw)})
		damaged := map[Unit]string{}
		must.Get(Sweep(t.Context(), dev, id, bad, 1, func(step SweepStep) {
			if step.Damaged != nil {
				damaged[step.Unit] = step.Damaged.Path
			}
		}))(t)
		want := map[Unit]string{s: filepath.Join(bad, "checkpoint", s.Name()+".safetensors")}
		must.Hold(t, maps.Equal(damaged, want), "damaged checkpoints: %v, want %v", damaged, want)
		foldertest.Equal(t, "a unit that began anew", foldertest.Read(t, bad), files)
		raw[len(raw)-1] ^= 1
		foreign := restored(t, map[string]string{filepath.Join("checkpoint", id.Units()[0].Name()+".safetensors"): string(raw)})
		must.Fail(t, "another unit's checkpoint", must.Err(Sweep(t.Context(), dev, id, foreign, 1, func(SweepStep) {})), "other work")
	}
}

// A unit that fails stops the sweep; what was finished stays as it was.
func TestSweepErrorLeavesResults(t *testing.T) {
	dev := openDevice(t, 2, smallSet(42, 4, 250, 5, false))
	cfg := smallConfig()
	cfg.ERM.Iterations = 4
	id := identityOf(dev, cfg, []string{"bytes_0", "floats_1", "bytes_2"}, 1)
	dir := t.TempDir()
	full := true
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if full && op == atomicfile.OpRename && path == filepath.Join(dir, "results", id.Units()[1].Name()+".json") {
			return &fs.PathError{Op: "rename", Path: path, Err: syscall.ENOSPC}
		}
		return nil
	})
	must.Fail(t, "a second unit that cannot write", must.Err(Sweep(t.Context(), dev, id, dir, 1, func(SweepStep) {})), "floats_1")
	name := filepath.Join("results", id.Units()[0].Name()+".json")
	got := foldertest.Read(t, dir)
	if _, ok := got[name]; !ok {
		t.Fatalf("the first unit's result is missing: %v", slices.Sorted(maps.Keys(got)))
	}
	if _, ok := got["summary.json"]; ok {
		t.Error("there is a summary")
	}
	full = false
	must.Get(Sweep(t.Context(), dev, id, dir, 1, func(s SweepStep) {
		if s.Resumed != (s.Unit == id.Units()[0]) {
			t.Errorf("%s: resumed %v", s.Unit.Name(), s.Resumed)
		}
	}))(t)
	if after := foldertest.Read(t, dir); after[name] != got[name] {
		t.Error("the first unit's result has changed")
	}
}

// A unit that cannot be carried out is reported before any other is.
func TestSweepChecksEveryUnitFirst(t *testing.T) {
	set := smallSet(42, 4, 250, 5, false)
	set.Tasks[1].Train = set.Tasks[1].Train[:19]
	dev := openDevice(t, 2, set)
	id := identityOf(dev, smallConfig(), []string{"bytes_0", "floats_1", "bytes_2"}, 1)
	dir := filepath.Join(t.TempDir(), "new")
	_, err := Sweep(t.Context(), dev, id, dir, 1, func(s SweepStep) { t.Errorf("%s was carried out", s.Unit.Name()) })
	must.Fail(t, "a second target of too few rows", err, "floats_1")
	must.Absent(t, dir)
}

func TestSweepRefusesOtherWork(t *testing.T) {
	dev, id := smallSweep(t)
	id.Budgets, id.Targets = id.Budgets[:1], id.Targets[:1]
	dir := t.TempDir()
	mustSweep(t, dev, id, dir, 1)
	want := foldertest.Read(t, dir)
	for field, change := range map[string]func(*Identity){
		"targets":      func(i *Identity) { i.Targets = []string{"bytes_0"} },
		"config.k":     func(i *Identity) { i.Config.K, i.Seeds = i.Config.K+1, []uint64{3, 4, 5} },
		"the data are": func(i *Identity) { i.Data.SHA256, i.Seeds = "00ff", []uint64{3, 4, 5} },
		"budgets":      func(i *Identity) { i.Budgets, i.Seeds = nil, []uint64{3, 4, 5} },
	} {
		other := id
		change(&other)
		must.Fail(t, field+" changed", must.Err(Sweep(t.Context(), dev, other, dir, 1, func(SweepStep) {})), field)
	}
	foldertest.Equal(t, "after refusals", foldertest.Read(t, dir), want)
}

// Several devices of one model leave the same files as one device.
func TestSweepAcross(t *testing.T) {
	dev, id := smallSweep(t)
	want, got := t.TempDir(), t.TempDir()
	mustSweep(t, dev, id, want, 1)
	devices := []*pipeline.Resident{dev}
	for range 2 {
		devices = append(devices, openDevice(t, 2, dev.Set))
	}
	lost := func(device int, err error) { t.Errorf("device %d is lost: %v", device, err) }
	must.Get(SweepAcross(t.Context(), devices, id, got, 2, func(SweepStep) {}, lost))(t)
	foldertest.Same(t, got, want)
}
