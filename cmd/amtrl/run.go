package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

type runOptions struct {
	target flags.Value[string]
	data   dataOptions
	config configOptions
	seed   flags.Value[uint64]
	device deviceOptions
	folder folderOptions
	save   flags.Value[string]
	output
}

func (o *runOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.target, "target", "the target: a task, or with --sources pools a pool; "+
		"by default "+pipeline.Showcase+" or its pool, or the last of data without it", "")
	o.data.addFlags(set)
	set.Group(groupSampling)
	o.config.settings.addFlags(set, &budgetSetting)
	o.config.addFlags(set)
	set.Group(groupSampling)
	set.Seed(&o.seed, "seed", "selects all random numbers of the run")
	o.device.addFlags(set)
	set.Group(groupOutput)
	o.folder.addFlags(set, "`FOLDER` of the run; by default amtrl-runs/<target>-<identity>")
	set.Text(&o.save, "save", "models to save: recommended, or all for those of the other methods too, in models/", "recommended")
	o.addJSON(set, "the result")
	o.addQuiet(set)
	o.addTop(set)
	o.addFormat(set)
}

func (o *runOptions) check() error {
	return cmp.Or(o.device.check(), o.data.check(), flags.OneOf(o.save, "recommended", "all"), o.output.check())
}

func (o *runOptions) run(ctx context.Context) error {
	o.device.openEarly()
	cfg, err := o.config.resolve(nil)
	if err != nil {
		return err
	}
	cfg.Seed = o.seed.V
	set, err := o.data.open(ctx, o.device.threads.V, &o.output)
	if err != nil {
		return err
	}
	cfg.Sources = o.data.kindOfSources()
	full, targets, err := cfg.complete(set, &o.output, func(full *pipeline.Config) ([]string, error) {
		target := cmp.Or(o.target.V, full.DefaultTarget(set))
		if _, err := full.FindTarget(set, target); err != nil {
			return nil, flags.Misuse("--target: %s", err)
		}
		return []string{target}, nil
	})
	if err != nil {
		return err
	}
	target := targets[0]
	warnings := o.noteData(set)
	o.noteGroups(&o.data)
	o.noteWidth(set, &full, target)
	if i, err := full.FindSource(set, target); err == nil {
		if p, err := pipeline.NewProblem(set, full, i); err == nil { // an error is that of the run
			for _, odd := range p.UnseenClasses() {
				o.note("note: %s", odd)
			}
		}
	}
	choice, err := o.device.open(o.device.threads.V, &o.output)
	if err != nil {
		return err
	}
	defer choice.Device.Close()
	hashed := o.noteLate("computing the hash of the data")
	id := runs.NewIdentity(version().Version, set, choice, full)
	hashed()
	id.Targets, id.Seeds, id.Warnings = []string{target}, []uint64{cfg.Seed}, warnings
	dir, dev, err := o.folder.open(&o.output, set, choice, id, "amtrl-runs/"+runs.FileName(target, maxTargetName)+"-",
		runs.Identity.CheckRunFolder)
	if err != nil || dev == nil {
		return err
	}
	defer dev.Close()
	progress := newRunProgress(&o.output, set, id.Config)
	var res *runs.Result
	err = runs.Anew(func() (err error) {
		res, err = runs.Run(ctx, dev, id, dir, progress.step)
		return err
	}, func(d *runs.DamagedCheckpoint) {
		o.note("%s is damaged: %v; computing the run from its beginning", d.Path, d.Err)
	})
	progress.meter.close()
	if err != nil {
		return explainInterruption(err, dir)
	}
	if progress.meter == nil {
		o.note("already complete: %s", dir)
	}
	noteUnspent(&o.output, set, &id.Config, res)
	o.keepWords(dir, inputWords(&o.data, &cfg, &o.device))
	if o.save.V == "all" {
		if err := runs.SaveModels(dir, res); err != nil {
			return err
		}
	}
	columns, err := res.ReadEvaluation(dir)
	if err != nil {
		return err
	}
	byColumn := report.ByColumn(cmp.Or(res.Recommended, res.Methods[0].Method), columns)
	if byColumn != "" {
		byColumn = "\n" + o.lines(byColumn)
	}
	found := wrapped(report.Result(res, o.top.V, o.format) + byColumn)
	return o.emitEither(res, found+"\n"+folderLines("run", dir, o.format))
}

// maxTargetName is the number of bytes of a target's name that fit into the name of the default folder, beside a hash of the work.
const maxTargetName = 255 - len("-01234567")

