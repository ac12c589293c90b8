package main

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// Bounds that catch mistyped numbers and ranges: each unit is a fit and a result file.
const (
	maxJobs  = 4096
	maxUnits = 1_000_000
)

type sweepOptions struct {
	sweepInput
	jobs    flags.Value[int]
	devices flags.Value[string]
	folder  folderOptions
	sweepOutput
}

func (o *sweepOptions) addFlags(set *flags.Set) {
	o.sweepInput.addFlags(set)
	set.Group(groupDevice)
	set.Int(&o.jobs, "jobs", "targets at a time, on all devices together; results do not depend on it", 0).DefaultText = "all processors"
	set.Text(&o.devices, "devices", "CUDA devices of one model that share the targets: all, or numbers such as 0,1", "")
	set.Group(groupOutput)
	o.folder.addFlags(set, "`FOLDER` of the sweep, to which seeds and budgets can be added; by default amtrl-sweeps/<identity>")
	o.sweepOutput.addFlags(set)
}

func (o *sweepOptions) check() error {
	err := cmp.Or(o.device.check(), o.checkDevices(), o.data.check(), flags.Between(o.jobs, 0, maxJobs), o.output.check(), o.readLists())
	if err != nil {
		return err
	}
	return o.checkRisk(o.budgetList)
}

func (o *sweepOptions) run(ctx context.Context) error {
	if !o.severalDevices() {
		o.device.openEarly()
	}
	p, err := o.plan(ctx, &o.output)
	if err != nil {
		return err
	}
	o.noteData(p.set)
	o.noteWidth(p.set, &p.cfg, p.targets[0])
	jobs, threads := pipeline.Concurrency(p.units(), o.jobs.V, o.device.threads.V)
	open, err := o.open(threads)
	if err != nil {
		return err
	}
	defer open.close()
	choice := open.choice
	hashed := o.noteLate("computing the hash of the data")
	id := runs.NewIdentity(version().Version, p.set, choice, p.cfg)
	hashed()
	id.Targets, id.Seeds, id.Budgets = p.targets, p.seeds, p.budgets
	dir, dev, err := o.folder.open(&o.output, p.set, choice, id, "amtrl-sweeps/", runs.Identity.CheckSweepFolder)
	if err != nil || dev == nil {
		return err
	}
	defer dev.Close()
	residents, err := open.residents(dev)
	if err != nil {
		return err
	}
	progress := &sweepProgress{out: &o.output, start: time.Now()}
	sum, err := runs.SweepAcross(ctx, residents, id, dir, jobs, progress.step, open.lost)
	progress.meter.close()
	if err != nil {
		return explainInterruption(err, dir)
	}
	if !progress.started {
		o.note("already complete: %s", dir)
	}
	o.keepWords(dir, p.words)
	return o.printSummary(dir, id, sum)
}

type sweepInput struct {
	targets, seeds, budgets flags.Value[string]
	data                    dataOptions
	config                  configOptions
	device                  deviceOptions

	// What --seeds and --budgets list, set by readLists.
	seedList   []uint64
	budgetList []float64
}

func (o *sweepInput) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.targets, "targets", "all, or names and patterns such as fog_*,zigzag_2; in double quotes a name that holds a comma or\n"+
		"is all", flags.All)
	o.data.addFlags(set)
	set.Group(groupSampling)
	set.Text(&o.budgets, "budgets", "budgets such as 5000,10000; implies --schedule budget", "")
	o.config.settings.budget = &o.budgets.Origin
	set.Text(&o.seeds, "seeds", "seeds and ranges such as 0-4,10", "0")
	o.config.addFlags(set)
	o.device.addFlags(set)
}

// sweepPlan is what the flags of a sweep ask for.
type sweepPlan struct {
	set     *dataset.Set
	cfg     pipeline.Config
	targets []string
	seeds   []uint64
	budgets []float64
	words   []string // for flags.json
}

func (p *sweepPlan) units() int { return len(p.targets) * len(p.seeds) * max(1, len(p.budgets)) }

