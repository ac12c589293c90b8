package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// importAs imports the rows of the fixture by its manifest with old, such as the classes, replaced by now, and returns the folder.
func (f *fixture) importAs(t *testing.T, name, old, now string) string {
	t.Helper()
	raw := string(must.Get(os.ReadFile(f.Settings.Data.Path))(t))
	must.Hold(t, strings.Contains(raw, old), "%s has no %s", raw, old)
	path := filepath.Join(filepath.Dir(f.folder), name+".yaml")
	must.Do(t, os.WriteFile(path, []byte(strings.Replace(raw, old, now, 1)), 0o644))
	folder := filepath.Join(filepath.Dir(f.folder), name)
	must.Do(t, columnar.Import(t.Context(), must.Get(manifest.Read(path))(t), folder, func(int64, int64, string) {}))
	return folder
}

// A class that the manifest lists later, wherever in its list, is told and learned as in a study that knew it from the beginning. What was
// spent, skipped and pending stays, the old manifest works afterwards too, and earlier rounds replay.
func TestLateClass(t *testing.T) {
	rng := testrand.New(t)
	f := newFixture(t, rng)
	grown := f.importAs(t, "grown", "classes: [no, yes]", "classes: [maybe, yes, no, never]")
	all := f.importAs(t, "all", "classes: [no, yes]", "classes: [no, yes, maybe, never]")
	settings := f.Settings
	dir := filepath.Join(filepath.Dir(f.folder), "all study")
	must.Do(t, Create(dir, settings, all, must.Get(columnar.OpenCandidates(all, "", 0))(t)))
	open := func(dir, folder string) *Study {
		s := must.Get(Open(dir))(t)
		must.Do(t, s.Attach(folder))
		s.now = f.now
		return s
	}
	late, known := f.Study, open(dir, all)
	model := func(s *Study, round int) string {
		return string(must.Get(os.ReadFile(filepath.Join(s.RoundDir(round), "model.safetensors")))(t))
	}
	for round := 1; round <= 4; round++ {
		a := must.Get(late.Ask(t.Context(), Request{Budget: 12}))(t)
		lines := []string{"id,label,status"}
		for i, r := range a.Rows {
			switch {
			case i == 0:
				lines = append(lines, r.ID+",,skip")
			case round == 3 && i%3 == 0:
				lines = append(lines, r.ID+",maybe,")
			default:
				lines = append(lines, r.ID+","+f.labels[r.ID]+",")
			}
		}
		if round == 3 {
			lines = append(lines, "t30,maybe,", "t31,maybe,")
		}
		path := f.answers(t, "answers.csv", lines...)
		if round == 3 {
			before := must.Get(late.Status())(t)
			_, err := late.Tell(t.Context(), path, TellOptions{})
			must.Fail(t, "a new class", err, "expected one of the classes no, yes, found \"maybe\"", "add it to classes in "+f.Settings.Data.Path,
				"status skip")
			late = open(f.Dir, grown)
			must.Equal(t, must.Get(late.Status())(t).Spent, before.Spent, "spent")
			_, _, st, err := late.load()
			must.Do(t, err)
			must.Hold(t, len(late.data.Outputs[0].Classes) == 2 && st.classes == 0, "the study has new classes before a label")
		}
		told := must.Get(late.Tell(t.Context(), path, TellOptions{}))(t)
		must.Equal(t, told.Skipped, 1, "skipped rows")
		if round == 3 {
			late = open(f.Dir, f.folder)
		}
		must.Equal(t, must.Get(late.Learn(t.Context(), openCPU))(t), round, "round")
		must.Get(known.Tell(t.Context(), path, TellOptions{}))(t)
		must.Get(known.Learn(t.Context(), openCPU))(t)
		must.Hold(t, (model(late, round) == model(known, round)) == (round >= 3), "round %d: the models are not as expected", round)
	}
	status := must.Get(late.Status())(t)
	must.Hold(t, status.Skipped == 4 && status.Asks == 4, "%+v", status)
	for _, folder := range must.Some(rng, 1, f.folder, grown) {
		v := must.Get(open(f.Dir, folder).Verify(t.Context(), openNamed, nil))(t)
		must.Hold(t, v.Asks == 4 && v.Rounds == 4, "%+v", v)
	}
	n := must.Get(late.Export(filepath.Join(t.TempDir(), "out.csv")))(t)
	must.Hold(t, n == Exported{status.Answered + 12, 4}, "it exports %+v of %+v", n, status)
}