// folderOptions holds the options of run and sweep for the folder that they write.
type folderOptions struct {
	out    flags.Value[string]
	dryRun flags.Value[bool]
}

func (o *folderOptions) addFlags(set *flags.Set, usage string) {
	set.Text(&o.out, "out", usage, "")
	set.Bool(&o.dryRun, "dry-run", "make every check of the run and print the resolved configuration and the plan of the schedule")
}

// open returns the folder, which is --out or prefix followed by a hash of the work, and the data on the device. With
// --dry-run it prints the plan of the work, unless check refuses the folder, and dev is nil.
func (o *folderOptions) open(out *output, set *dataset.Set, choice backend.Choice, id runs.Identity, prefix string,
	check func(id runs.Identity, dir string) error) (dir string, dev *pipeline.Resident, err error) {
	digest, err := id.Digest()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Clean(cmp.Or(o.out.V, prefix+digest[:8]))
	noteBudget(out, set, id)
	if o.dryRun.V {
		if err := check(id, dir); err != nil {
			return dir, nil, err
		}
		return dir, nil, dryRun(out, set, id, dir)
	}
	if slices.Contains(id.Config.Methods, pipeline.Known) && len(id.Config.Nu) == 0 && set.Model == nil {
		return dir, nil, fmt.Errorf("method %s needs the true relevance, which %s does not tell: give it with --nu FILE", pipeline.Known,
			set.Name)
	}
	dev, err = out.place(choice.Device, set)
	return dir, dev, err
}

// noteLogs notes each label that is a logarithm: errors are errors of the logarithm.
func (o *output) noteLogs(set *dataset.Set) {
	if set.Columns == nil {
		return
	}
	for _, l := range set.Columns.Labels {
		if l.LogOf != "" {
			o.note("note: errors are of %s; predict writes %s", text.OneLine(l.Name, 80), text.OneLine(l.LogOf, 80))
		}
	}
}

// noteData notes which labels are logarithms, and what in the data makes results or errors wrong, which it returns.
func (o *output) noteData(set *dataset.Set) *dataset.Warnings {
	o.noteLogs(set)
	const most = 8
	found := set.Warnings()
	all := found.Oddities(true)
	for i, odd := range all {
		if i == most {
			o.note("note: and %d more, which amtrl data check has", len(all)-most)
			break
		}
		o.note("note: %s", odd)
	}
	return found
}

// noteWidth notes a representation that is wider than the rows, and one for which minnorm has no solution of W nu = w.
func (o *output) noteWidth(set *dataset.Set, cfg *pipeline.Config, target string) {
	at, err := cfg.FindSource(set, target)
	if err != nil || cfg.Representation != pipeline.ClassLinear {
		return
	}
	outputs, cols := 0, set.Pools[0].Cols
	for _, s := range cfg.SourcesFor(set, at) {
		outputs += len(s.Tasks)
	}
	if cfg.K > cols {
		o.note("note: --k %d is more than the %s of a row: a representation has no more dimensions than that", cfg.K,
			text.Several(cols, "number"))
	}
	if cfg.Relevance.Kind == pipeline.MinNorm && cfg.K > outputs {
		o.note("note: --k %d is more than the %s of the sources: no nu solves W nu = w, and minnorm takes the nearest", cfg.K,
			text.Several(outputs, "output"))
	}
}

// noteBudget notes a budget that exceeds the cost of all rows.
func noteBudget(out *output, set *dataset.Set, id runs.Identity) {
	cfg := &id.Config
	target, err := cfg.FindSource(set, id.Targets[0])
	if err != nil || cfg.Schedule.Kind != pipeline.ScheduleBudget || len(id.Targets) > 1 {
		return
	}
	budget := max(cfg.Schedule.Budget, slices.Max(append(id.Budgets[:len(id.Budgets):len(id.Budgets)], 0)))
	if all := costOfAll(set, cfg, cfg.SourcesFor(set, target)); budget > all {
		out.note("all rows of the sources together cost %s: a budget of %s buys no more",
			report.Count(all), report.Count(budget))
	}
}

// noteUnspent notes that method active left a part of its budget with which it could have bought further rows.
func noteUnspent(out *output, set *dataset.Set, cfg *pipeline.Config, res *runs.Result) {
	target, err := cfg.FindSource(set, res.Target)
	active := res.Method(pipeline.Active)
	if err != nil || active == nil || cfg.Schedule.Kind != pipeline.ScheduleBudget {
		return
	}
	sources := cfg.SourcesFor(set, target)
	budget := min(cfg.Schedule.Budget, costOfAll(set, cfg, sources))
	if dearest := slices.Max(cfg.CostsOf(sources)); active.Cost < budget-dearest {
		out.note("active spent %s of %s: sources that relevance gives a part of the budget have no more rows; with --mix above 0 the rest goes "+
			"to the others", report.Count(active.Cost), report.Count(budget))
	}
}

