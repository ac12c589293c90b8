package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/pipeline"
)

// checkpointEvery spaces the checkpoints of a sweep's units, so that units of
// a few seconds are not slowed by them. Tests shorten it.
var checkpointEvery = 10 * time.Second

// SweepStep tells a listener that a unit has finished.
type SweepStep struct {
	Unit        Unit
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
func Sweep(ctx context.Context, data *pipeline.Resident, id Identity, dir string, jobs int, progress func(SweepStep)) (*Summary, error) {
	if err := id.Check(data.Set); err != nil {
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
			res, err := sweepUnit(ctx, data, id, key, dir, units[i])
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
	sum := average(id, results)
	return &sum, writeJSON(filepath.Join(dir, "summary.json"), sum)
}

// sweepUnit computes one unit and writes its result.
func sweepUnit(ctx context.Context, data *pipeline.Resident, id Identity, key, dir string, u Unit) (*Result, error) {
	checkpoint := filepath.Join(dir, "checkpoint", u.Name()+".safetensors")
	res, err := runUnit(ctx, data, id, key, u, checkpoint, checkpointEvery, func(pipeline.Step) {})
	if err != nil {
		return nil, err
	}
	if err := writeJSON(filepath.Join(dir, "results", u.Name()+".json"), res); err != nil {
		return nil, err
	}
	if err := os.Remove(checkpoint); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return res, nil
}

// WriteSweep writes the files that Sweep leaves in the folder dir from the
// results of all units, in unit order, and the seconds that each took. A folder
// that holds part of the same sweep is completed.
func WriteSweep(dir string, id Identity, results []Result, seconds []float64) (*Summary, error) {
	units := id.Units()
	if len(results) != len(units) || len(seconds) != len(units) {
		return nil, fmt.Errorf("%d results and %d times for %d units", len(results), len(seconds), len(units))
	}
	unlock, err := claimFolder(dir, id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := os.MkdirAll(filepath.Join(dir, "results"), 0o755); err != nil {
		return nil, err
	}
	timing, err := openTiming(filepath.Join(dir, "timing.jsonl"))
	if err != nil {
		return nil, err
	}
	defer timing.close()
	for i, u := range units {
		if found := (Unit{results[i].Target, results[i].Budget, results[i].Seed}); found != u {
			return nil, fmt.Errorf("expected the result of %s in place %d, found that of %s", u.Name(), i, found.Name())
		}
		path := filepath.Join(dir, "results", u.Name()+".json")
		js, err := marshalIndent(&results[i])
		if err != nil {
			return nil, err
		}
		there, err := os.ReadFile(path)
		switch {
		case err == nil && !bytes.Equal(there, js):
			return nil, fmt.Errorf("%s: expected the result that the task left, found another", path)
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		if err := errors.Join(atomicfile.Write(path, js), timing.add(timingLine{Unit: u.Name(), Seconds: seconds[i]})); err != nil {
			return nil, err
		}
	}
	return finishSweep(dir, id, results)
}
