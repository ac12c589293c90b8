package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/atomicfile"
)

// The units of a sweep can be carried out apart, in processes and on machines
// of their own, and put together afterwards: Check, RunUnit for each, WriteSweep.

// DescribeData names the data of a set and its content.
func DescribeData(set *dataset.Set) DataIdentity {
	return DataIdentity{Name: set.Name, SHA256: set.Hash(), Tasks: len(set.Tasks), Pools: len(set.Pools), Cols: set.Pools[0].Cols}
}

// Check reports the first thing about a sweep that makes no sense for the data.
func (i Identity) Check(set *dataset.Set) error {
	if err := i.validate(set); err != nil {
		return err
	}
	dev := &Device{Set: set}
	for _, s := range i.Units() {
		if s.Seed != i.Seeds[0] {
			continue
		}
		cfg := i.unitConfig(s)
		target, err := set.TaskIndex(s.Target)
		if err != nil {
			return err
		}
		if _, err := planUnit(dev, &cfg, target); err != nil {
			return err
		}
	}
	return nil
}

// RunUnit computes one unit of a sweep. It writes a checkpoint after each epoch
// to the file of that name, in a folder that it makes, and begins from the one
// that is there, which must be of the same identity and unit. The checkpoint
// stays for the caller to remove once the result is safe.
func RunUnit(ctx context.Context, dev *Device, id Identity, s SweepUnit, checkpoint string, progress func(Step)) (*Result, error) {
	key, err := id.Digest()
	if err != nil {
		return nil, err
	}
	return carryUnit(ctx, dev, id, key, checkpoint, s, 0, progress)
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
	for i, s := range units {
		if found := (SweepUnit{results[i].Target, results[i].Budget, results[i].Seed}); found != s {
			return nil, fmt.Errorf("expected the result of %s in place %d, found that of %s", s.Name(), i, found.Name())
		}
		path := filepath.Join(dir, "results", s.Name()+".json")
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
		if err := errors.Join(atomicfile.Write(path, js), timing.add(timingLine{Unit: s.Name(), Seconds: seconds[i]})); err != nil {
			return nil, err
		}
	}
	return finishSweep(dir, id, results)
}

// Difference names the first place where two identities differ, the reasons of
// the backends' choice apart, or nothing where they are the same. The
// representation comes first, as the settings of another do not compare.
func (i Identity) Difference(other Identity) (string, error) {
	if a, b := i.Config.Representation, other.Config.Representation; a != b {
		return fmt.Sprintf("representation is %s there and %s here", a, b), nil
	}
	other.Backend.Reason = i.Backend.Reason
	there, errA := marshalIndent(i)
	here, errB := marshalIndent(other)
	if err := errors.Join(errA, errB); err != nil || bytes.Equal(there, here) {
		return "", err
	}
	a, errA := decodeTree(there)
	b, errB := decodeTree(here)
	if err := errors.Join(errA, errB); err != nil {
		return "", err
	}
	where, was, is := firstDifference("", a, b)
	return fmt.Sprintf("%s is %s there and %s here", where, compact(was), compact(is)), nil
}
