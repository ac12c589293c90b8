package pipeline

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// checkpointEvery spaces the checkpoints of a sweep's units, so that units of
// a few seconds are not slowed by them. Tests shorten it.
var checkpointEvery = 10 * time.Second

// SweepUnit is one target, budget and seed of a sweep.
type SweepUnit struct {
	Target string
	Budget float64
	Seed   uint64
}

// Name identifies the unit within its sweep and is safe as a file name.
func (s SweepUnit) Name() string {
	name := url.PathEscape(s.Target) + "_seed" + strconv.FormatUint(s.Seed, 10)
	if s.Budget > 0 {
		name += "_budget" + strconv.FormatFloat(s.Budget, 'g', -1, 64)
	}
	return name
}

// Units lists the units of a sweep: targets, then budgets, then seeds.
func (i Identity) Units() []SweepUnit {
	var units []SweepUnit
	for _, t := range i.Targets {
		for _, b := range i.budgets() {
			for _, s := range i.Seeds {
				units = append(units, SweepUnit{t, b, s})
			}
		}
	}
	return units
}

// budgets are the budgets to visit: 0 alone outside the budget schedule.
func (i Identity) budgets() []float64 {
	switch {
	case len(i.Budgets) > 0:
		return i.Budgets
	case i.Config.Schedule.Kind == ScheduleBudget:
		return []float64{i.Config.Schedule.Budget}
	}
	return []float64{0}
}

// unitConfig is the configuration of one unit.
func (i Identity) unitConfig(s SweepUnit) Config {
	cfg := i.Config
	cfg.Seed = s.Seed
	if s.Budget > 0 {
		cfg.Schedule.Budget = s.Budget
	}
	return cfg
}

// SweepStep tells a listener that a unit has finished.
type SweepStep struct {
	Unit        SweepUnit
	Result      *Result
	Done, Total int
	// Resumed says that an earlier process had finished it.
	Resumed bool
}

// Sweep carries out every unit of id in the folder dir, jobs at a time, each
// result in a file of its own that appears whole, and condenses them. A folder
// that holds part of the same work is resumed: finished units are read, begun
// ones go on from their last checkpoint. The files end in the same bytes
// (timing apart) whatever jobs is and however often it was interrupted.
func Sweep(ctx context.Context, dev *Device, id Identity, dir string, jobs int, progress func(SweepStep)) (*Summary, error) {
	if err := id.Check(dev.Set); err != nil {
		return nil, err
	}
	units := id.Units()
	unlock, err := claimFolder(dir, id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	key, err := id.Digest()
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"results", "checkpoint"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	timing, err := openTiming(filepath.Join(dir, "timing.jsonl"))
	if err != nil {
		return nil, err
	}
	defer timing.close()

	results := make([]Result, len(units))
	var mu sync.Mutex
	done := 0
	report := func(i int, res *Result, resumed bool) {
		mu.Lock()
		defer mu.Unlock()
		results[i] = *res
		done++
		progress(SweepStep{units[i], res, done, len(units), resumed})
	}
	var todo []int
	for i, s := range units {
		res, err := readResult(filepath.Join(dir, "results", s.Name()+".json"), s, id.Config.Methods)
		if err != nil {
			return nil, err
		}
		if res == nil {
			todo = append(todo, i)
			continue
		}
		report(i, res, true)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(jobs, 1))
	for _, i := range todo {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			start := time.Now()
			res, err := sweepUnit(ctx, dev, id, key, dir, units[i])
			if err != nil {
				return err
			}
			report(i, res, false)
			return timing.add(timingLine{Unit: units[i].Name(), Seconds: time.Since(start).Seconds()})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil && done < len(units) {
		return nil, err
	}
	return finishSweep(dir, id, results)
}

// finishSweep condenses the results, which come in unit order.
func finishSweep(dir string, id Identity, results []Result) (*Summary, error) {
	table, err := encodeResults(results)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(dir, "results.csv"), table); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "checkpoint")); err != nil {
		return nil, err
	}
	sum := summarise(id, results)
	return &sum, writeJSON(filepath.Join(dir, "summary.json"), sum)
}

// sweepUnit computes one unit and writes its result.
func sweepUnit(ctx context.Context, dev *Device, id Identity, key, dir string, s SweepUnit) (*Result, error) {
	checkpoint := filepath.Join(dir, "checkpoint", s.Name()+".safetensors")
	res, err := carryUnit(ctx, dev, id, key, checkpoint, s, checkpointEvery, func(Step) {})
	if err != nil {
		return nil, err
	}
	if err := writeJSON(filepath.Join(dir, "results", s.Name()+".json"), res); err != nil {
		return nil, err
	}
	if err := os.Remove(checkpoint); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return res, nil
}

// carryUnit computes one unit from its last checkpoint on, and writes one after
// an epoch where the last is that long ago.
func carryUnit(ctx context.Context, dev *Device, id Identity, key, checkpoint string, s SweepUnit, every time.Duration, progress func(Step)) (*Result, error) {
	cfg := id.unitConfig(s)
	target, err := dev.Set.TaskIndex(s.Target)
	if err != nil {
		return nil, err
	}
	key = fmt.Sprintf("%s/%s", key, s.Name())
	st, err := loadCheckpoint(checkpoint, key)
	if err != nil {
		return nil, err
	}
	u, err := newUnit(dev, &cfg, target)
	if err != nil {
		return nil, err
	}
	defer u.close()
	last := time.Now()
	err = u.run(ctx, st, progress, func(st *state) error {
		if time.Since(last) < every {
			return nil
		}
		last = time.Now()
		return saveCheckpoint(checkpoint, key, st)
	})
	if err != nil {
		return nil, err
	}
	res := u.result(st.Epochs)
	return &res, nil
}
