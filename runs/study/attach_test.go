package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// Data that a study refuses, because they are of another study or cannot be read, leave it with the data that it had.
func TestAttachThatRefuses(t *testing.T) {
	rng := testrand.New(t)
	f, other := newFixture(t, rng), newFixture(t, rng)
	twin := filepath.Join(t.TempDir(), "S")
	must.Do(t, os.CopyFS(twin, os.DirFS(f.Dir)))
	must.Fail(t, "data of another study", f.Attach(other.folder), "expected the data of the study, sha256 ")
	must.Fail(t, "a folder that is not there", f.Attach(filepath.Join(t.TempDir(), "none")), "none")
	got := must.Get(f.Ask(t.Context(), Request{}))(t)
	want := must.Get(f.open(t, twin).Ask(t.Context(), Request{}))(t)
	must.EqualSlices(t, got.Rows, want.Rows, "rows of an ask after data that were refused")
	told := must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", got), TellOptions{}))(t)
	must.Equal(t, told.Labels, len(got.Rows), "labels that were told")
	must.Equal(t, must.Get(f.Learn(t.Context(), openCPU))(t), 1, "the round")

	bare := must.Get(Open(other.Dir))(t)
	must.Fail(t, "data of another study", bare.Attach(f.folder), "expected the data of the study")
	must.Is(t, must.Err(bare.Status()), ErrNotAttached, "a study that has refused the first data")
}

// Without ids an answer names its row by the number in the data, so that the same rows in another order are other data.
func TestAttachOfOtherOrder(t *testing.T) {
	rng := testrand.New(t)
	var rows []string
	for i := range 90 {
		label := []string{"no", "yes"}[rng.IntN(2)]
		rows = append(rows, fmt.Sprintf("%s,%s,%g,%g", []string{"a", "t", "b"}[i%3], label, rng.NormFloat64(), rng.NormFloat64()))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.yaml")
	must.Do(t, os.WriteFile(path, []byte("files: rows.csv\ncolumns: {source: source, features: x*, scale: none}\n"+
		"labels: [{column: label, classes: [no, yes]}]\ntarget: {source: t}\n"), 0o644))
	imported := func(name string) string {
		table := "source,label,x0,x1\n" + strings.Join(rows, "\n") + "\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(table), 0o644))
		folder := filepath.Join(dir, name)
		must.Do(t, columnar.Import(t.Context(), must.Get(manifest.Read(path))(t), folder, func(int64, int64, string) {}))
		return folder
	}
	first := imported("first")
	data := must.Get(columnar.OpenCandidates(first, "", 0))(t)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K = 2
	settings, _ := NewSettings("", path, data, 9, cfg, pipeline.SettingK)
	must.Do(t, Create(filepath.Join(dir, "S"), settings, first, data))
	s := must.Get(Open(filepath.Join(dir, "S")))(t)

	slices.SortStableFunc(rows, func(a, b string) int { return cmp.Compare(a[0], b[0]) })
	must.Fail(t, "rows sorted by source", s.Attach(imported("sorted")), "expected the data of the study, sha256 ")
	must.Do(t, s.Attach(first))
}

// With ids, a study goes on with rows that moved among those of other sources, and verifies rounds that were learned before.
func TestVerifyInOtherOrder(t *testing.T) {
	f := newFixtureIn(t, testrand.New(t), ", scale: none", 9, func(source string, i int) (labelled, held bool) {
		return source == "t" && i < 12, false
	})
	learn := func() {
		a := must.Get(f.Ask(t.Context(), Request{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	learn()
	before := foldertest.Read(t, f.RoundDir(1))["rows.csv"]
	path := filepath.Join(filepath.Dir(f.folder), "rows.csv")
	lines := strings.Fields(string(must.Get(os.ReadFile(path))(t)))
	slices.SortStableFunc(lines[1:], func(a, b string) int { return cmp.Compare(b[0], a[0]) })
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644))
	f.folder = filepath.Join(t.TempDir(), "moved")
	m := must.Get(manifest.Read(f.Settings.Data.Path))(t)
	must.Do(t, columnar.Import(t.Context(), m, f.folder, func(int64, int64, string) {}))
	f.Study = f.open(t, f.Dir)
	learn()
	must.Hold(t, !strings.HasPrefix(foldertest.Read(t, f.RoundDir(2))["rows.csv"], before), "no row has moved")
	got := must.Get(f.Verify(t.Context(), openNamed, nil))(t)
	must.Hold(t, got.Rounds == 2 && got.Asks == 2, "verified: %+v", got)
}

// A study that was not opened is an error too, and leaves nothing behind.
func TestNotOpened(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	before := foldertest.Read(t, f.Dir)
	s := &Study{Dir: f.Dir, Settings: f.Settings}
	must.Is(t, must.Err(s.Ask(t.Context(), Request{})), ErrNotAttached, "Ask")
	must.Is(t, must.Err(s.Tell(t.Context(), "none.csv", TellOptions{})), ErrNotAttached, "Tell")
	must.Is(t, must.Err(s.Learn(t.Context(), openCPU)), ErrNotAttached, "Learn")
	foldertest.Equal(t, "not opened", foldertest.Read(t, f.Dir), before)
}

// Each method that needs data says so in one line before Attach, and changes no file.
func TestBeforeAttach(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	answers, before := f.answerAll(t, "all.csv", a), foldertest.Read(t, f.Dir)
	table := filepath.Join(t.TempDir(), "labels.csv")
	for what, call := range map[string]func(s *Study) error{
		"Ask":       func(s *Study) error { return must.Err(s.Ask(t.Context(), Request{})) },
		"Tell":      func(s *Study) error { return must.Err(s.Tell(t.Context(), answers, TellOptions{})) },
		"Checked":   func(s *Study) error { return must.Err(s.Tell(t.Context(), answers, TellOptions{Checked: true})) },
		"Status":    func(s *Study) error { return must.Err(s.Status()) },
		"Plan":      func(s *Study) error { return must.Err(s.Plan(0)) },
		"Learn":     func(s *Study) error { return must.Err(s.Learn(t.Context(), openCPU)) },
		"Export":    func(s *Study) error { return must.Err(s.Export(table)) },
		"Verify":    func(s *Study) error { return must.Err(s.Verify(t.Context(), openNamed, nil)) },
		"Relevance": func(s *Study) error { return must.Err(s.Relevance()) },
	} {
		must.Fail(t, what, call(must.Get(Open(f.Dir))(t)), "expected Attach before")
	}
	must.Absent(t, table)
	foldertest.Equal(t, "before Attach", foldertest.Read(t, f.Dir), before)
}

// Once its context is done, an ask or a tell writes nothing and returns the error of the context, be it at the beginning, while it waits
// for another process or machine, or when it comes to the lease or the journal.
func TestCancelled(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	answers := f.answerAll(t, "all.csv", a)
	before := foldertest.Read(t, f.Dir)
	var at map[string]func() // by the name of a file: what to do before an operation on it
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if do := at[filepath.Base(path)]; do != nil && strings.HasPrefix(path, f.Dir) {
			do()
		}
		return nil
	})
	calls := map[string]func(ctx context.Context) error{
		"an ask": func(ctx context.Context) error { return must.Err(f.Ask(ctx, Request{Budget: 3})) },
		"a tell": func(ctx context.Context) error { return must.Err(f.Tell(ctx, answers, TellOptions{})) },
	}
	check := func(what string, err error) {
		t.Helper()
		must.Is(t, err, context.Canceled, "%s", what)
		foldertest.Equal(t, what, foldertest.Read(t, f.Dir), before)
	}
	for what, call := range calls {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		check(what, call(ctx))

		for _, file := range []string{"lease", journalFile} {
			ctx, cancel = context.WithCancelCause(t.Context())
			times := 0
			at = map[string]func(){file: func() { times++; cancel(errors.New("enough")) }}
			check(what+" that has come to "+file, call(ctx))
			at = nil
			must.Hold(t, times > 0, "%s does not come to %s: the test tests nothing", what, file)
		}
	}
	wait := func(holder string) {
		before = foldertest.Read(t, f.Dir)
		for what, call := range calls {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("enough")) })
			check(what+" that waits for "+holder, call(ctx))
		}
	}
	held := must.Get(f.lock(t.Context(), f.Dir))(t)
	wait("another process")
	held.Release()
	lease := filepath.Join(f.Dir, "lease")
	must.Do(t, os.WriteFile(lease, []byte("{}"), 0o644))
	wait("another machine")
	must.Do(t, os.Remove(lease))
	for what, call := range calls {
		must.Do(t, call(t.Context()))
		must.Hold(t, foldertest.Read(t, f.Dir)[journalFile] != before[journalFile], "%s wrote nothing", what)
	}
}