// place puts the data on a device, and notes if there is no room for all of them.
func (o *output) place(device backend.Device, set *dataset.Set) (*pipeline.Resident, error) {
	data, err := pipeline.NewResident(device, set)
	if err != nil {
		return nil, err
	}
	if shortage := data.Shortage(); shortage != "" {
		o.note("%s", shortage)
	}
	return data, nil
}

func explainInterruption(err error, dir string) error {
	if errors.Is(err, context.Canceled) {
		return interruption("the same command goes on from the last finished step in " + dir)
	}
	return err
}

type dryRunResult struct {
	Out      string        `json:"out"`
	Identity runs.Identity `json:"identity"`
	Plans    []budgetPlan  `json:"plans"`
}

// budgetPlan is the plan of the schedule at one budget. Budget is 0 for other schedules than the budget schedule.
type budgetPlan struct {
	Budget float64              `json:"budget,omitempty"`
	Epochs []pipeline.EpochPlan `json:"epochs"`
}

// dryRun prints the configuration and the plan of the work that id describes and that would go to the folder dir.
func dryRun(o *output, set *dataset.Set, id runs.Identity, dir string) error {
	cfg := id.Config
	var costs []float64
	if target, err := cfg.FindSource(set, id.Targets[0]); err == nil {
		costs = cfg.CostsOf(cfg.SourcesFor(set, target))
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
		plans = append(plans, budgetPlan{b, schedule.Plan(costs, cfg.K, cols)})
	}
	uncountable := func(e pipeline.EpochPlan) bool { return !(math.Abs(e.Beta+e.Cost+e.Floor) <= math.MaxFloat64) }
	if t := cfg.Schedule.Theory; t != nil && slices.ContainsFunc(plans[0].Epochs, uncountable) {
		return flags.Misuse("schedule theory with delta %g, r %g, sigma-min %g and beta %g asks for more samples than can be counted: "+
			"expected constants nearer to 1", t.Delta, t.R, t.SigmaMin, t.Beta)
	}
	refused := id.Check(set)
	if refused != nil {
		// The theorem's own constants ask for more samples than any data have; the plan is shown all the same.
		if cfg.Schedule.Kind != pipeline.ScheduleTheory {
			return refused
		}
		refused = fmt.Errorf("a run would be refused: %w", refused)
	}
	if o.json.V {
		return cmp.Or(o.emitJSON(dryRunResult{dir, id, plans}), refused)
	}
	list := report.Table{Header: []string{"setting", "value"}}
	add := func(name, value string) { list.Rows = append(list.Rows, []string{name, value}) }
	add("data", fmt.Sprintf("%s (sha256 %s)", id.Data.Name, id.Data.SHA256[:8]))
	add("targets", text.List(id.Targets, mostListed))
	add("seeds", text.List(texts(id.Seeds), mostListed))
	if len(id.Budgets) > 0 {
		add("budgets", text.List(texts(id.Budgets), mostListed))
	}
	add("preset", cfg.Preset)
	add("sources", cmp.Or(cfg.Sources, pipeline.SourcesTasks))
	for _, s := range allSettings() {
		if s.active(&cfg) && !(s == &budgetSetting && len(id.Budgets) > 0) {
			add(s.name, s.show(&cfg))
		}
	}
	add("costs", text.Several(len(cfg.Costs), "source"))
	add("nu", text.Several(len(cfg.Nu), "source"))
	add("out", dir)
	out := list.Render(o.format)
	for _, p := range plans {
		name := cfg.Schedule.Kind
		if p.Budget > 0 {
			name += " " + report.Count(p.Budget)
		}
		title := fmt.Sprintf("plan of schedule %s for K = %d, M = %s, d = %d", name, cfg.K, text.Several(len(costs), "source"), cols)
		schedule := cfg.Schedule
		schedule.Budget = p.Budget
		out += "\n" + report.Plan(title, schedule, p.Epochs, costs, o.format)
	}
	return cmp.Or(o.emit(out), refused)
}

// mostListed is the largest number of names in a note or a cell of a table.
const mostListed = 8

func texts[E any](values []E) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return out
}