// Data other than those of the study are still refused where they list new classes, under the name by which they were given.
func TestOtherDataWithMoreClasses(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	for name, change := range map[string][2]string{
		"fewer":    {"classes: [no, yes]", "classes: [maybe, yes, no], missing: [\"no\", \"\"]"},
		"costs":    {"target: {", "sources: {cost: {a: 2}}\ntarget: {"},
		"features": {"x*", "[x0, x1]"},
	} {
		s := must.Get(Open(f.Dir))(t)
		s.DataAt = "there.yaml"
		must.Fail(t, name, s.Attach(f.importAs(t, name, change[0], change[1])), "there.yaml: expected the data of the study", "new classes")
	}
}

// Goroutines use one open study while one of them tells a class that is new, and answers that are refused leave no class behind.
func TestNewClassBesideOthers(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	s := must.Get(Open(f.Dir))(t)
	must.Do(t, s.Attach(f.importAs(t, "grown", "classes: [no, yes]", "classes: [maybe, yes, no]")))
	a := must.Get(s.Ask(t.Context(), Request{}))(t)
	var wait sync.WaitGroup
	for k := range 4 {
		wait.Go(func() {
			for i := range 8 {
				var err error
				switch {
				case k > 0:
					_, err = s.Status()
				case i%2 == 0: // the second row has a label in the data
					_, err = s.TellAnswers(t.Context(), []Answer{{ID: a.Rows[i].ID, Labels: map[string]string{"label": "maybe"}},
						{ID: "t0", Labels: map[string]string{"label": "maybe"}}}, TellOptions{})
					if _, refused := errors.AsType[*Contradiction](err); refused {
						err = nil
					} else {
						err = fmt.Errorf("expected a contradiction, found %v", err)
					}
				default:
					_, err = s.TellAnswers(t.Context(), []Answer{{ID: a.Rows[i].ID, Labels: map[string]string{"label": "maybe"}}}, TellOptions{})
				}
				if err != nil {
					t.Errorf("goroutine %d: %v", k, err)
				}
			}
		})
	}
	wait.Wait()
	_, j, st, err := s.load()
	must.Do(t, err)
	must.Hold(t, len(j.events) == 5 && st.classes == j.events[1].N, "%d events, new classes in that of %d", len(j.events), st.classes)
	must.Hold(t, len(s.data.Outputs[0].Classes) == 2, "the study that was opened has other classes: %v", s.data.Outputs)
}

// A round says which class of the labels of sources no sample of the target is of.
func TestRoundNamesUnseenClass(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 9, func(source string, i int) (bool, bool) { return source == "t" && i < 24 && i%2 == 0, false })
	warnings := func(told ...string) (out []string) {
		must.Get(f.Tell(t.Context(), f.answers(t, "answers.csv", append([]string{"id,label"}, told...)...), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
		for _, odd := range must.Get(f.Status())(t).Last.Result.Warnings {
			out = append(out, odd.String())
		}
		return out
	}
	must.EqualSlices(t, warnings("a0,no", "b0,no", "c0,no"), nil, "no source has the class")
	must.EqualSlices(t, warnings("a1,yes"), []string{`t: it has 12 samples, none of class "yes" of label: what the model knows of that is ` +
		"from the sources alone, and the stated error counts no such row"}, "a source has the class")
	must.EqualSlices(t, warnings("t1,yes"), nil, "the target has the class")
}