// hostile lists numbers that are no budget.
var hostile = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300, -math.MaxFloat64}

// Numbers that no ask can have are refused before anything is written.
func TestRefusedRequests(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	before := foldertest.Read(t, f.Dir)
	for _, bad := range hostile {
		must.Fail(t, "an ask", must.Err(f.Ask(t.Context(), Request{Budget: bad})), "expected a positive number")
		must.Fail(t, "a plan", must.Err(f.Plan(bad)), "expected a positive number")
	}
	for what, r := range map[string]Request{
		"expires after -1ns: expected": {Expires: -1}, "expires after -1h0m0s: expected": {Expires: -time.Hour},
		"stop below NaN: expected": {StopBelow: math.NaN()}, "stop below -0.5: expected": {StopBelow: -0.5},
		"stop below -Inf: expected": {StopBelow: math.Inf(-1)}, "-1 rows of the target: expected": {TargetRows: -1},
		"rows of the target: expected neither": {TargetRows: 1, Budget: 1},
	} {
		must.Fail(t, "an ask", must.Err(f.Ask(t.Context(), r)), what)
	}
	foldertest.Equal(t, "what was refused", foldertest.Read(t, f.Dir), before)
	for _, r := range []Request{{}, {StopBelow: 0.5}, {Expires: time.Hour, Budget: 1}} {
		must.Do(t, must.Err(f.Ask(t.Context(), r)))
	}
	must.Hold(t, strings.Count(foldertest.Read(t, f.Dir)[journalFile], "\n") == 3, "asks that are right")
}
