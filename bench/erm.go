//go:build linux

package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
)

// ermResult says how long one program took to come within 1e-3 of the best objective.
type ermResult struct {
	compare.Fitted
	Name, Failed string
}

// compareERM times the whole minimisation, to the same objective for all programs.
func compareERM(p *problem, f compare.Folder) error {
	q, err := openCPU()
	if err != nil {
		return err
	}
	defer q.Device().Close()
	types := []backend.DType{backend.Uint8, backend.Float32}
	goal, ours, err := compare.ERM(q, p.pools, p.samples, p.theta, width, 400, types...)
	if err != nil {
		return err
	}
	var rows []ermResult
	for i, r := range ours {
		rows = append(rows, ermResult{Fitted: r, Name: "amtrl, " + types[i].String() + " pool"})
	}
	for _, s := range []struct{ name, python, script string }{
		{"NumPy + SciPy L-BFGS", numpyPython(), "numpy_erm.py"},
		{"PyTorch L-BFGS on (X B) w", compare.TorchPython(), "torch_erm.py"},
	} {
		r := ermResult{}
		if err := rival(f, s.python, s.script, &r, "erm", fmt.Sprint(goal), fmt.Sprint(compare.Lambda)); err != nil {
			r.Failed = err.Error()
		}
		r.Name = s.name
		rows = append(rows, r)
	}
	fmt.Printf("linear ERM, lambda = %g, to objective %.6f\n", compare.Lambda, goal)
	t := compare.NewTable("", "s", "evaluations", "objective reached", "time / amtrl uint8")
	for _, r := range rows {
		switch reached := fmt.Sprintf("%.6f", r.Objective); {
		case r.Failed != "":
			t.AppendRow(table.Row{r.Name, r.Failed})
		case r.Objective > goal:
			t.AppendRow(table.Row{r.Name, "goal not reached", r.Evaluations, reached})
		default:
			ratio := fmt.Sprintf("%.2f", r.Seconds/rows[0].Seconds)
			t.AppendRow(table.Row{r.Name, fmt.Sprintf("%.2f", r.Seconds), r.Evaluations, reached, ratio})
		}
	}
	t.Render()
	return nil
}
