package study

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// fixture is a study of three sources and a target whose rows have no labels but the target's.
type fixture struct {
	*Study
	folder string
	labels map[string]string
	clock  time.Time
}

func newFixture(t *testing.T, rng *rand.Rand) *fixture {
	return newFixtureOf(t, rng, Settings{RoundBudget: 9}, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
}

// newFixtureOf makes a fixture with a budget whose rows have a label, and are held out, as is says.
func newFixtureOf(t *testing.T, rng *rand.Rand, settings Settings, is func(source string, i int) (labelled, held bool)) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{folder: filepath.Join(dir, "data"), labels: map[string]string{}, clock: time.Unix(1e9, 0)}
	rows := [][]string{{"id", "source", "label", "split", "x0", "x1", "x2"}}
	for _, source := range []string{"a", "b", "c", "t"} {
		for i := range 40 {
			id, label, at := source+strconv.Itoa(i), []string{"no", "yes"}[i%2], float64(i%2)*3
			f.labels[id] = label
			labelled, held := is(source, i)
			if !labelled {
				label = ""
			}
			row := []string{id, source, label, map[bool]string{true: "test", false: "train"}[held]}
			for range 3 {
				row = append(row, fmt.Sprintf("%.3f", at+rng.NormFloat64()))
			}
			rows = append(rows, row)
		}
	}
	file := must.Get(os.Create(filepath.Join(dir, "rows.csv")))(t)
	must.Do(t, csv.NewWriter(file).WriteAll(rows))
	must.Do(t, file.Close())
	path := filepath.Join(dir, "rows.yaml")
	must.Do(t, os.WriteFile(path, []byte("files: rows.csv\ncolumns: {id: id, source: source, split: split, features: x*}\n"+
		"labels: [{column: label, classes: [no, yes]}]\ntarget: {source: t}\n"), 0o644))
	must.Do(t, columnar.Import(t.Context(), must.Get(manifest.Read(path))(t), f.folder, func(int64, int64, string) {}))
	data := must.Get(columnar.OpenCandidates(f.folder, "", 0))(t)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K, cfg.TargetSamples, cfg.Sources = 2, 12, pipeline.SourcesPools
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 1, Floor: 2, Budget: settings.RoundBudget}
	if settings.RoundBudget == 0 {
		cfg.Schedule.Epochs, cfg.Schedule.Budget = 2, 60
	}
	cfg = cfg.Complete(data.Set).Canonical()
	cfg.Methods = Methods(cfg.Methods)
	study := filepath.Join(dir, "S")
	settings.Data, settings.Target, settings.Config = Data{Path: path}, "t", cfg
	must.Do(t, Create(study, settings, f.folder, data))
	f.Study = f.open(t, study)
	return f
}

// open opens the folder anew, as another process would.
func (f *fixture) open(t *testing.T, dir string) *Study {
	t.Helper()
	s := must.Get(Open(dir))(t)
	must.Do(t, s.Attach(f.folder))
	s.now = func() time.Time { return f.clock }
	return s
}

// answers writes a file of answers.
func (f *fixture) answers(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(f.folder), name)
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	return path
}

func (f *fixture) answerAll(t *testing.T, name string, a *Asked) string {
	t.Helper()
	lines := []string{"id,label"}
	for _, r := range a.Rows {
		lines = append(lines, r.ID+","+f.labels[r.ID])
	}
	return f.answers(t, name, lines...)
}

func openCPU() (backend.Device, error) { return cpu.Open(1) }

