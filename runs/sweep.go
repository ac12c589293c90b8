package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

// sweepSpacing spaces the checkpoints of a sweep's units. Tests shorten it.
var sweepSpacing = spacing{every: checkpointEvery}

// SweepStep reports that a unit has finished.
type SweepStep struct {
	Unit        Unit
	Result      *Result
	Done, Total int
	// Resumed reports whether an earlier process had finished the unit.
	Resumed bool
	// Passed is the number of rows of samples that the unit's fits passed over, evaluations times samples, summed over
	// the rounds of all methods. Evaluations is the sum of the evaluations alone. Both are 0 where the unit was
	// resumed.
	Passed, Evaluations int
	// Damaged says what was wrong with the checkpoint of the unit, which was therefore computed from its beginning. It is nil for others.
	Damaged *DamagedCheckpoint
}

// Sweep carries out every unit of id in the folder dir, jobs at a time, and condenses the results. Each result has a
// file of its own that appears whole. A folder that holds part of the same work is resumed: finished units are read,
// begun ones go on from their last checkpoint, or begin anew where that is damaged. The files end in the same bytes
// (timing apart) whatever jobs is and however often the sweep is interrupted. Once ctx is done, Sweep stops and returns
// the error of ctx. Where the folder has finished units of other seeds or budgets, they are kept and the outcome is that
// of all. progress, which may be nil, is called for one unit at a time, on goroutines of Sweep, so that a panic of it
// ends the program; jobs below 1 are 1.
func Sweep(ctx context.Context, data *pipeline.Resident, id Identity, dir string, jobs int, progress func(SweepStep)) (*Summary, error) {
	return SweepAcross(ctx, []*pipeline.Resident{data}, id, dir, jobs, progress, nil)
}

