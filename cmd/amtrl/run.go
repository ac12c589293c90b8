package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// runDigits is as many base images as MNIST-C has; the default run on them
// takes well under a minute on two cores.
const runDigits = 10_000

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "choose samples for one target, fit, and compare with uniform sampling",
		Description: "Without flags it works on embedded digits. It leaves a folder with the configuration, the epochs,\n" +
			"the relevance of every source, the model and the result; a folder of unfinished work is resumed.",
		Flags: slices.Concat(
			[]cli.Flag{textFlag(categoryData, "target", "the target task; by default "+pipeline.Showcase+", or the last task of data without it", "")},
			dataFlags(runDigits),
			[]cli.Flag{seedFlag(categorySettings, "seed", "selects all random numbers of the run", 0)},
			configFlags(),
			deviceFlags(),
			[]cli.Flag{
				textFlag(categoryOutput, "out", "`FOLDER` of the run; by default amtrl-runs/<target>-<identity>", ""),
				boolFlag(categoryOutput, "dry-run", "print the resolved configuration and the plan of the schedule, and do nothing"),
				topFlag(), formatFlag(), jsonFlag("the result"), quietFlag(),
			},
		),
		Action: run,
	}
}

func run(c *cli.Context) error {
	for _, check := range []func(*cli.Context) error{noArguments, checkDevice, checkData} {
		if err := check(c); err != nil {
			return err
		}
	}
	format, err := tableFormat(c)
	if err != nil {
		return err
	}
	if err := between(c, "top", 0, maxTop); err != nil {
		return err
	}
	cfg, err := readConfig(c, nil)
	if err != nil {
		return err
	}
	cfg.Seed = c.Uint64("seed")
	set, err := openData(c)
	if err != nil {
		return err
	}
	target, err := pickTarget(c, set)
	if err != nil {
		return err
	}
	if err := cfg.checkNames(set); err != nil {
		return err
	}
	w, err := newWork(c, set, c.Int("threads"), func(id *runs.Identity) {
		id.Targets, id.Seeds = []string{target}, []uint64{cfg.Seed}
	}, func(digest string) string {
		return filepath.Join("amtrl-runs", url.PathEscape(target)+"-"+digest)
	}, cfg.Config)
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
	progress := newRunProgress(c, w)
	res, err := runs.Run(c.Context, dev, w.id, w.dir, progress.step)
	progress.close()
	if err != nil {
		return w.explain(err)
	}
	if !progress.begun() {
		note(c, "already complete: %s", w.dir)
	}
	if c.Bool("json") {
		return emitJSON(c, res)
	}
	return emit(c, report.Result(res, c.Int("top"), format)+fmt.Sprintf("\nrun folder: %s\n", w.dir))
}
