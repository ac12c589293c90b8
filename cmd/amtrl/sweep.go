package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

const maxJobs = 4096

// maxUnits bounds what mistyped ranges can ask for: each unit is a fit and a
// result file.
const maxUnits = 1_000_000

// checkUnits refuses a sweep of too many units.
func checkUnits(c *cli.Context, targets, seeds, budgets int) error {
	budgets = max(1, budgets)
	if targets > maxUnits/seeds/budgets {
		return misuse(c, "%d targets, %d seeds and %d budgets: expected at most %d units in a sweep", targets, seeds, budgets, maxUnits)
	}
	return nil
}

func sweepCommand() *cli.Command {
	jobs := intFlag(categoryDevice, "jobs", "targets at a time; results do not depend on it", 0)
	jobs.DefaultText = "all processors"
	return &cli.Command{
		Name:  "sweep",
		Usage: "run many targets, seeds and budgets and compare the methods over them",
		Description: "Each target, seed and budget is one unit with a result file of its own; a folder of unfinished\n" +
			"work is resumed. Methods are compared in pairs over targets, the seeds of a target averaged.",
		Flags: slices.Concat(
			sweepFlags(),
			[]cli.Flag{
				riskFlag(),
				jobs,
				textFlag(categoryOutput, "out", "`FOLDER` of the sweep; by default amtrl-sweeps/<identity>", ""),
				boolFlag(categoryOutput, "dry-run", "print the resolved configuration and the plan of the schedule, and do nothing"),
				formatFlag(), jsonFlag("the summary"), quietFlag(),
			},
		),
		Action: sweep,
	}
}

// sweepFlags say what a sweep is of.
func sweepFlags() []cli.Flag {
	return slices.Concat(
		[]cli.Flag{
			textFlag(categoryData, "targets", "all, or names and patterns such as fog_*,zigzag_2", "all"),
			textFlag(categorySettings, "seeds", "seeds and ranges such as 0-4,10", "0"),
			textFlag(categorySettings, "budgets", "budgets such as 5000,10000; implies --schedule budget", ""),
		},
		dataFlags(runDigits),
		configFlags("budget"),
		deviceFlags(),
	)
}

func riskFlag() cli.Flag {
	return numberFlag(categoryOutput, "risk", "with --budgets: also print how many samples each method needs for this mean score, such as 0.05", 0)
}

// sweepResult is what --json prints: the summary, and what --risk asks for.
type sweepResult struct {
	*runs.Summary
	Needed []runs.Needed `json:"needed,omitempty"`
}

func sweep(c *cli.Context) error {
	for _, check := range []func(*cli.Context) error{noArguments, checkDevice, checkData} {
		if err := check(c); err != nil {
			return err
		}
	}
	if err := between(c, "jobs", 0, maxJobs); err != nil {
		return err
	}
	format, err := tableFormat(c)
	if err != nil {
		return err
	}
	p, err := planSweep(c)
	if err != nil {
		return err
	}
	jobs, threads := pipeline.Concurrency(len(p.targets)*len(p.seeds)*max(1, len(p.budgets)), c.Int("jobs"), c.Int("threads"))
	w, err := newWork(c, p.set, threads, p.fill, func(digest string) string {
		return filepath.Join("amtrl-sweeps", digest)
	}, p.cfg.Config)
	if err != nil {
		return err
	}
	defer w.close()
	if c.Bool("dry-run") {
		return dryRun(c, w, format)
	}
	dev, err := w.device()
	if err != nil {
		return err
	}
	defer dev.Close()
	progress := newSweepProgress(c, len(w.id.Units()))
	sum, err := runs.Sweep(c.Context, dev, w.id, w.dir, jobs, progress.step)
	progress.close()
	if err != nil {
		return w.explain(err)
	}
	if !progress.begun() {
		note(c, "already complete: %s", w.dir)
	}
	return printSweep(c, w.dir, w.id, sum, format)
}

// sweepPlan is what the flags of a sweep ask for.
type sweepPlan struct {
	set     *dataset.Set
	cfg     configuration
	targets []string
	seeds   []uint64
	budgets []float64
}

// fill completes an identity.
func (p *sweepPlan) fill(id *runs.Identity) {
	id.Targets, id.Seeds, id.Budgets = p.targets, p.seeds, p.budgets
}

// planSweep reads the flags of sweepFlags.
func planSweep(c *cli.Context) (*sweepPlan, error) {
	seeds, err := parseSeeds(c.String("seeds"))
	if err != nil {
		return nil, misuse(c, "--seeds: %s", err)
	}
	budgets, err := readBudgets(c)
	if err != nil {
		return nil, err
	}
	if err := checkRisk(c, budgets); err != nil {
		return nil, err
	}
	cfg, err := readConfig(c, budgets)
	if err != nil {
		return nil, err
	}
	set, err := openData(c)
	if err != nil {
		return nil, err
	}
	targets, err := matchTargets(set, c.String("targets"))
	if err != nil {
		return nil, misuse(c, "--targets: %s", err)
	}
	if err := cfg.checkNames(set); err != nil {
		return nil, err
	}
	if err := checkUnits(c, len(targets), len(seeds), len(budgets)); err != nil {
		return nil, err
	}
	return &sweepPlan{set, cfg, targets, seeds, budgets}, nil
}

func printSweep(c *cli.Context, dir string, id runs.Identity, sum *runs.Summary, format report.Format) error {
	out := sweepResult{Summary: sum}
	if c.IsSet("risk") && len(id.Budgets) > 0 {
		out.Needed = sum.SamplesNeeded(c.Float64("risk"))
	}
	if c.Bool("json") {
		return emitJSON(c, out)
	}
	text := report.Summary(sum, format)
	if out.Needed != nil {
		text += "\n" + report.Needed(sum.Metric, c.Float64("risk"), out.Needed, format)
	}
	return emit(c, text+fmt.Sprintf("\nsweep folder: %s\n", dir))
}

// readBudgets reads --budgets, which comes with the schedule it implies.
func readBudgets(c *cli.Context) ([]float64, error) {
	if !c.IsSet("budgets") {
		if c.String("schedule") == pipeline.ScheduleBudget {
			return nil, misuse(c, "--schedule budget needs --budgets in a sweep")
		}
		return nil, nil
	}
	if !impliesBudget(c, "budgets") && c.String("schedule") != pipeline.ScheduleBudget {
		if !given(c, "budgets") {
			return nil, nil
		}
		return nil, misuse(c, "--budgets does nothing with --schedule %s", c.String("schedule"))
	}
	budgets, err := parseBudgets(c.String("budgets"))
	if err != nil {
		return nil, misuse(c, "--budgets: %s", err)
	}
	return budgets, nil
}

func checkRisk(c *cli.Context, budgets []float64) error {
	if !c.IsSet("risk") || len(budgets) == 0 && !given(c, "risk") {
		return nil
	}
	if len(budgets) == 0 {
		return misuse(c, "--risk needs --budgets: the samples needed are interpolated between budgets")
	}
	if v := c.Float64("risk"); !(v > 0) || math.IsInf(v, 1) {
		return misuse(c, "--risk is %g: expected a positive number", v)
	}
	return nil
}