// A disk that is full, or fails in another way, at any operation leaves a journal that is whole and nothing half told:
// what failed can be done again, and the study ends as one where nothing failed.
func TestFullDisk(t *testing.T) {
	rng := testrand.New(t)
	f := newFixture(t, rng)
	var fail func(op atomicfile.Op, path string) error
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if fail == nil || !strings.HasPrefix(path, f.Dir) {
			return nil
		}
		return fail(op, path)
	})
	learn := func(ctx context.Context) error { _, err := f.Learn(ctx, openCPU); return err }
	commands := []func(s *Study) error{
		func(s *Study) error { _, err := s.Ask(t.Context(), Request{Key: "one"}); return err },
		func(s *Study) error {
			a, err := s.Ask(t.Context(), Request{Key: "one"})
			if err == nil {
				_, err = s.Tell(t.Context(), f.answerAll(t, "one.csv", a), false)
			}
			return err
		},
		func(s *Study) error {
			_, err := s.Ask(t.Context(), Request{Key: "two", Expires: time.Hour, Learn: learn})
			return err
		},
	}
	for _, command := range commands {
		for at, failed := 0, true; failed; at++ {
			n := 0
			failed = false
			fail = func(op atomicfile.Op, path string) error {
				if op == atomicfile.OpRead {
					return nil
				}
				if n++; n == at+1 {
					failed = true
					return &os.PathError{Op: string(op), Path: path, Err: syscall.ENOSPC}
				}
				return nil
			}
			s := f.open(t, f.Dir)
			err := command(s)
			fail = nil
			if failed != (err != nil) {
				t.Fatalf("operation %d failed: %v, and the command: %v", at, failed, err)
			}
			if _, err := s.Status(); err != nil {
				t.Fatalf("after operation %d failed: %v", at, err)
			}
		}
	}
	s := f.open(t, f.Dir)
	device := must.Get(cpu.Open(1))(t)
	defer device.Close()
	if v := must.Get(s.Verify(t.Context(), device, func(int) {}))(t); v.Asks != 2 || v.Rounds != 1 || v.Events != 4 {
		t.Errorf("verified %+v, expected 2 asks and a round in 4 events", v)
	}
}

// The times of asks are those of the clock at the time, and once they are over, rows are free.
func TestExpiry(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{Expires: time.Hour}))(t)
	if want := f.clock.Add(time.Hour).UTC().Format(timeForm); a.Expires != want {
		t.Errorf("it expires at %s, expected %s", a.Expires, want)
	}
	f.clock = f.clock.Add(time.Hour - time.Second)
	if st := must.Get(f.Status())(t); st.Late != 0 || st.Pending != 9 {
		t.Errorf("a second before %+v", st)
	}
	f.clock = f.clock.Add(time.Second)
	if st := must.Get(f.Status())(t); st.Late != 9 {
		t.Errorf("at its time %+v", st)
	}
	b := must.Get(f.Ask(t.Context(), Request{}))(t)
	if !slices.EqualFunc(a.Rows, b.Rows, func(x, y AskedRow) bool { return x == y }) {
		t.Errorf("asked for %v, and after they expired for %v", a.Rows, b.Rows)
	}
	late := f.answers(t, "late.csv", "id,label", a.Rows[0].ID+","+f.labels[a.Rows[0].ID])
	if told := must.Get(f.Tell(t.Context(), late, false))(t); told.Labels != 1 || told.Pending != 8 {
		t.Errorf("a late answer: %+v", told)
	}
}

