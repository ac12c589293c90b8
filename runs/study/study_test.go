package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
)

// A disk that is full, or fails in another way, at any operation leaves a whole journal, in which nothing is told by half. What failed can
// be done again, and the study then ends as if nothing had failed.
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
				_, err = s.Tell(t.Context(), f.answerAll(t, "one.csv", a), TellOptions{})
			}
			return err
		},
		func(s *Study) error {
			_, err := s.Ask(t.Context(), Request{Key: "two", Expires: time.Hour, Learn: learn})
			return err
		},
	}
	stride := must.Long(1, 4)
	for _, command := range commands {
		for at, failed := rng.IntN(stride), true; failed; at += stride {
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
	if v := must.Get(s.Verify(t.Context(), openNamed, nil))(t); v.Asks != 2 || v.Rounds != 1 || v.Events != 4 {
		t.Errorf("verified %+v, expected 2 asks and a round in 4 events", v)
	}
}

// The time of an ask is counted by the clock, and once it is over, its rows are free.
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
	b := must.Get(f.Ask(t.Context(), Request{Key: "again"}))(t)
	if _, err := f.Ask(t.Context(), Request{Key: "again", Expires: time.Hour}); !contradicts(err, "made without an expiry") {
		t.Errorf("a request without an expiry, made again with one: %v", err)
	}
	if !slices.EqualFunc(a.Rows, b.Rows, func(x, y AskedRow) bool { return x == y }) {
		t.Errorf("asked for %v, and after they expired for %v", a.Rows, b.Rows)
	}
	late := f.answers(t, "late.csv", "id,label", a.Rows[0].ID+","+f.labels[a.Rows[0].ID])
	if told := must.Get(f.Tell(t.Context(), late, TellOptions{}))(t); told.Labels != 1 || told.Pending != 8 {
		t.Errorf("a late answer: %+v", told)
	}
}

// contradicts reports whether err is a [Contradiction] that says what is given.
func contradicts(err error, says string) bool {
	c, is := errors.AsType[*Contradiction](err)
	return is && strings.Contains(c.Error(), says)
}

// A list of rows in JSON is told like any other table.
func TestTellListOfRows(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	first, second := a.Rows[0].ID, a.Rows[1].ID
	rows := `[{"id": "` + first + `", "label": "yes", "data": "seen"}, {"id": "` + second + `", "label": null}]`
	told := must.Get(f.Tell(t.Context(), f.answers(t, "rows.json", rows), TellOptions{}))(t)
	must.Hold(t, told.Labels == 1 && told.Unlabelled == 1 && told.Pending == len(a.Rows)-1, "it told %+v", told)
	_, err := f.Tell(t.Context(), f.answers(t, "wrong.json", `[{"id": "`+second+`", "label": "maybe"}]`), TellOptions{})
	must.Fail(t, "a list of rows", err, `wrong.json: row 0, column label: expected one of the classes no, yes, found "maybe"`)
}

// All rows with a fault are named at once, and none is told.
func TestTellNamesAllThatIsWrong(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	text := "id,label\n"
	for i, label := range []string{"yes", "ys", "no", "", "nope", "maybe"} {
		text += a.Rows[i].ID + "," + label + "\n"
	}
	_, err := f.Tell(t.Context(), f.answers(t, "two.csv", text), TellOptions{})
	must.Fail(t, "wrong labels", err, `two.csv: line 3, column label: expected one of the classes no, yes, found "ys"`,
		`; other rows are not right either: line 6, line 7; nearly a class: "ys" for "yes"; no class: "nope", "maybe"`)
	text = "id,label\n" + a.Rows[0].ID + ",other\n" + a.Rows[1].ID + ",Yes\n" + a.Rows[2].ID + ",NO\n" + a.Rows[3].ID + ",Yes\n"
	_, err = f.Tell(t.Context(), f.answers(t, "new.csv", text), TellOptions{})
	must.Fail(t, "a new class first", err, `line 2, column label: expected one of the classes no, yes, found "other": add it to classes in `,
		`; other rows are not right either: line 3, line 4, line 5; nearly a class: "Yes" for "yes", "NO" for "no"; no class: "other"`)
	text = "id,label\n" + a.Rows[0].ID + ",1\n" + a.Rows[1].ID + ",2\n"
	_, err = f.Tell(t.Context(), f.answers(t, "one.csv", text), TellOptions{})
	must.Fail(t, "one more", err, "; another row is not right either: line 3")
	text = "ID,Label,Status\n" + a.Rows[0].ID + ",yes,\n" + a.Rows[1].ID + ",,Skip\n" // capitals as in spreadsheets
	told := must.Get(f.Tell(t.Context(), f.answers(t, "right.csv", text), TellOptions{}))(t)
	must.Hold(t, told.Labels == 1 && told.Pending == len(a.Rows)-2, "it told %+v", told)
}

