package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// units computes the units of the task that have no result yet and writes the result of the task.
func (w *Worker) units(ctx context.Context, end context.CancelCauseFunc, l *lease.Lease) error {
	if err := checkGPUs(w.res.GPUs); err != nil {
		return err
	}
	if err := checkVersion(w.Version, w.Run.Plan.Identity.Version); err != nil {
		return BadInput(err)
	}
	dev, id, err := w.Open(ctx, &w.Run.Plan, w.res)
	if err != nil {
		return err
	}
	defer dev.Device.Close()
	defer dev.Close()
	if want := w.Run.Plan.Identity.Data; id.Data != want {
		return BadInput(fmt.Errorf("the data here are %s, expected %s, which were submitted", id.Data, want))
	}
	if w.res.GPUs > 0 && id.Backend.Backend == "cpu" {
		return fmt.Errorf("%s %s asked for and the backend is %s: %s", text.Several(w.res.GPUs, "GPU"),
			text.Form(w.res.GPUs, "was", "were"), id.Backend.Backend, id.Backend.Reason)
	}
	if err := w.log(AttemptLine{Event: attemptDevice, Backend: &id.Backend, GPUs: listGPUs(w.res.GPUs)}); err != nil {
		return err
	}
	res := TaskResult{Task: w.task, Attempt: w.attempt}
	for _, u := range w.Run.Tasks[w.task].Units {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		done, err := w.unit(ctx, dev, id, u)
		if err != nil {
			return err
		}
		res.Units = append(res.Units, *done)
	}
	if !l.Held() {
		end(lease.ErrLost)
		return lease.ErrLost
	}
	js, err := jsonfile.EncodeSealed(jsonfile.Encode, &res, &res.SHA256)
	if err == nil {
		err = atomicfile.Write(w.Run.resultPath(w.task), js)
	}
	if err != nil {
		return err
	}
	return w.Run.clean(w.task)
}

// unit returns the result of a unit: it reads it, or computes the unit, from its checkpoint on if there is one. The
// path of the checkpoint depends on the device, because results do, and on the unit but not on the rest of the sweep,
// which may grow before the next attempt.
func (w *Worker) unit(ctx context.Context, dev *pipeline.Resident, id runs.Identity, u Unit) (*UnitResult, error) {
	res, err := w.Run.readUnit(w.task, u)
	if isDamaged(err) {
		w.Note("%s; computing it again", err)
	} else if res != nil || err != nil {
		return res, err
	}
	digest, err := id.Of(u).Digest()
	if err != nil {
		return nil, err
	}
	unitCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	start := time.Now()
	checkpoint := w.Run.taskPath(w.task, "checkpoint", digest[:12], u.Name()+".safetensors")
	var logged error
	first := true
	step := func(s pipeline.Step) {
		if first && s.Done > 0 {
			w.Note("%s: resuming after %d of %d epochs", u.Name(), s.Done, s.Total)
		}
		first = false
		if s.Record == nil {
			return
		}
		w.Note("%s: %s, epoch %d of %d", u.Name(), s.Method, s.Epoch, s.Epochs)
		if err := w.log(AttemptLine{Event: attemptEpoch, Unit: u.Name(), Method: s.Method, Epoch: s.Epoch}); err != nil {
			logged = err
			stop(err)
		}
		w.gained()
	}
	var result *runs.Result
	err = runs.Anew(func() (err error) {
		result, err = runs.RunUnit(unitCtx, dev, id, u, checkpoint, step)
		return err
	}, func(d *runs.DamagedCheckpoint) {
		w.Note("%s: %v; computing %s from its beginning", d.Path, d.Err, u.Name())
	})
	if err != nil {
		return nil, errors.Join(logged, err)
	}
	done := &UnitResult{Unit: u.Name(), Backend: id.Backend, Seconds: time.Since(start).Seconds(), Result: *result}
	path := w.Run.unitPath(w.task, u)
	js, err := jsonfile.EncodeSealed(json.Marshal, done, &done.SHA256)
	if err != nil {
		return nil, err
	}
	done.SHA256 = "" // the file of the task has one for all units
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(path, js); err != nil {
		return nil, err
	}
	return done, w.log(AttemptLine{Event: attemptUnit, Unit: u.Name(), Seconds: done.Seconds})
}

// Unstamped is the version of a program that was built without one, as outside a git checkout. Two of these programs
// may differ in any way.
const Unstamped = "(devel)"

func checkVersion(here, submitted string) error {
	switch {
	case here == submitted:
		return nil
	case here == Unstamped:
		return fmt.Errorf("this amtrl was built without a version, expected %s, which submitted the run", submitted)
	case submitted == Unstamped:
		return fmt.Errorf("this is version %s of amtrl, expected one built without a version, as the one that submitted the run", here)
	}
	return fmt.Errorf("this is version %s of amtrl, expected %s, which submitted the run", here, submitted)
}