// Label Studio imports what an ask writes, and what it exports is told: the last annotation counts, cancelled ones skip.
func TestLabelStudio(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	raw := must.Get(a.LabelStudio())(t)
	var tasks []labelStudioTask
	must.Do(t, json.Unmarshal(raw, &tasks))
	if len(tasks) != len(a.Rows) || tasks[0].Data["id"] != a.Rows[0].ID {
		t.Fatalf("it imports %s", raw)
	}
	id := func(i int) string { return a.Rows[i].ID }
	export := `[
 {"id": 1, "data": {"id": "` + id(0) + `", "source": "` + a.Rows[0].Source + `"}, "annotations": [
  {"id": 7, "was_cancelled": false, "result": [{"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": ["no"]}}]},
  {"id": 8, "was_cancelled": false, "result": [{"from_name": "kind", "to_name": "text", "type": "choices",
	"value": {"choices": ["yes"]}}]}]},
 {"id": 2, "data": {"id": "` + id(1) + `"}, "annotations": [{"was_cancelled": true, "result": []}]},
 {"id": 3, "data": {"id": "` + id(2) + `"}, "annotations": []}]`
	told := must.Get(f.Tell(t.Context(), f.answers(t, "export.json", export), false))(t)
	if told.Labels != 1 || told.Skipped != 1 || told.Pending != len(a.Rows)-2 {
		t.Errorf("it told %+v", told)
	}
	_, st, err := f.load()
	must.Do(t, err)
	pool := f.places[a.Rows[0].Source]
	found := false
	for _, r := range st.rows[pool] {
		found = found || r.status == answered && f.labelText(r.values) == "yes"
	}
	if !found {
		t.Error("the last annotation is not the label")
	}
	for _, test := range []struct{ text, want string }{
		{`{}`, "expected the JSON that Label Studio exports"},
		{`[{"data": {}}]`, "task 0, data.id: expected the id of a row"},
		{`[{"data": {"id": "` + id(3) + `"}, "annotations": [{"result": [{"from_name": "kind", "value": {"choices": ["maybe"]}}]}]}]`,
			"task 0, kind: expected one of the classes no, yes, found \"maybe\""},
		{`[{"data": {"id": "` + id(3) + `"}, "annotations": [{"result": [{"from_name": "kind", "value": {"choices": ["no", "yes"]}}]}]}]`,
			"expected one choice, found 2"},
	} {
		_, err := f.Tell(t.Context(), f.answers(t, "wrong.json", test.text), false)
		must.Fail(t, test.text, err, test.want)
	}
}

// The floor of an ask is what its budget pays for, and samples that are there count.
func TestAffordable(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		n := 1 + rng.IntN(6)
		costs, have, limit := make([]float64, n), make([]int, n), make([]int, n)
		before := 0.0
		for m := range costs {
			costs[m], have[m] = float64(1+rng.IntN(3)), rng.IntN(5)
			limit[m] = have[m] + rng.IntN(5)
			before += costs[m] * float64(have[m])
		}
		floor, budget := rng.IntN(8), float64(rng.IntN(20))
		cost := func(f int) (sum float64) {
			for m, c := range costs {
				sum += c * float64(max(have[m], min(f, limit[m])))
			}
			return sum
		}
		got := affordable(costs, have, limit, floor, before+budget)
		if cost(got) > before+budget || got < floor && cost(got+1) <= before+budget || got > floor {
			t.Fatalf("floor %d of %d for costs %v, samples %v of %v, budget %g", got, floor, costs, have, limit, budget)
		}
	}
}

// The expected gain is that of the curve that made the losses, and its interval has it as often as it says.
func TestGain(t *testing.T) {
	rng := testrand.New(t)
	const targets, trials = 150, 120
	within := 0
	for range trials {
		c := &curve{metric: pipeline.MetricMSE, x: []float64{100, 200, 300, 400}}
		spread := make([]float64, targets) // the slope differs from row to row
		for i := range spread {
			spread[i] = 60 + 20*rng.NormFloat64()
		}
		for _, x := range c.x {
			l := &pipeline.Losses{Rows: targets, Sums: make([]float64, targets)}
			for i := range l.Sums {
				l.Sums[i] = 0.2 + spread[i]/x + 0.02*rng.NormFloat64()
			}
			c.losses = append(c.losses, l)
		}
		g, want := c.gain(500), 60*(1./400-1./500)
		if g.Low > g.Mean || g.High < g.Mean {
			t.Errorf("the interval of %g is %g to %g", g.Mean, g.Low, g.High)
		}
		if math.Abs(g.Mean-want) > 0.3*want {
			t.Errorf("a gain of %g, expected %g", g.Mean, want)
		}
		if g.Low <= want && want <= g.High {
			within++
		}
	}
	// 90 %, less five standard errors of so few trials.
	if within < trials*76/100 {
		t.Errorf("%d of %d intervals have the gain", within, trials)
	}
	one := []runs.RoundScore{{Cost: 5, Losses: &pipeline.Losses{Rows: 1, Sums: []float64{1}}}}
	if newCurve(one) != nil || newCurve(nil) != nil {
		t.Error("one round has a curve")
	}
}