// Ids that are numbers keep all their digits.
func TestLabelStudioNumbers(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	written := []string{"9007199254740993", "-18446744073709551617", "7", "7.0", "1e3", "7.25", `"007"`}
	want := []string{"9007199254740993", "-18446744073709551617", "7", "7", "1000", "7.25", "007"}
	var tasks []string
	for _, id := range written {
		tasks = append(tasks, `{"data": {"id": `+id+`}, "annotations": [{"was_cancelled": true}]}`)
	}
	got, _, err := f.readLabelStudio(f.answers(t, "export.json", "["+strings.Join(tasks, ",\n")+"]"), f.outputs())
	must.Do(t, err)
	for i, a := range got {
		must.Equal(t, a.id, want[i], "an id written %s", written[i])
	}
}

// affordable returns the largest floor that the budget pays for. Samples that are there count.
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

// Where the scores that tell the expected gain cannot be read, an ask with StopBelow is an error.
func TestStopBelowNeedsScores(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	must.Do(t, os.WriteFile(filepath.Join(f.RoundDir(1), runs.ScoreFile), []byte("{"), 0o644))
	must.Fail(t, "a damaged score", must.Err(f.Ask(t.Context(), Request{StopBelow: 0.1})), runs.ScoreFile)
	_, j, _, err := f.load()
	must.Do(t, err)
	must.Equal(t, len(j.events), 3, "events")
}

// Held-out rows are not counted: not among the rows to draw from, nor as answered or spent, as they are not for an ask.
func TestStatusWithoutHeldOut(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 9, func(source string, i int) (bool, bool) {
		return source == "t" && i < 24 || source == "b" && i < 10, i%4 == 0 && source != "a" && (source != "t" || i < 24)
	})
	want := map[string][2]int{"a": {40, 0}, "b": {30, 7}, "c": {30, 0}, "t": {34, 18}}
	check := func(answered int) {
		t.Helper()
		st := must.Get(f.Status())(t)
		for _, s := range st.Sources {
			must.Equal(t, [2]int{s.Rows, s.Known}, want[s.Source], "rows and known of %s", s.Source)
		}
		must.Hold(t, st.Answered == answered && st.Spent == float64(answered) && st.Skipped == 0, "%+v, expected %d answered", st, answered)
		_, _, now, err := f.load()
		must.Do(t, err)
		must.Equal(t, must.Get(f.propose(now, 0))(t).spent, st.Spent, "what is spent for an ask")
	}
	check(0)
	held := f.answers(t, "held.csv", "id,label,status", "c0,no,", "c4,no,", "c8,,skip", "b0,,skip", "b4,yes,", "t0,,skip", "t4,yes,")
	must.Get(f.Tell(t.Context(), held, TellOptions{Replace: true}))(t)
	check(0)
	must.Get(f.Tell(t.Context(), f.answers(t, "drawn.csv", "id,label", "a0,no", "c1,yes"), TellOptions{}))(t)
	check(2)
}

