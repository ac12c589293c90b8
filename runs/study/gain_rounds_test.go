package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// The expected gains of rounds are those on fresh rows on average, within a factor of two. The gain of a single round seldom lies within
// its interval.
func TestGainOfRounds(t *testing.T) {
	const rounds, studies = 8, 8 // fewer studies may gain several times less than others
	for _, classes := range must.Some(testrand.New(t), 1, true, false) {
		var expected, found []float64
		within := 0
		for seed := range uint64(studies) {
			f, fresh := newCampaign(t, rand.New(rand.NewPCG(seed, 17)), classes, 0)
			before, gain := 0.0, (*Gain)(nil)
			for r := range rounds {
				a := must.Get(f.Ask(t.Context(), Request{}))(t)
				must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", r), a), TellOptions{}))(t)
				must.Get(f.Learn(t.Context(), openCPU))(t)
				now := fresh.score(t, f.RoundDir(r+1))
				if gain != nil {
					expected, found = append(expected, gain.Mean), append(found, before-now)
					if gain.Low <= before-now && before-now <= gain.High {
						within++
					}
				}
				before, gain = now, must.Get(f.Status())(t).Next
			}
		}
		mean, truth := stat.Mean(expected, nil), stat.Mean(found, nil)
		t.Logf("classes %v: %d rounds, expected %.5f, on fresh rows %.5f, %d within their intervals", classes, len(found), mean, truth, within)
		must.Hold(t, mean/2 < truth && truth < 2*mean, "classes %v: rounds are expected to bring %.5f, and bring %.5f", classes, mean, truth)
	}
}

// freshRows holds rows of the target that no study has.
type freshRows struct {
	x      []float32
	labels []string
}

// After the first round, labels of the target lower the error on fresh rows more than as many labels of sources.
func TestWorthOfTargetRows(t *testing.T) {
	studies := must.Long(8, 3)
	for _, classes := range must.Some(testrand.New(t), 1, true, false) {
		var before, sources, target []float64
		for seed := range uint64(studies) {
			f, fresh := newCampaign(t, rand.New(rand.NewPCG(seed, 17)), classes, 80)
			round := func(s *Study, r int, next Request) float64 {
				a := must.Get(s.Ask(t.Context(), next))(t)
				must.Equal(t, len(a.Rows), 80, "rows of ask %d", a.Number)
				must.Get(s.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", r), a), TellOptions{}))(t)
				must.Get(s.Learn(t.Context(), openCPU))(t)
				return fresh.score(t, s.RoundDir(r))
			}
			before = append(before, round(f.Study, 1, Request{}))
			copied := filepath.Join(t.TempDir(), "copy")
			must.Do(t, os.CopyFS(copied, os.DirFS(f.Dir)))
			sources = append(sources, round(f.Study, 2, Request{}))
			target = append(target, round(f.open(t, copied), 2, Request{TargetRows: 80}))
		}
		first, bySources, byTarget := stat.Mean(before, nil), stat.Mean(sources, nil), stat.Mean(target, nil)
		t.Logf("classes %v: %d studies, on fresh rows %.4f after a round, %.4f with 80 more labels of sources, %.4f with 80 of the target",
			classes, studies, first, bySources, byTarget)
		must.Hold(t, byTarget < bySources && bySources < first, "classes %v: %.4f, %.4f and %.4f", classes, first, bySources, byTarget)
	}
}

// newCampaign returns a study of eight sources, three of which are like the target, with 60 labelled rows of the target, more others, and
// asks for 80 rows at a time, and fresh rows of the target.
func newCampaign(t *testing.T, rng *rand.Rand, classes bool, more int) (*fixture, freshRows) {
	const d, samples, each = 20, 60, 80
	f := &fixture{folder: filepath.Join(t.TempDir(), "data"), labels: map[string]string{}, clock: time.Unix(1e9, 0)}
	shared := make([][d]float64, 3)
	for k := range shared {
		for j := range shared[k] {
			shared[k][j] = 2 * rng.NormFloat64() / math.Sqrt(d)
		}
	}
	weights := func() (w [d]float64) {
		for _, s := range shared {
			by := rng.NormFloat64()
			for j := range w {
				w[j] += by * s[j]
			}
		}
		return w
	}
	header := []string{"id", "source", "label"}
	for j := range d {
		header = append(header, fmt.Sprint("x", j))
	}
	rows, out := [][]string{header}, freshRows{}
	add := func(source string, from, to int, w [d]float64) {
		for i := from; i < to; i++ {
			id, sum := source+strconv.Itoa(i), 0.5*rng.NormFloat64()
			row := []string{id, source, ""}
			for j := range w {
				x := float32(rng.NormFloat64())
				sum += w[j] * float64(x)
				row = append(row, fmt.Sprint(x))
				if source == "fresh" {
					out.x = append(out.x, x)
				}
			}
			label := fmt.Sprintf("%.4f", sum)
			if classes {
				label = map[bool]string{true: "yes", false: "no"}[sum > 0]
			}
			switch f.labels[id] = label; source {
			case "fresh":
				out.labels = append(out.labels, label)
				continue
			case "t":
				if i < samples {
					row[2] = label
				}
			}
			rows = append(rows, row)
		}
	}
	target := weights()
	for s := range 8 {
		w := weights()
		if s < 3 {
			w = target
		}
		for j := range w {
			w[j] += 0.3 * rng.NormFloat64() / math.Sqrt(d)
		}
		add(string(rune('a'+s)), 0, 300, w)
	}
	add("t", 0, samples, target)
	add("fresh", 0, 2000, target)
	add("t", samples, samples+more, target)
	kind := "type: number"
	if classes {
		kind = "classes: [no, yes]"
	}
	f.create(t, rows, "", kind, each, must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t))
	return f, out
}

// score returns the error of the model of a round on the fresh rows, or its mean squared error where labels are numbers.
func (r freshRows) score(t *testing.T, dir string) (sum float64) {
	dev := must.Get(cpu.Open(1))(t)
	defer dev.Close()
	q := must.Get(dev.NewQueue())(t)
	defer q.Close()
	p, columns, err := runs.OpenPredictor(q, dir)
	must.Do(t, err)
	defer p.Close()
	n := len(r.labels)
	said := must.Get(runs.PredictLabels(p, columns, &dataset.Pool{F32: r.x, Rows: n, Cols: p.D, Scale: 1}))(t)[0]
	for i, label := range r.labels {
		if said.Class != nil {
			if columns[0].Classes[said.Class[i]] != label {
				sum++
			}
			continue
		}
		want := must.Get(strconv.ParseFloat(label, 64))(t)
		sum += math.Pow(want-float64(said.Numbers[i]), 2)
	}
	return sum / float64(n)
}
