package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/flags"
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
	output
}

func (o *runOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.target, "target", "the target task; by default "+pipeline.Showcase+", or the last task of data without it", "")
	o.data.addFlags(set)
	set.Group(groupSampling)
	o.config.settings.addFlags(set, &budgetSetting)
	o.config.addFlags(set)
	set.Group(groupSampling)
	set.Seed(&o.seed, "seed", "selects all random numbers of the run")
	o.device.addFlags(set)
	set.Group(groupOutput)
	o.folder.addFlags(set, "`FOLDER` of the run; by default amtrl-runs/<target>-<identity>")
	o.addJSON(set, "the result")
	o.addQuiet(set)
	o.addTop(set)
	o.addFormat(set)
}

func (o *runOptions) check() error { return cmp.Or(o.device.check(), o.data.check(), o.checkOutput()) }

func (o *runOptions) run(ctx context.Context) error {
	cfg, err := o.config.resolve(nil)
	if err != nil {
		return err
	}
	cfg.Seed = o.seed.V
	set, err := o.data.open(ctx, o.device.threads.V)
	if err != nil {
		return err
	}
	target := o.target.V
	if target == "" {
		target = pipeline.DefaultTarget(set)
	}
	if _, err := set.TaskIndex(target); err != nil {
		return flags.Misuse("--target: %s", err)
	}
	full, err := cfg.complete(set)
	if err != nil {
		return err
	}
	choice, err := o.device.open(o.device.threads.V, &o.output)
	if err != nil {
		return err
	}
	defer choice.Device.Close()
	id := runs.NewIdentity(version().Version, set, choice, full)
	id.Targets, id.Seeds = []string{target}, []uint64{cfg.Seed}
	dir, dev, err := o.folder.open(&o.output, set, choice, id, "amtrl-runs/"+url.PathEscape(target)+"-")
	if err != nil || dev == nil {
		return err
	}
	defer dev.Close()
	progress := newRunProgress(&o.output, set, id.Config)
	res, err := runs.Run(ctx, dev, id, dir, progress.step)
	progress.close()
	if err != nil {
		return explainInterruption(err, dir)
	}
	if progress.meter == nil {
		o.note("already complete: %s", dir)
	}
	if o.json.V {
		return o.emitJSON(res)
	}
	return o.emit(report.Result(res, o.top.V, o.format) + fmt.Sprintf("\nrun folder: %s\n", dir))
}

// folderOptions say where run and sweep leave what they make.
type folderOptions struct {
	out    flags.Value[string]
	dryRun flags.Value[bool]
}

func (o *folderOptions) addFlags(set *flags.Set, usage string) {
	set.Text(&o.out, "out", usage, "")
	set.Bool(&o.dryRun, "dry-run", "print the resolved configuration and the plan of the schedule, and do nothing")
}

// open names the folder, --out or prefix and a hash of the work, and puts the
// data on the device. With --dry-run it prints the work, and dev is nil.
func (o *folderOptions) open(out *output, set *dataset.Set, choice backend.Choice, id runs.Identity, prefix string) (
	dir string, dev *pipeline.Resident, err error) {
	digest, err := id.Digest()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Clean(cmp.Or(o.out.V, prefix+digest[:8]))
	if o.dryRun.V {
		return dir, nil, dryRun(out, set, id, dir)
	}
	dev, err = pipeline.NewResident(choice.Device, set)
	return dir, dev, err
}

// explainInterruption adds to an interruption how to go on.
func explainInterruption(err error, dir string) error {
	if errors.Is(err, context.Canceled) {
		return interruption("the same command goes on from the last finished step in " + dir)
	}
	return err
}
