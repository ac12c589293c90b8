package report

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// writeLarge writes a sweep as large as the paper's, with made-up numbers, and returns its folder.
func writeLarge(tb testing.TB, rngOf testrand.Test) string {
	tb.Helper()
	rng := testrand.New(rngOf)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(tb)
	id := runs.Identity{Version: "v0.0.0-test", Data: runs.DataIdentity{Name: "large", Tasks: 160, Pools: 16, Cols: 784}, Seeds: []uint64{0},
		Config: cfg.Complete(nil).Canonical()}
	id.Config.Methods = []string{pipeline.Active, pipeline.Uniform, pipeline.Target, pipeline.Constant}
	for pool := range 16 {
		for digit := range 10 {
			id.Targets = append(id.Targets, fmt.Sprintf("corruption_%c_%d", 'a'+pool, digit))
		}
	}
	var results []runs.Result
	for i, target := range id.Targets {
		r := runs.Result{Data: "large", Target: target, Recommended: pipeline.Active}
		for k, m := range id.Config.Methods {
			r.Methods = append(r.Methods, runs.MethodResult{Method: m, Samples: 30000 * (1 - k/2), Epochs: 4,
				Score: pipeline.Score{Metric: pipeline.MetricError, Value: 0.05 + 0.02*rng.Float64() + 0.01*float64(k)}})
		}
		weight := make([]float64, 160)
		sum := 0.0
		for j := range weight {
			if j != i {
				weight[j] = rng.ExpFloat64()
				if j%10 == i%10 {
					weight[j] *= 20
				}
				sum += weight[j]
			}
		}
		for j, w := range weight {
			if j != i {
				r.Sources = append(r.Sources, runs.SourceResult{Source: id.Targets[j], Nu: w, Share: w / sum, Samples: int(30000 * w / sum),
					SourceIntervals: &runs.SourceIntervals{NuLow: w / 2, NuHigh: 2 * w, ShareHigh: 1, TopFive: rng.Float64()}})
			}
		}
		results = append(results, r)
	}
	dir := tb.TempDir()
	must.Get(runs.WriteSweep(dir, id, results, make([]float64, len(results))))(tb)
	return dir
}

// The page of the paper's 160 targets has at most 2 MiB, and its clustered order groups the digits.
func TestLargeSweep(t *testing.T) {
	p := sweepPage(t, writeLarge(t, t))
	page := must.Get(p.HTML())(t)
	must.Hold(t, len(page) <= 2<<20, "the page has %d bytes, expected at most 2 MiB", len(page))
	for digit := range 10 {
		must.Equal(t, bytes.Count(page, []byte(fmt.Sprintf(">…_%d</text>", digit))), 2,
			"groups of the digit %d, one of the targets and one of the sources", digit)
	}
}

func BenchmarkLargeSweep(b *testing.B) {
	dir := writeLarge(b, b)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(sweepPage(b, dir).HTML())(b)
	}
}
