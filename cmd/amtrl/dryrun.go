package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// dryRunResult is what --dry-run --json prints.
type dryRunResult struct {
	Out      string        `json:"out"`
	Identity runs.Identity `json:"identity"`
	Plans    []budgetPlan  `json:"plans"`
}

// budgetPlan is what the schedule asks for at one budget, 0 outside the budget
// schedule.
type budgetPlan struct {
	Budget float64              `json:"budget,omitempty"`
	Epochs []pipeline.EpochPlan `json:"epochs"`
}

// dryRun prints the resolved work and touches nothing.
func dryRun(c *cli.Context, w *work, format report.Format) error {
	cfg := w.id.Config
	sources := len(w.set.Tasks) - 1
	if cfg.IncludeTarget {
		sources++
	}
	cols := w.set.Pools[0].Cols
	budgets := w.id.Budgets
	if len(budgets) == 0 {
		budgets = []float64{cfg.Schedule.Budget}
	}
	var plans []budgetPlan
	for _, b := range budgets {
		schedule := cfg.Schedule
		schedule.Budget = b
		plans = append(plans, budgetPlan{b, schedule.Plan(cfg.K, sources, cols)})
	}
	if t := cfg.Schedule.Theory; t != nil && !finite(plans[0].Epochs) {
		return misuse(c, "schedule theory with delta %g, r %g, sigma-min %g and beta %g asks for more samples than can be counted: expected constants nearer to 1", t.Delta, t.R, t.SigmaMin, t.Beta)
	}
	if err := checkConv(w); err != nil {
		return err
	}
	if c.Bool("json") {
		return emitJSON(c, dryRunResult{w.dir, w.id, plans})
	}
	list := report.Table{Header: []string{"setting", "value"}}
	add := func(name, value string) { list.Rows = append(list.Rows, []string{name, value}) }
	add("data", fmt.Sprintf("%s (sha256 %s)", w.id.Data.Name, w.id.Data.SHA256[:8]))
	add("targets", shorten(w.id.Targets))
	add("seeds", shorten(texts(w.id.Seeds)))
	if len(w.id.Budgets) > 0 {
		add("budgets", shorten(texts(w.id.Budgets)))
	}
	add("preset", cfg.Preset)
	for _, s := range settings {
		if s.active(&cfg) && !(s.name == "budget" && len(w.id.Budgets) > 0) {
			add(s.name, s.show(&cfg))
		}
	}
	add("costs", fmt.Sprintf("%d sources", len(cfg.Costs)))
	add("nu", fmt.Sprintf("%d sources", len(cfg.Nu)))
	add("out", w.dir)
	text := list.Render(format)
	for _, p := range plans {
		name := cfg.Schedule.Kind
		if p.Budget > 0 {
			name += " " + report.Count(p.Budget)
		}
		title := fmt.Sprintf("plan of schedule %s for K = %d, M = %d sources, d = %d", name, cfg.K, sources, cols)
		text += "\n" + report.Plan(title, p.Epochs, format)
	}
	return emit(c, text)
}

// checkConv refuses what the run would refuse of a network, such as a batch
// larger than the first epoch. A linear plan is shown even where the data
// cannot serve it: the theorem's own never are.
func checkConv(w *work) error {
	if w.id.Config.Representation != pipeline.ClassConv {
		return nil
	}
	return w.id.Check(w.set)
}

// finite says whether a plan asks for numbers.
func finite(epochs []pipeline.EpochPlan) bool {
	for _, e := range epochs {
		if sum := e.Beta + e.Cost + e.Floor; math.IsInf(sum, 0) || math.IsNaN(sum) {
			return false
		}
	}
	return true
}

func texts[E any](values []E) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// shorten joins the first words of a list and counts the rest.
func shorten(words []string) string {
	const most = 8
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s, ... (%d)", strings.Join(words[:most], ", "), len(words))
}
