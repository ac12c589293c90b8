package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// toldInLines returns labels of the target, the last pool, in the data, and of each source in each line.
func toldInLines(known, sources, lines, each int, draw func(source, line int) float64) (labels []numberTold) {
	add := func(pool, line int) {
		labels = append(labels, numberTold{place: place{pool, int32(len(labels))}, line: line, number: draw(pool, line)})
	}
	for range known {
		add(sources, 0)
	}
	for line := range lines {
		for pool := range sources {
			for range each {
				add(pool, line+1)
			}
		}
	}
	return labels
}

// nanomolar returns a concentration in nM where y is its negative logarithm in mol/l.
func nanomolar(y float64) float64 { return math.Pow(10, 9-y) }

// Right labels of many kinds are not named: skewed ones, counts with many zeros, those of long tails, and those of a source that differs
// from the others by a few spreads.
func TestUsualAnswersAreNotNamed(t *testing.T) {
	rng := testrand.New(t)
	count := func(zeros float64) func() float64 {
		return func() float64 {
			if rng.Float64() < zeros {
				return 0
			}
			return math.Floor(math.Exp(2 + 1.5*rng.NormFloat64()))
		}
	}
	kinds := map[string]func() float64{
		"normal":      rng.NormFloat64,
		"positive":    func() float64 { return 20 + 3*rng.NormFloat64() },
		"log-normal":  func() float64 { return math.Exp(2 * rng.NormFloat64()) },
		"half zeros":  count(0.5),
		"many zeros":  count(0.8),
		"exponential": rng.ExpFloat64,
		"uniform":     rng.Float64,
		"percent":     func() float64 { return math.Round(100 * rng.Float64() * rng.Float64()) },
		"long tails":  func() float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) },
		"mostly same": func() float64 { return 5 + math.Floor(0.1+rng.Float64())*rng.NormFloat64() },
		"new source":  nil,
	}
	for what, draw := range must.Ordered(kinds) {
		const trials = 200
		named := 0
		for range trials {
			sources := 1 + rng.IntN(12)
			of := func(int, int) float64 { return draw() }
			if draw == nil {
				other, by := rng.IntN(sources), 4*rng.Float64()
				of = func(source, _ int) float64 {
					y := rng.NormFloat64()
					if source == other {
						y = by + 1.5*y
					}
					return 20 + y
				}
			}
			if len(outside(toldInLines(rng.IntN(100), sources, 1+rng.IntN(4), 1+rng.IntN(30), of), sources+1)) > 0 {
				named++
			}
		}
		must.Hold(t, named <= trials/50, "%s: labels are named in %d of %d studies", what, named, trials)
	}
}

// Answers in another unit are named, most and hardly any other: of one source, of all, or of some rows of each, whatever was told before.
func TestOtherUnitsAreOutside(t *testing.T) {
	rng := testrand.New(t)
	const sources, lines = 10, 3
	for what, c := range must.Ordered(map[string]struct {
		known int // labels in the data
		wrong func(source, line int) bool
	}{
		"a file":                    {50, func(_, line int) bool { return line == 1 }},
		"a file, after right ones":  {0, func(_, line int) bool { return line == 2 }},
		"a file, before right ones": {30, func(_, line int) bool { return line == 1 }},
		"a source":                  {50, func(source, _ int) bool { return source == 3 }},
		"a source, of nothing":      {0, func(source, line int) bool { return source == 3 && line == 1 }},
		"some rows":                 {100, func(_, line int) bool { return line == 3 && rng.IntN(5) == 0 }},
	}) {
		wrong := map[int32]bool{}
		row := int32(0)
		labels := toldInLines(c.known, sources, lines, 12, func(source, line int) float64 {
			y := min(max(6+1.1*rng.NormFloat64(), 3.5), 9)
			if line > 0 && c.wrong(source, line) {
				y, wrong[row] = nanomolar(y), true
			}
			row++
			return y
		})
		found, right := 0, 0
		for _, d := range outside(labels, sources+1) {
			for _, l := range d.odd {
				if wrong[l.row] {
					found++
				} else {
					right++
				}
			}
			must.Hold(t, d.usualLow >= 1 && d.usualHigh < 100, "%s: others are from %g to %g", what, d.usualLow, d.usualHigh)
		}
		must.Hold(t, 2*found >= len(wrong) && right <= 5, "%s: %d of %d are named, and %d right labels", what, found, len(wrong), right)
	}
}

// Answers in another unit are named by tell and by the status, until they are corrected or checked. Those told one by one are too.
func TestAnswersInAnotherUnit(t *testing.T) {
	for what, c := range map[string]struct{ alone, correct bool }{"corrected": {false, true}, "checked": {}, "alone": {true, true}} {
		f := newNumbers(t)
		asked := must.Get(f.Ask(t.Context(), Request{}))(t)
		var right, wrong []Answer
		low, high := math.Inf(1), math.Inf(-1)
		for _, r := range asked.Rows[:len(asked.Rows)/3] {
			y := must.Get(strconv.ParseFloat(f.labels[r.ID], 64))(t)
			other := math.Pow(10, 20-y)
			if other > 0.5 && other < 500 {
				continue
			}
			low, high = min(low, other), max(high, other)
			right = append(right, Answer{ID: r.ID, Labels: map[string]string{"label": f.labels[r.ID]}})
			wrong = append(wrong, Answer{ID: r.ID, Labels: map[string]string{"label": fmt.Sprintf("%.6g", other)}})
		}
		tell := func(answers []Answer, how TellOptions) Told {
			return must.Get(f.TellAnswers(t.Context(), answers, how))(t)
		}
		named := func(by string, list []Outside, far []FarLabel) {
			t.Helper()
			must.Hold(t, len(list) == 1 && (c.alone || len(far) == 0), "%s: %s names %+v and %v", what, by, list, far)
			o := list[0]
			early := 0 // the last of them, told alone, are too few
			if c.alone {
				early = outsideMany - 1
			}
			must.Hold(t, o.Labels >= len(wrong)-early && o.Labels <= len(wrong) && o.Told == o.Labels &&
				o.Column == "label" && slices.IsSorted(o.Sources) &&
				o.Low > 0.99*low && o.High < 1.01*high && (c.alone || o.Low < 1.01*low && o.High > 0.99*high) &&
				o.UsualLow > 10 && o.UsualHigh < 30,
				"%s: %s names %+v of %d, from %g to %g", what, by, o, len(wrong), low, high)
			must.Hold(t, strings.Contains(o.String(), " labels of label that came together, those of "), "%s", o)
		}
		if c.alone {
			for i := range wrong {
				tell(wrong[i:i+1], TellOptions{})
			}
		} else {
			told := tell(wrong, TellOptions{})
			named("tell", told.Outside, told.FarLabels)
		}
		st := must.Get(f.Status())(t)
		named("status", st.Outside, st.FarLabels)
		if c.correct {
			tell(right, TellOptions{Replace: true})
		} else {
			tell(wrong, TellOptions{Checked: true})
		}
		st = must.Get(f.Status())(t)
		must.Hold(t, len(st.Outside) == 0, "%s: it names %v", what, st.Outside)
	}
}