// plan resolves the flags and opens the data. It must be called after readLists.
func (o *sweepInput) plan(ctx context.Context, out *output) (*sweepPlan, error) {
	p := sweepPlan{seeds: o.seedList, budgets: o.budgetList}
	cfg, err := o.config.resolve(p.budgets)
	if err != nil {
		return nil, err
	}
	if p.set, err = o.data.open(ctx, o.device.threads.V, out); err != nil {
		return nil, err
	}
	cfg.Sources, p.words = o.data.kindOfSources(), inputWords(&o.data, &cfg, &o.device)
	p.cfg, p.targets, err = cfg.complete(p.set, out, func(full *pipeline.Config) ([]string, error) {
		if _, err := full.FindTarget(p.set, flags.All); err == nil && o.targets.Set && o.targets.V == flags.All {
			return nil, flags.Misuse(`--targets all: a target has this name: expected '"all"' for it, or no --targets for every one`)
		}
		targets, err := matchTargets(p.set, full, o.targets.V)
		if err != nil {
			return nil, flags.Misuse("--targets: %s", err)
		}
		return targets, nil
	})
	if err != nil {
		return nil, err
	}
	if budgets := max(1, len(p.budgets)); len(p.targets) > maxUnits/len(p.seeds)/budgets {
		return nil, flags.Misuse("%s, %s and %s: expected at most %s units in a sweep",
			text.Several(len(p.targets), "target"), text.Several(len(p.seeds), "seed"), text.Several(budgets, "budget"), text.Count(maxUnits))
	}
	return &p, nil
}

// readLists reads --seeds and --budgets. --budgets implies the budget schedule.
func (o *sweepInput) readLists() (err error) {
	if o.seedList, err = flags.Seeds(o.seeds.V); err != nil {
		return flags.Misuse("--seeds: %s", err)
	}
	settings := &o.config.settings
	var schedule string
	settings.schedule.Store(&schedule)
	chosen := schedule == pipeline.ScheduleBudget
	switch {
	case !o.budgets.Set && chosen:
		return flags.Misuse("--schedule budget needs --budgets in a sweep")
	case !o.budgets.Set || !settings.impliesBudget() && !chosen && !o.budgets.Given:
		return nil
	case !settings.impliesBudget() && !chosen:
		return flags.Misuse("--budgets does nothing with --schedule %s", schedule)
	}
	if o.budgetList, err = flags.Budgets(o.budgets.V); err != nil {
		return flags.Misuse("--budgets: %s", err)
	}
	return nil
}

type sweepOutput struct {
	output
	risk flags.Value[float64]
}

func (o *sweepOutput) addFlags(set *flags.Set) {
	o.addJSON(set, "the summary")
	o.addQuiet(set)
	o.addFormat(set)
	set.Number(&o.risk, "risk", "with --budgets: also print how many samples each method needs for this mean score, such as 0.05", 0)
}

func (o *sweepOutput) checkRisk(budgets []float64) error {
	if !o.risk.Set || len(budgets) == 0 && !o.risk.Given {
		return nil
	}
	if len(budgets) == 0 {
		return flags.Misuse("--risk needs --budgets: the samples needed are interpolated between budgets")
	}
	if !(o.risk.V > 0) || math.IsInf(o.risk.V, 1) {
		return flags.Misuse("--risk is %g: expected a positive number", o.risk.V)
	}
	return nil
}

// sweepResult is what --json prints: the summary, what --risk asks for, and how much shares differ between seeds.
type sweepResult struct {
	*runs.Summary
	Needed    []runs.Needed            `json:"needed,omitempty"`
	Stability []report.SourceStability `json:"stability,omitempty"`
}

// stableSources is the number of sources in the table of shares over seeds.
const stableSources = 10

func (o *sweepOutput) printSummary(dir string, id runs.Identity, sum *runs.Summary) error {
	out := sweepResult{Summary: sum}
	if o.risk.Set && len(id.Budgets) > 0 {
		out.Needed = sum.SamplesNeeded(o.risk.V)
	}
	text := report.Summary(sum, o.format)
	var stable string
	var err error
	if out.Stability, stable, err = report.Stability(dir, &id, sum, stableSources, o.format); err != nil {
		return err
	}
	if stable != "" {
		text += "\n" + stable
	}
	if out.Needed != nil {
		text += "\n" + report.Needed(sum.Metric, o.risk.V, out.Needed, o.format)
	}
	return o.emitEither(out, wrapped(text)+"\n"+folderLines("sweep", dir, o.format))
}
