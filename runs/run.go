package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/pipeline"
)

// Run carries out one target with one seed in the folder dir, which it makes:
// all methods of id.Config in turn, a checkpoint after each epoch, and at the
// end the files that README lists. A folder that holds part of the same work
// is resumed from its last finished epoch and ends in the same bytes (timing
// apart); one that holds all of it is read. One process at a time can use it.
func Run(ctx context.Context, data *pipeline.Resident, id Identity, dir string, progress func(pipeline.Step)) (*Result, error) {
	if err := id.validate(data.Set); err != nil {
		return nil, err
	}
	units := id.Units()
	if len(units) != 1 {
		return nil, fmt.Errorf("%d targets, %d seeds and %d budgets make a sweep, not a run", len(id.Targets), len(id.Seeds), len(id.Budgets))
	}
	key, err := id.Digest()
	if err != nil {
		return nil, err
	}
	p, err := id.problem(data.Set, units[0])
	if err != nil {
		return nil, err
	}
	unlock, err := claimFolder(dir, id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if res, err := readResult(filepath.Join(dir, "result.json"), units[0], id.Config.Methods); res != nil || err != nil {
		return res, err
	}
	timing, err := openTiming(filepath.Join(dir, "timing.jsonl"))
	if err != nil {
		return nil, err
	}
	defer timing.close()
	point, start := checkpoint{filepath.Join(dir, "checkpoint", "epoch.safetensors"), key}, time.Now()
	res, err := solve(ctx, data, p, point, progress, func(l *pipeline.Learner, st pipeline.State) error {
		last := st.Epochs[len(st.Epochs)-1]
		epochs, err := encodeEpochs(st.Epochs)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(dir, "epochs.jsonl"), epochs); err != nil {
			return err
		}
		if last.Method == id.Config.Methods[0] && last.Epoch == p.RoundsOf(last.Method) {
			model, err := encodeModel(p, last.Method, l.Tensors(st))
			if err != nil {
				return err
			}
			if err := atomicfile.Write(filepath.Join(dir, "model.safetensors"), model); err != nil {
				return err
			}
		}
		if err := timing.add(timingLine{Method: last.Method, Epoch: last.Epoch, Seconds: time.Since(start).Seconds()}); err != nil {
			return err
		}
		start = time.Now()
		return point.save(st)
	})
	if err != nil {
		return nil, err
	}
	relevance, err := encodeRelevance(res.Sources)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(dir, "relevance.csv"), relevance); err != nil {
		return nil, err
	}
	return res, writeJSON(filepath.Join(dir, "result.json"), res)
}

// claimFolder makes the folder, locks it against other processes, and checks
// or writes its identity.
func claimFolder(dir string, id Identity) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err = filelock.Folder(dir)
	if err != nil {
		return nil, err
	}
	if err := id.claim(dir); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// readResult reads the finished result of a unit, or returns nil where there is
// none.
func readResult(path string, unit Unit, methods []string) (*Result, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	res, err := DecodeResult(raw, unit, methods)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return res, nil
}

// DecodeResult reads the result of a unit, refusing that of another unit or of
// other methods.
func DecodeResult(raw []byte, unit Unit, methods []string) (*Result, error) {
	var res Result
	if err := decodeStrict(raw, &res); err != nil {
		return nil, err
	}
	if found := (Unit{res.Target, res.Budget, res.Seed}); found != unit {
		return nil, fmt.Errorf("expected the result of %s, found that of %s", unit.Name(), found.Name())
	}
	for i, m := range methods {
		if len(res.Methods) != len(methods) || res.Methods[i].Method != m {
			return nil, fmt.Errorf("expected results of the methods %v, found %d results", methods, len(res.Methods))
		}
	}
	return &res, nil
}

func writeJSON(path string, v any) error {
	js, err := marshalIndent(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, js)
}