// Two processes that learn at the same time learn one round, and nothing new is an error that says so.
func TestLearnOnce(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	must.Fail(t, "without labels", must.Err(f.Learn(t.Context(), openCPU)), "found 0 labelled rows of sources")
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), false))(t)
	results := make(chan error)
	for range 3 {
		s := f.open(t, f.Dir)
		go func() { _, err := s.Learn(context.Background(), openCPU); results <- err }()
	}
	learned := 0
	for range 3 {
		if err := <-results; err == nil {
			learned++
		} else if !errors.Is(err, ErrNothingNew) {
			t.Error(err)
		}
	}
	if learned != 1 {
		t.Errorf("%d of 3 learned the round, expected one", learned)
	}
}

// Labels of the target alone are nothing to learn from, and no reason to ask for nothing.
func TestAskWithoutSourceLabels(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	lines := []string{"id,label,status", "t30,yes,"}
	for _, r := range a.Rows {
		lines = append(lines, r.ID+",,skip")
	}
	if told := must.Get(f.Tell(t.Context(), f.answers(t, "skips.csv", lines...), false))(t); told.Skipped != 9 || told.Unasked != 1 {
		t.Errorf("it told %+v", told)
	}
	learn := func(ctx context.Context) error { _, err := f.Learn(ctx, openCPU); return err }
	b := must.Get(f.Ask(t.Context(), Request{Learn: learn}))(t)
	for _, r := range b.Rows {
		if slices.ContainsFunc(a.Rows, func(x AskedRow) bool { return x.ID == r.ID }) {
			t.Errorf("%s was given up, and is asked for", r.ID)
		}
	}
	if len(b.Rows) != 9 {
		t.Errorf("%d rows, expected 9", len(b.Rows))
	}
}

// A machine that died in the middle of a command leaves a lease that is taken over once it does not change any more, and
// one that is alive is waited for.
func TestAnotherMachine(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	f.times = lease.Timing{Beat: 10 * time.Millisecond, Stale: 100 * time.Millisecond, Settle: 10 * time.Millisecond}
	path := filepath.Join(f.Dir, "lease")
	beat := func(n int) {
		must.Do(t, atomicfile.Write(path, fmt.Appendf(nil, `{"nonce":"x","host":"far","boot":"another","pid":7,"attempt":0,"beat":%d}`, n)))
	}
	beat(1)
	if a := must.Get(f.Ask(t.Context(), Request{Budget: 3}))(t); len(a.Rows) != 3 {
		t.Errorf("%d rows after a machine died", len(a.Rows))
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	beat(2)
	go func() {
		defer close(stopped)
		for n := 3; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				beat(n)
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := f.Ask(ctx, Request{Budget: 3}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another machine has the study: %v", err)
	}
	close(stop)
	<-stopped
	if st := must.Get(f.Status())(t); st.Asks != 1 {
		t.Errorf("%d asks, expected 1", st.Asks)
	}
	if a := must.Get(f.Ask(t.Context(), Request{Budget: 3}))(t); a.Number != 2 {
		t.Errorf("ask %d, expected 2", a.Number)
	}
}

// A round that another machine learned while this one was stopped stays as it is.
func TestRoundOfAnother(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), false))(t)
	theirs := filepath.Join(f.Dir, roundsDir, "lease")
	_, err := f.Learn(t.Context(), func() (backend.Device, error) {
		must.Do(t, atomicfile.Write(theirs, []byte(`{"nonce":"x","host":"far","boot":"another","pid":7,"attempt":0,"beat":1}`)))
		return openCPU()
	})
	must.Is(t, err, lease.ErrLost, "a round that another machine learns")
	must.Absent(t, f.roundDir(1))
	must.Do(t, os.Remove(theirs))

	other := f.open(t, f.Dir)
	_, err = f.Learn(t.Context(), func() (backend.Device, error) {
		held := must.Get(other.lock(t.Context(), other.Dir))(t)
		defer held.Release()
		j := must.Get(other.read())(t)
		e := &FitEvent{Round: 1, Upto: len(j.events), Backend: "other"}
		e.Files = must.Get(runs.WriteFiles(other.roundDir(1), []runs.RoundFile{{Name: runs.ScoreFile, Content: []byte("theirs")}}))(t)
		must.Do(t, other.write(held, j, Event{Fit: e}))
		return openCPU()
	})
	must.Is(t, err, lease.ErrLost, "a round that another machine learned")
	if raw := must.Get(os.ReadFile(filepath.Join(f.roundDir(1), runs.ScoreFile)))(t); string(raw) != "theirs" {
		t.Errorf("it was written over: %s", raw)
	}
}