// Nor are held-out rows counted by column.
func TestColumnsWithoutHeldOut(t *testing.T) {
	f := newColumns(t)
	lines := []string{"b25,yes,", "b26,yes,no", "b20,yes,"}
	must.Get(f.Tell(t.Context(), f.answers(t, "1.csv", append([]string{"id,label,second"}, lines...)...), TellOptions{}))(t)
	st := must.Get(f.Status())(t)
	must.EqualSlices(t, st.Columns, []ColumnStatus{{"label", 35, 1, 1}, {"second", 36, 0, 1}}, "columns")
	must.Hold(t, st.Answered == 1 && st.Spent == 1, "%+v", st)
}

// Held-out rows were never available: to give one up takes nothing from what a source can give.
func TestGiveUpHeldOut(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 0, func(source string, i int) (bool, bool) {
		return source == "t" && i < 12 || source != "t" && i >= 3 && i < 30, source != "t" && i >= 30
	})
	must.Get(f.Learn(t.Context(), openCPU))(t)
	left := func(file string, ids ...string) bool {
		must.Get(f.Tell(t.Context(), f.answers(t, file, append([]string{"id,status"}, ids...)...), TellOptions{}))(t)
		l := must.Get(ReadLearned(f.Dir))(t)
		i := slices.IndexFunc(l.Run.Result.Sources, func(r runs.SourceResult) bool { return r.Source == "a" })
		return !l.Run.Result.Sources[i].AllDrawn
	}
	must.Hold(t, left("held.csv", "a30,skip", "a31,skip", "a32,skip", "a0,skip"), "two rows are left")
	must.Hold(t, !left("last.csv", "a1,skip", "a2,skip"), "no row is left")
}

// Labels that were in the data cost nothing, whether they are told again or not.
func TestCorrectionsCostNothing(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 0, func(source string, i int) (bool, bool) {
		return source == "t" && i < 12 || source != "t" && i < 8, false
	})
	before := must.Get(f.Plan(0))(t)
	lines := []string{"id,label"}
	for i := range 8 {
		lines = append(lines, fmt.Sprintf("a%d,%s", i, map[string]string{"no": "yes", "yes": "no"}[f.labels[fmt.Sprintf("a%d", i)]]))
	}
	must.Get(f.Tell(t.Context(), f.answers(t, "corrections.csv", lines...), TellOptions{Replace: true}))(t)
	after := must.Get(f.Plan(0))(t)
	if after.Budget != before.Budget || !slices.Equal(after.Sources, before.Sources) {
		t.Errorf("before corrections %+v, after them %+v", before, after)
	}
}

// The same command again opens the study that is there, even after an upgrade or where a file of the data has another time.
func TestCreateAgain(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	was := must.Get(os.ReadFile(filepath.Join(f.Dir, settingsFile)))(t)
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
	if now := must.Get(os.ReadFile(filepath.Join(f.Dir, settingsFile)))(t); string(now) != string(was) {
		t.Errorf("%s became %s", was, now)
	}
	must.Get(f.open(t, f.Dir).Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	s.RoundBudget++
	must.Fail(t, "another budget", Create(f.Dir, s, folder, data), "expected no folder")
}

// A budget that pays for no row is planned as it was given, and lists of nothing are empty rather than nil.
func TestPlanOfNothing(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	must.Equal(t, len(must.Get(f.Ask(t.Context(), Request{}))(t).Rows), 9, "rows")
	p := must.Get(f.Plan(0.1))(t)
	must.Hold(t, p.Budget == 0.1 && p.Sources != nil && len(p.Sources) == 0, "%+v", p)
	must.Fail(t, "an ask", must.Err(f.Ask(t.Context(), Request{Budget: 0.1})), "of which 9 rows are pending")
	rounds := must.Get(f.Relevance())(t)
	must.Hold(t, rounds != nil && len(rounds) == 0, "%+v", rounds)
}
