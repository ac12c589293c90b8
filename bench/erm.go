//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline"
)

// ermResult is how long it took to come within 1e-3 of the best objective.
type ermResult struct {
	Name        string  `json:"-"`
	Seconds     float64 `json:"seconds"`
	Objective   float64 `json:"objective"`
	Evaluations int     `json:"evaluations"`
	Failed      string  `json:"-"`
}

// compareERM times the whole minimisation to one objective: the best that 400
// iterations of ours reach, plus 0.1 %. Each row is the median of three, after
// one to warm up.
func compareERM(p *problem, dir string) error {
	trace, err := fitTrace(p, backend.Uint8, 400, 0)
	if err != nil {
		return err
	}
	goal := trace.Objective * (1 + 1e-3)
	var rows []ermResult
	for _, dtype := range []backend.DType{backend.Uint8, backend.Float32} {
		var times []float64
		var r ermResult
		for i := range 4 {
			if r, err = fitTrace(p, dtype, 400, goal); err != nil {
				return err
			}
			if i > 0 {
				times = append(times, r.Seconds)
			}
		}
		slices.Sort(times)
		r.Seconds, r.Name = times[1], "amtrl, "+dtype.String()+" pool"
		rows = append(rows, r)
	}
	for _, s := range []struct{ name, python, script string }{
		{"NumPy + SciPy L-BFGS", numpyPython(), "numpy_erm.py"},
		{"PyTorch L-BFGS on (X B) w", torchPython(), "torch_erm.py"},
	} {
		r := ermResult{}
		if err := rival(s.python, s.script, dir, &r, "erm", fmt.Sprint(goal), fmt.Sprint(lambda)); err != nil {
			r.Failed = err.Error()
		}
		r.Name = s.name
		rows = append(rows, r)
	}
	fmt.Printf("linear ERM, lambda = %g, to objective %.6f\n", lambda, goal)
	t := newTable("", "s", "evaluations", "objective reached", "time / amtrl uint8")
	for _, r := range rows {
		if r.Failed != "" {
			t.AppendRow(table.Row{r.Name, r.Failed})
			continue
		}
		if r.Objective > goal {
			t.AppendRow(table.Row{r.Name, "goal not reached", r.Evaluations, fmt.Sprintf("%.6f", r.Objective)})
			continue
		}
		t.AppendRow(table.Row{r.Name, fmt.Sprintf("%.2f", r.Seconds), r.Evaluations, fmt.Sprintf("%.6f", r.Objective), fmt.Sprintf("%.2f", r.Seconds/rows[0].Seconds)})
	}
	t.Render()
	return nil
}

// fitTrace runs the ERM until the objective is at most goal.
func fitTrace(p *problem, dtype backend.DType, iterations int, goal float64) (ermResult, error) {
	q, err := openCPU()
	if err != nil {
		return ermResult{}, err
	}
	defer q.Device().Close()
	s, _, err := p.place(q, dtype)
	if err != nil {
		return ermResult{}, err
	}
	theta := slices.Clone(p.theta)
	start := time.Now()
	erm := pipeline.ERM{Lambda: lambda, Iterations: iterations, History: 10, Init: pipeline.InitRandom}
	fit, err := pipeline.FitLinear(context.Background(), q, s, width, erm, theta, func(_ int, f float64) bool { return f <= goal })
	return ermResult{Seconds: time.Since(start).Seconds(), Objective: fit.Objective, Evaluations: fit.Evaluations}, err
}