// What a round is expected to bring is not passed over where it cannot be read.
func TestStopBelowNeedsScores(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), false))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	must.Do(t, os.WriteFile(filepath.Join(f.roundDir(1), runs.ScoreFile), []byte("{"), 0o644))
	must.Fail(t, "a damaged score", must.Err(f.Ask(t.Context(), Request{StopBelow: 0.1})), runs.ScoreFile)
	if st, _ := must.Get2(f.load())(t); len(st.events) != 3 {
		t.Errorf("%d events, expected 3", len(st.events))
	}
}

// Rows that are held out are no rows to draw from.
func TestStatusWithoutHeldOut(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), Settings{RoundBudget: 9}, func(source string, i int) (bool, bool) {
		return source == "t" && i < 24 || source == "b" && i < 10, i%4 == 0 && source != "a" && (source != "t" || i < 24)
	})
	want := map[string][2]int{"a": {40, 0}, "b": {30, 7}, "c": {30, 0}, "t": {34, 18}}
	for _, s := range must.Get(f.Status())(t).Sources {
		must.Equal(t, [2]int{s.Rows, s.Known}, want[s.Source], "rows and known of %s", s.Source)
	}
}

// Labels that were in the data cost nothing, whether they were told again or not.
func TestCorrectionsCostNothing(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), Settings{}, func(source string, i int) (bool, bool) {
		return source == "t" && i < 12 || source != "t" && i < 8, false
	})
	before := must.Get(f.Plan(0))(t)
	lines := []string{"id,label"}
	for i := range 8 {
		lines = append(lines, fmt.Sprintf("a%d,%s", i, map[string]string{"no": "yes", "yes": "no"}[f.labels[fmt.Sprintf("a%d", i)]]))
	}
	must.Get(f.Tell(t.Context(), f.answers(t, "corrections.csv", lines...), true))(t)
	after := must.Get(f.Plan(0))(t)
	if after.Budget != before.Budget || !slices.Equal(after.Sources, before.Sources) {
		t.Errorf("before corrections %+v, after them %+v", before, after)
	}
}

// The same command again opens the study that is there, also after an upgrade and where a file of the data has another time.
func TestCreateAgain(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	was := must.Get(os.ReadFile(filepath.Join(f.Dir, SettingsFile)))(t)
	later := time.Now().Add(time.Hour)
	must.Do(t, os.Chtimes(filepath.Join(filepath.Dir(f.folder), "rows.csv"), later, later))
	folder := f.folder + " again"
	must.Do(t, columnar.Import(t.Context(), must.Get(manifest.Read(f.Settings.Data.Path))(t), folder, func(int64, int64, string) {}))
	data := must.Get(columnar.OpenCandidates(folder, "", 0))(t)
	if data.Key == f.Settings.Data.Key {
		t.Fatal("the import has the same key")
	}
	s := f.Settings
	s.Version = "another"
	must.Do(t, Create(f.Dir, s, folder, data))
	if now := must.Get(os.ReadFile(filepath.Join(f.Dir, SettingsFile)))(t); string(now) != string(was) {
		t.Errorf("%s became %s", was, now)
	}
	must.Get(f.open(t, f.Dir).Tell(t.Context(), f.answerAll(t, "all.csv", a), false))(t)
	s.RoundBudget++
	must.Fail(t, "another budget", Create(f.Dir, s, folder, data), "expected no folder")
}
