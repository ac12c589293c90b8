package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Worker carries out one task of a run, in the process that the engine started.
type Worker struct {
	Run *Run
	// Part is the key of the part that the engine runs, Index the engine's index of the task in it.
	Part  string
	Index int
	// Version and SHA256 are those of this program.
	Version, SHA256 string
	// Engine makes the engine to which the part was handed.
	Engine Opener
	// Open opens the data and the device that the flags of the plan select, for a task with these resources, unless ctx
	// ends first. The worker closes both. The identity is that of the plan with the data and the backend found here.
	Open func(ctx context.Context, plan *Plan, res Resources) (*pipeline.Resident, runs.Identity, error)
	// Save is closed to ask the attempt to end once it has finished an epoch, so that another attempt can go on. The
	// engine asks before a time limit.
	Save <-chan struct{}
	// Note writes a line to the log.
	Note func(format string, args ...any)

	task    int
	attempt int
	part    *JobRecord
	engine  Attempt
	res     Resources
	gain    chan struct{} // closed by gained
	once    sync.Once
	last    atomic.Bool // asked to save, with no restart left
}

// errSaved is the cause with which an attempt ends after the engine asked it to save.
var errSaved = errors.New("the engine asked for it to be saved")

// BadInput marks an error that another attempt would meet again.
func BadInput(err error) error { return &badInput{err} }

type badInput struct{ err error }

func (e *badInput) Error() string { return e.err.Error() }
func (e *badInput) Unwrap() error { return e.err }

// Work carries the task out and returns the exit code of the process, with an error unless the code is 0. A SIGTERM ends ctx.
func (w *Worker) Work(ctx context.Context) (code int, err error) {
	if err := w.find(); err != nil {
		return ExitBadInput, err
	}
	if done, err := w.done(); err != nil || done {
		return w.finishDone(err)
	}
	if w.part.Cancelled[w.task] {
		return ExitBadInput, fmt.Errorf("task %d was cancelled", w.task)
	}
	dir := w.Run.taskPath(w.task)
	if err := atomicfile.MkdirAll(dir); err != nil {
		return 1, err
	}
	outer := ctx
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	l, err := w.lease(ctx, dir, end)
	switch {
	case lease.IsInUse(err):
		return ExitInUse, fmt.Errorf("task %d is %w", w.task, err)
	case err != nil && ctx.Err() != nil:
		return ExitTerminated, fmt.Errorf("task %d: ended before it began", w.task)
	case err != nil:
		return 1, err
	case l == nil:
		return w.finishDone(nil)
	}
	if done, err := w.done(); err != nil || done {
		l.Release()
		return w.finishDone(err)
	}
	code, reason, err := w.attemptTask(ctx, end, l)
	l.Release()
	if reason == reasonRequeue && code == ExitRequeue {
		return w.requeue(outer, err)
	}
	return code, err
}

func (w *Worker) find() error {
	var err error
	if w.part, err = w.Run.Part(w.Part); err != nil {
		return err
	}
	if w.task = w.part.Task(w.Index); w.task < 0 {
		return fmt.Errorf("part %s has no task of index %d: it has the tasks %s", w.Part, w.Index, w.part.Tasks)
	}
	set, err := w.Run.Settings(w.part.Submission)
	if err != nil {
		return err
	}
	e, err := w.Engine(w.Run.Dir, set)
	if err != nil {
		return err
	}
	w.engine, w.res = e.Attempt(), set.Resources
	return nil
}

// done reports whether the task has its result. A damaged result does not count: it is computed again.
func (w *Worker) done() (bool, error) {
	_, err := w.Run.Result(w.task)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case isDamaged(err):
		w.Note("%s; computing it again", err)
		return false, nil
	}
	return err == nil, err
}

func (w *Worker) finishDone(err error) (int, error) {
	if err == nil {
		err = w.Run.clean(w.task)
	}
	if err != nil {
		return 1, err
	}
	w.Note("task %d is done already", w.task)
	return 0, nil
}

// leasePatience is how long an attempt waits for a live holder of the lease.
const leasePatience = time.Minute

// lease takes the lease of the task, and waits for another attempt to end for as long as that may take. It returns
// neither a lease nor an error if that attempt has left the result.
func (w *Worker) lease(ctx context.Context, dir string, lost context.CancelCauseFunc) (*lease.Lease, error) {
	lines, err := w.Run.Attempts(w.task)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		w.attempt = max(w.attempt, l.Attempt)
	}
	w.attempt++
	for waited := time.Duration(0); ; waited += lease.Times.Beat {
		l, err := lease.Acquire(ctx, dir, w.attempt, lease.Times, lost)
		if !lease.IsInUse(err) || waited >= leasePatience {
			return l, err
		}
		if waited == 0 {
			w.Note("task %d is %s: waiting", w.task, err)
		}
		if err := lease.Sleep(ctx, lease.Times.Beat); err != nil {
			return nil, err
		}
		if done, err := w.done(); err != nil || done {
			return nil, err
		}
	}
}

