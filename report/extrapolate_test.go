package report

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

func TestExtrapolate(t *testing.T) {
	var rounds []runs.RoundResult
	for i := range 4 {
		cost := 1000 * math.Pow(2, float64(i))
		rounds = append(rounds, runs.RoundResult{Cost: cost, Value: 3 * math.Pow(cost, -0.5)})
	}
	got := extrapolate(rounds)
	for _, p := range got {
		if want := 3 * math.Pow(p.Cost, -0.5); math.Abs(p.Value/want-1) > 1e-9 || math.Abs(p.Interval[1]/p.Interval[0]-1) > 1e-6 {
			t.Errorf("at %g: %g (%v), expected %g exactly", p.Cost, p.Value, *p.Interval, want)
		}
	}
	if first, last := got[0].Cost, got[len(got)-1].Cost; first != 8000 || last != 16000 {
		t.Errorf("it reaches from %g to %g, expected from the last round to twice its cost", first, last)
	}
	last := &rounds[len(rounds)-1]
	last.Interval = &[2]float64{last.Value / 2, 1.5 * last.Value}
	if got := extrapolate(rounds)[8]; math.Abs(got.Interval[1]/got.Value-1.5) > 1e-6 {
		t.Errorf("the band %v of %g has not the last round's interval", *got.Interval, got.Value)
	}
	last.Interval = nil
	rounds[1].Value *= 1.2
	wide := func(r runs.RoundResult) float64 { return r.Interval[1] / r.Interval[0] }
	if got := extrapolate(rounds); !(got[8].Interval[0] < got[8].Value) || wide(got[8]) <= wide(got[0]) {
		t.Errorf("the band of noisy rounds does not widen: %+v", got)
	}
	for name, bad := range map[string][]runs.RoundResult{
		"two rounds":   rounds[:2],
		"a score of 0": {{Cost: 1, Value: 1}, {Cost: 2, Value: 0}, {Cost: 3, Value: 1}},
		"no spend":     {{Cost: 1, Value: 1}, {Cost: 1, Value: 2}, {Cost: 3, Value: 1}},
	} {
		if got := extrapolate(bad); got != nil {
			t.Errorf("%s: extrapolated to %+v", name, got)
		}
	}
}

// Where the last round alone has the help of one regression on all rows, the page says so and does not extrapolate. Where all rounds have
// it, as in a study, it does.
func TestHelpedRound(t *testing.T) {
	for _, helped := range []int{0, 1, 3} { // number of rounds with the help, from the last one on
		f := &runs.Finished{Result: runs.Result{Methods: []runs.MethodResult{{Method: pipeline.Active, Epochs: 3, Samples: 400}}}}
		m := &f.Result.Methods[0]
		for i := range 3 {
			e := pipeline.Epoch{Method: pipeline.Active, Epoch: i + 1}
			if i >= 3-helped {
				e.HeadPooled = 0.5
			}
			f.Epochs = append(f.Epochs, e)
			m.Rounds = append(m.Rounds, runs.RoundResult{Cost: 100 * math.Pow(2, float64(i)), Value: 0.3 / float64(i+1)})
		}
		text := RunPage(f, Command{}).Markdown()
		must.Equal(t, strings.Contains(text, "The last round of active alone has the help"), helped == 1, "%d rounds: %.2000s", helped, text)
		must.Equal(t, strings.Contains(text, "active, extrapolated"), helped != 1, "%d rounds: %.2000s", helped, text)
	}
}

// The page of a study lowers the last score by what its plan expects of twice the labels, with the interval of that, and in no other way.
func TestStudyExtrapolatesAsPlanned(t *testing.T) {
	dir := finishedStudy(t)
	s := must.Get(study.Open(dir))(t)
	must.Do(t, s.Attach(filepath.Join(filepath.Dir(dir), "data")))
	double := must.Get(s.Plan(0))(t).Double
	l := must.Get(study.ReadLearned(dir))(t)
	rounds := l.Run.Result.Methods[0].Rounds
	last := rounds[len(rounds)-1]
	var found [][]float64
	for _, row := range StudyPage(l, "amtrl study verify S").figure(t, "spend").Sheet.Rows {
		if strings.HasSuffix(row.Cells[0].Text, "extrapolated") {
			must.Equal(t, row.Cells[0].Text, pipeline.Active+", extrapolated", "the method")
			found = append(found, nil)
			for _, c := range row.Cells[2:] {
				found[0] = append(found[0], c.Value)
			}
		}
	}
	want := []float64{double.To, last.Value - double.Mean, last.Value - double.High, last.Value - double.Low}
	must.Hold(t, len(found) == 1 && double.Mean > 0, "%d lines go on, %+v is expected", len(found), double)
	must.EqualSlices(t, found[0], want, "cost, score and interval")
}

// figure returns a figure of a page.
func (p *Page) figure(t *testing.T, id string) *Figure {
	t.Helper()
	for _, part := range p.Parts {
		for i := range part.Figures {
			if part.Figures[i].ID == id {
				return &part.Figures[i]
			}
		}
	}
	t.Fatalf("the page has no figure %s", id)
	return nil
}

// The page of a study counts the target's samples of the last round, with those that were asked for or told beside those of the settings.
func TestStudyCountsSamples(t *testing.T) {
	l := must.Get(study.ReadLearned(finishedStudy(t)))(t)
	l.Rounds[len(l.Rounds)-1].Target = 57
	text := StudyPage(l, "amtrl study verify S").Markdown()
	must.Hold(t, strings.Contains(text, ", 57 target samples, ") && strings.Contains(text, " and 57 of the target."), "%.1000s", text)
}
