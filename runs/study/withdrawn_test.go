package study

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A label that is withdrawn, told or in the data, counts no longer: not in what is learned, nor in the status, nor in an export. The row is
// not asked for again, but may be told again.
func TestWithdrawnLabels(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "1.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	before := must.Get(f.Status())(t)
	asked := a.Rows[0]
	skip := f.answers(t, "skip.csv", "id,status", asked.ID+",skip", "t3,skip")
	must.Fail(t, "without Replace", must.Err(f.Tell(t.Context(), skip, TellOptions{})), "2 rows have another answer already: "+asked.ID,
		"skipped now", "; nothing was changed")
	told := must.Get(f.Tell(t.Context(), skip, TellOptions{Replace: true}))(t)
	must.Hold(t, told.Skipped == 2 && told.Withdrawn == 2 && told.Unasked == 1, "%+v", told)
	again := must.Get(f.Tell(t.Context(), skip, TellOptions{}))(t)
	must.Hold(t, again.Known == 2 && again.Skipped == 0, "told again %+v", again)

	labels := func() (lines []string, of func(id string) bool) {
		path := filepath.Join(t.TempDir(), "labels.csv")
		must.Get(f.Export(path))(t)
		lines = strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(path))(t))), "\n")
		return lines, func(id string) bool {
			return slices.ContainsFunc(lines, func(line string) bool {
				return strings.HasPrefix(line, id+",") && !strings.HasSuffix(line, ",,skip")
			})
		}
	}
	count := func(want int) {
		t.Helper()
		_, _, st, err := f.load()
		must.Do(t, err)
		in := st.samples(must.Get(f.problem(2))(t), 2)
		n := len(in.Target.Rows)
		for _, source := range in.Sources {
			n += len(source.Rows)
		}
		must.Equal(t, n, want, "labelled samples")
	}
	all := len(a.Rows) + 12
	now := must.Get(f.Status())(t)
	must.Hold(t, now.Outdated && now.Fresh, "a round is due: %+v", now)
	must.Hold(t, now.Answered == before.Answered-1 && now.Skipped == 2 && now.Spent < before.Spent, "%+v, before %+v", now, before)
	at := slices.IndexFunc(now.Sources, func(s SourceStatus) bool { return s.Target })
	must.Equal(t, now.Sources[at].Known, 11, "labels of the target in the data")
	lines, has := labels()
	must.Hold(t, len(lines) == 1+all && !has(asked.ID) && !has("t3"), "exported %q", lines)
	count(all - 2)
	must.Equal(t, must.Get(f.Learn(t.Context(), openCPU))(t), 2, "the round")
	rows := string(must.Get(os.ReadFile(filepath.Join(f.RoundDir(2), "rows.csv")))(t))
	must.Hold(t, !strings.Contains(rows, ","+asked.ID+","), "the round has drawn\n%s", rows)
	b := must.Get(f.Ask(t.Context(), Request{Budget: 1000}))(t)
	must.Hold(t, !slices.ContainsFunc(b.Rows, func(r AskedRow) bool { return r.ID == asked.ID || r.ID == "t3" }), "asked for again")

	right := f.answers(t, "right.csv", "id,label", asked.ID+","+f.labels[asked.ID], "t3,"+f.labels["t3"])
	told = must.Get(f.Tell(t.Context(), right, TellOptions{}))(t)
	must.Hold(t, told.Labels == 2, "told anew %+v", told)
	_, has = labels()
	must.Hold(t, has(asked.ID) && has("t3"), "exported again")
	count(all)
	must.Get(f.Verify(t.Context(), openNamed, nil))(t)
}

// A new study that is told what another one exported has its labels and does not ask for the rows that it gave up.
func TestExportTakesSkipsAlong(t *testing.T) {
	rng := testrand.New(t)
	f := newFixture(t, rng)
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	lines := []string{"id,label,status", "t3,,skip", "b39,,skip"}
	for i, r := range a.Rows {
		if rng.IntN(2) == 0 || i == 0 {
			lines = append(lines, r.ID+",,skip")
		} else {
			lines = append(lines, r.ID+","+f.labels[r.ID]+",")
		}
	}
	must.Get(f.Tell(t.Context(), f.answers(t, "1.csv", lines...), TellOptions{Replace: true}))(t)
	was := must.Get(f.Status())(t)
	for _, ending := range []string{".csv", ".jsonl", ".parquet"} {
		path := filepath.Join(t.TempDir(), "labels"+ending)
		n := must.Get(f.Export(path))(t)
		must.Hold(t, n == Exported{was.Answered + 11, was.Skipped}, "it exports %+v of %+v", n, was)
		dir := filepath.Join(t.TempDir(), "new")
		must.Do(t, Create(dir, f.Settings, f.folder, f.data))
		other := f.open(t, dir)
		told := must.Get(other.Tell(t.Context(), path, TellOptions{Replace: true}))(t)
		st := must.Get(other.Status())(t)
		must.Hold(t, told.Skipped == was.Skipped && st.Answered == was.Answered && st.Skipped == was.Skipped && st.Spent == was.Spent,
			"%s: it told %+v, and has %+v of %+v", ending, told, st, was)
		asked := must.Get(other.Ask(t.Context(), Request{Budget: 1000}))(t)
		for _, r := range asked.Rows {
			must.Hold(t, !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, r.ID+",") }), "%s is asked for", r.ID)
		}
	}
}