// SweepAcross is [Sweep] on several devices at once. All are of one model, so that they compute the same bytes, and
// each holds the data. Each has at least one job. Where a device is lost ([backend.ErrLost]), lost is called with its
// index in devices and the error, and the others go on with its units from their last checkpoints; where the last
// device is lost, its error is returned. progress and lost may be nil.
func SweepAcross(ctx context.Context, devices []*pipeline.Resident, id Identity, dir string, jobs int, progress func(SweepStep),
	lost func(device int, err error)) (*Summary, error) {
	if len(devices) == 0 {
		return nil, errors.New("expected a device at least, found none")
	}
	for _, data := range devices {
		if err := id.checkResident(data); err != nil {
			return nil, err
		}
	}
	if err := id.Check(devices[0].Set); err != nil {
		return nil, err
	}
	id, unlock, err := id.claim(dir, Identity.grow)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w := &sweepWork{devices: devices, id: id, dir: dir, progress: progress, lost: lost}
	w.units = id.Units()
	w.results = make([]Result, len(w.units))
	todo, err := w.resume()
	if err != nil {
		return nil, err
	}
	w.todo = newShare(todo, len(devices))
	group, working := errgroup.WithContext(ctx)
	defer context.AfterFunc(working, w.todo.stop)()
	for j := range max(jobs, len(devices)) {
		group.Go(func() error { return w.job(working, j%len(devices)) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil && w.done < len(w.units) {
		return nil, err
	}
	return finishSweep(dir, id, w.results)
}

// sweepWork holds what the jobs of a sweep share.
type sweepWork struct {
	devices  []*pipeline.Resident
	id       Identity
	dir      string
	progress func(SweepStep)
	lost     func(device int, err error)

	units   []Unit
	todo    *share
	mu      sync.Mutex // guards what follows, and calls of progress
	results []Result
	done    int
}

// finished takes the result of unit i, and reports it to progress.
func (w *sweepWork) finished(i int, res *Result, resumed bool, by fitted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.results[i] = *res
	w.done++
	if w.progress != nil {
		w.progress(SweepStep{w.units[i], res, w.done, len(w.units), resumed, by.passed, by.evaluations, by.damaged})
	}
}

// resume takes the results that earlier processes finished, and returns the units that are left. It creates the folders
// that these need.
func (w *sweepWork) resume() (todo []int, err error) {
	hashes, err := summaryHashes(w.dir)
	if err != nil {
		return nil, err
	}
	for i, u := range w.units {
		res, err := finishedUnit(w.dir, u, w.id.Config.Methods, hashes)
		if err != nil {
			return nil, err
		}
		if res != nil {
			w.finished(i, res, true, fitted{})
		} else {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return nil, nil
	}
	for _, sub := range []string{resultsDir, checkpointDir} {
		if err := atomicfile.MkdirAll(filepath.Join(w.dir, sub)); err != nil {
			return nil, err
		}
	}
	return todo, nil
}

// job carries out one unit after the other on a device, until none is left or the device is lost.
func (w *sweepWork) job(ctx context.Context, device int) error {
	for {
		i, ok := w.todo.next(device)
		if !ok {
			return nil
		}
		start := time.Now()
		res, by, err := sweepUnit(ctx, w.devices[device], w.id, w.dir, w.units[i])
		if errors.Is(err, backend.ErrLost) {
			news, left := w.todo.giveBack(device, i)
			if !left {
				return err
			}
			if news && w.lost != nil {
				w.lost(device, err)
			}
			continue
		}
		if err == nil {
			w.finished(i, res, false, by)
			err = timingLine{Unit: w.units[i].Name(), Seconds: time.Since(start).Seconds()}.append(w.dir)
		}
		w.todo.done()
		if err != nil {
			return err
		}
	}
}

// summaryHashes returns the hashes in the summary of a finished sweep. It returns nil where the file is absent or
// damaged, since it is written anew in any case.
func summaryHashes(dir string) (Hashes, error) {
	raw, err := atomicfile.ReadFile(filepath.Join(dir, summaryFile), maxResult)
	var sum Summary
	if errors.Is(err, fs.ErrNotExist) || err == nil && (jsonfile.Decode(raw, &sum) != nil || jsonfile.CheckSeal(raw, sum.SHA256) != nil) {
		return nil, nil
	}
	return sum.Files, err
}

// finishedUnit returns the result that an earlier process left, and removes the checkpoint of the unit. It returns nil
// where the result is absent, cut short, or not the one that the finished sweep had.
func finishedUnit(dir string, u Unit, methods []string, hashes Hashes) (*Result, error) {
	name := resultName(u)
	path := filepath.Join(dir, name)
	if want := hashes[filepath.ToSlash(name)]; want != "" {
		if found, err := hashFile(path); err != nil || found != want {
			return nil, err
		}
	}
	res, err := readResult(path, u, methods)
	if res == nil || err != nil {
		return nil, err
	}
	return res, atomicfile.Remove(checkpointName(dir, u))
}

func resultName(u Unit) string { return filepath.Join(resultsDir, u.Name()+".json") }

func checkpointName(dir string, u Unit) string {
	return filepath.Join(dir, checkpointDir, u.Name()+".safetensors")
}

// finishSweep writes results.csv and summary.json from the results, which are in unit order, and removes the
// checkpoints.
func finishSweep(dir string, id Identity, results []Result) (*Summary, error) {
	table, err := encodeResults(results)
	if err == nil {
		err = writeIfChanged(filepath.Join(dir, resultsFile), table)
	}
	if err != nil {
		return nil, err
	}
	checkpoints := filepath.Join(dir, checkpointDir)
	if _, err := os.Lstat(checkpoints); err == nil {
		if err := os.RemoveAll(checkpoints); err != nil {
			return nil, err
		}
	}
	sum := average(id, results)
	names := []string{configFile, resultsFile}
	for _, u := range id.Units() {
		names = append(names, filepath.ToSlash(resultName(u)))
	}
	if sum.Files, err = hashFiles(dir, names...); err != nil {
		return nil, err
	}
	raw, err := jsonfile.EncodeSealed(jsonfile.Encode, &sum, &sum.SHA256)
	if err != nil {
		return nil, err
	}
	return &sum, writeIfChanged(filepath.Join(dir, summaryFile), raw)
}

func sweepUnit(ctx context.Context, data *pipeline.Resident, id Identity, dir string, u Unit) (*Result, fitted, error) {
	path := checkpointName(dir, u)
	var res *Result
	var w fitted
	var damaged *DamagedCheckpoint
	err := Anew(func() (err error) {
		res, w, err = runUnit(ctx, data, id, u, path, sweepSpacing, nil)
		return err
	}, func(d *DamagedCheckpoint) { damaged = d })
	w.damaged = damaged
	if err != nil {
		return nil, w, err
	}
	raw, err := res.encode()
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, resultName(u)), raw)
	}
	if err != nil {
		return nil, w, err
	}
	return res, w, atomicfile.Remove(path)
}

// WriteSweep writes the files that Sweep leaves in the folder dir from the results of all units, in unit order, and the
// seconds that each unit took. A folder that holds part of the same sweep, or one of fewer seeds and budgets, is
// completed.
func WriteSweep(dir string, id Identity, results []Result, seconds []float64) (*Summary, error) {
	units := id.Units()
	if len(results) != len(units) || len(seconds) != len(units) {
		return nil, fmt.Errorf("%d results and %d times for %d units", len(results), len(seconds), len(units))
	}
	if err := id.Config.Validate(); err != nil {
		return nil, err
	}
	id, unlock, err := id.claim(dir, completed)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := atomicfile.MkdirAll(filepath.Join(dir, resultsDir)); err != nil {
		return nil, err
	}
	for i, u := range units {
		if err := results[i].Check(u, id.Config.Methods); err != nil {
			return nil, fmt.Errorf("place %d: %w", i, err)
		}
		path := filepath.Join(dir, resultName(u))
		js, err := results[i].encode()
		if err != nil {
			return nil, err
		}
		there, err := atomicfile.ReadFile(path, maxResult)
		switch {
		case err == nil && bytes.Equal(there, js):
			continue
		case err == nil && json.Valid(there):
			return nil, fmt.Errorf("%s: expected the result that the task left, found another", path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		if err := atomicfile.Write(path, js); err != nil {
			return nil, err
		}
		if err := (timingLine{Unit: u.Name(), Seconds: seconds[i]}).append(dir); err != nil {
			return nil, err
		}
	}
	return finishSweep(dir, id, results)
}
