package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/flags"
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

// budgetPlan is what the schedule asks for at one budget, 0 outside the budget schedule.
type budgetPlan struct {
	Budget float64              `json:"budget,omitempty"`
	Epochs []pipeline.EpochPlan `json:"epochs"`
}

// dryRun prints the work that id is, which would go to the folder dir.
func dryRun(o *output, set *dataset.Set, id runs.Identity, dir string) error {
	cfg := id.Config
	sources := len(set.Tasks) - 1
	if cfg.IncludeTarget {
		sources++
	}
	cols := set.Pools[0].Cols
	budgets := id.Budgets
	if len(budgets) == 0 {
		budgets = []float64{cfg.Schedule.Budget}
	}
	var plans []budgetPlan
	for _, b := range budgets {
		schedule := cfg.Schedule
		schedule.Budget = b
		plans = append(plans, budgetPlan{b, schedule.Plan(cfg.K, sources, cols)})
	}
	uncountable := func(e pipeline.EpochPlan) bool { return !(math.Abs(e.Beta+e.Cost+e.Floor) <= math.MaxFloat64) }
	if t := cfg.Schedule.Theory; t != nil && slices.ContainsFunc(plans[0].Epochs, uncountable) {
		return flags.Misuse("schedule theory with delta %g, r %g, sigma-min %g and beta %g asks for more samples than can be counted: "+
			"expected constants nearer to 1", t.Delta, t.R, t.SigmaMin, t.Beta)
	}
	// What the run would refuse of a network, such as a batch larger than the first
	// epoch. A linear plan is shown even where the data cannot serve it: the
	// theorem's own never are.
	if cfg.Representation == pipeline.ClassConv {
		if err := id.Check(set); err != nil {
			return err
		}
	}
	if o.json.V {
		return o.emitJSON(dryRunResult{dir, id, plans})
	}
	list := report.Table{Header: []string{"setting", "value"}}
	add := func(name, value string) { list.Rows = append(list.Rows, []string{name, value}) }
	add("data", fmt.Sprintf("%s (sha256 %s)", id.Data.Name, id.Data.SHA256[:8]))
	add("targets", shorten(id.Targets))
	add("seeds", shorten(texts(id.Seeds)))
	if len(id.Budgets) > 0 {
		add("budgets", shorten(texts(id.Budgets)))
	}
	add("preset", cfg.Preset)
	for _, s := range allSettings() {
		if s.active(&cfg) && !(s == &budgetSetting && len(id.Budgets) > 0) {
			add(s.name, s.show(&cfg))
		}
	}
	add("costs", fmt.Sprintf("%d sources", len(cfg.Costs)))
	add("nu", fmt.Sprintf("%d sources", len(cfg.Nu)))
	add("out", dir)
	text := list.Render(o.format)
	for _, p := range plans {
		name := cfg.Schedule.Kind
		if p.Budget > 0 {
			name += " " + report.Count(p.Budget)
		}
		title := fmt.Sprintf("plan of schedule %s for K = %d, M = %d sources, d = %d", name, cfg.K, sources, cols)
		text += "\n" + report.Plan(title, p.Epochs, o.format)
	}
	return o.emit(text)
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