func (w *Worker) log(l AttemptLine) error {
	l.Time, l.Attempt = time.Now().UTC(), w.attempt
	return jsonfile.Append(w.Run.taskPath(w.task, "attempt.jsonl"), l)
}

// attemptTask carries the task out under the lease and records how the attempt ended.
func (w *Worker) attemptTask(ctx context.Context, end context.CancelCauseFunc, l *lease.Lease) (code int, reason string, err error) {
	host, _ := os.Hostname()
	start := AttemptLine{Event: attemptStart, Part: w.Part, EngineID: w.engine.ID, Restart: w.engine.Restarts, Host: host,
		PID: os.Getpid(), Version: w.Version, SHA256: w.SHA256, Visible: os.Getenv("CUDA_VISIBLE_DEVICES")}
	if err := w.log(start); err != nil {
		return 1, reasonFailed, err
	}
	w.Note("task %d, attempt %d on %s: %s", w.task, w.attempt, host, w.names())
	w.gain = make(chan struct{})
	over := make(chan struct{})
	defer close(over)
	go w.saveWhenGained(end, over)
	err = w.units(ctx, end, l)
	code, reason = endOf(ctx, err)
	if reason == reasonTerminated || reason == reasonTakenOver || reason == reasonRequeue {
		err = fmt.Errorf("task %d ended early: %w", w.task, context.Cause(ctx))
	}
	if reason == reasonTerminated && w.last.Load() {
		reason = reasonTimeout
		err = fmt.Errorf("%w, with no restart left: where that was its time limit, raise --time or --max-restarts", err)
	}
	if reason == reasonTakenOver {
		return code, reason, err // the files belong to the other attempt now
	}
	return code, reason, errors.Join(err, w.recordEnd(code, reason, err))
}

func (w *Worker) recordEnd(code int, reason string, err error) error {
	exit := attemptExit{Attempt: w.attempt, Part: w.Part, Code: code, Reason: reason}
	if err != nil {
		exit.Error = err.Error()
	}
	return errors.Join(w.log(AttemptLine{Event: attemptEnd, Code: &code, Reason: reason, Error: exit.Error}),
		jsonfile.Write(w.Run.taskPath(w.task, "exit"), exit))
}

// requeueWait is how long a requeued process waits for the signal that ends it.
var requeueWait = 30 * time.Second

// requeue hands the saved task back to the engine, if that takes more than the exit code, and returns the exit code.
func (w *Worker) requeue(ctx context.Context, cause error) (int, error) {
	if w.engine.Requeue == nil {
		return ExitRequeue, cause
	}
	if err := w.engine.Requeue(ctx); err != nil {
		w.recordEnd(1, reasonFailed, err)
		return 1, fmt.Errorf("task %d is saved, but cannot go on by itself: %w", w.task, err)
	}
	w.Note("task %d is saved and requeued as %s", w.task, w.engine.ID)
	// The engine ends a process that it has requeued. To exit before that would look like the end of the task.
	lease.Sleep(ctx, requeueWait)
	return ExitTerminated, cause
}

// endOf returns the exit code and the reason of an attempt that ended with err.
func endOf(ctx context.Context, err error) (code int, reason string) {
	cause := context.Cause(ctx)
	_, bad := errors.AsType[*badInput](err)
	switch {
	case err == nil:
		return 0, reasonDone
	case bad:
		return ExitBadInput, reasonFailed
	case cause == nil:
		return 1, reasonFailed
	case errors.Is(cause, errSaved):
		return ExitRequeue, reasonRequeue
	case errors.Is(cause, lease.ErrLost):
		return ExitInUse, reasonTakenOver
	}
	return ExitTerminated, reasonTerminated
}

// requeues counts the attempts of this part that ended with a requeue.
func (w *Worker) requeues() int {
	lines, _ := w.Run.Attempts(w.task)
	n, ours := 0, false
	for _, l := range lines {
		switch l.Event {
		case attemptStart:
			ours = l.Part == w.Part
		case attemptEnd:
			if ours && l.Reason == reasonRequeue {
				n++
			}
		}
	}
	return n
}

func (w *Worker) names() string {
	names := w.Run.Tasks[w.task].names()
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("... (%d units)", len(names)))
	}
	return strings.Join(names, ", ")
}

// saveWhenGained waits for Save and then ends the attempt once it has finished an epoch: an attempt that ended without
// progress would start again at the same place, for ever. With no restart left the attempt goes on until the engine ends
// it: it may have its result before that, and the request may come before a preemption, after which the engine starts it again.
func (w *Worker) saveWhenGained(end context.CancelCauseFunc, over <-chan struct{}) {
	select {
	case <-w.Save:
	case <-over:
		return
	}
	select {
	case <-over: // the end of the process closes Save, too
		return
	default:
	}
	if w.requeues() >= w.res.MaxRestarts {
		w.last.Store(true)
		w.Note("asked to save: going on until the engine ends it, since --max-restarts allows no other attempt")
		return
	}
	w.Note("asked to save: going on in another attempt once an epoch is finished")
	select {
	case <-w.gain:
		end(errSaved)
	case <-over:
	}
}

func (w *Worker) gained() { w.once.Do(func() { close(w.gain) }) }
