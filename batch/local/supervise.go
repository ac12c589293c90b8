package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
)

// The supervisor's times: how often it looks for cancellations, and how long a process has between SIGTERM and SIGKILL.
const (
	localPoll = 100 * time.Millisecond
	killWait  = 30 * time.Second
)

// Supervise runs the tasks of the part with this key until all have ended. When ctx ends, it ends the tasks too, which are lost then.
func Supervise(ctx context.Context, r *batch.Run, key string, note func(format string, args ...any)) error {
	s := &supervision{run: r, engine: &engine{r.Dir}, note: note, children: map[int]context.CancelCauseFunc{}, cancelled: map[int]bool{}}
	var err error
	if s.job, err = r.Part(key); err != nil {
		return err
	}
	if s.set, err = r.Settings(s.job.Submission); err != nil {
		return err
	}
	unlock, err := filelock.File(s.engine.path(key, "lock"))
	if unlock == nil {
		return fmt.Errorf("part %s: %w", key, err)
	}
	defer unlock()
	if err := jsonfile.Write(s.engine.path(key, "local"), supervisor{hostName(), lease.BootID(), os.Getpid()}); err != nil {
		return err
	}
	s.runAll(ctx)
	return context.Cause(ctx)
}

type supervision struct {
	run    *batch.Run
	engine *engine
	job    *batch.JobRecord
	set    batch.Settings
	note   func(format string, args ...any)
	procs  int // GOMAXPROCS of each process, 0 if the submission says how many threads a task has

	mu        sync.Mutex
	queue     []int
	children  map[int]context.CancelCauseFunc // per running task, the function that ends its process
	cancelled map[int]bool
}

// Why a process is ended.
var (
	errCancelled = errors.New("cancelled")
	errLimit     = errors.New("time limit")
)

// runAll runs the tasks, at most Parallel at a time. A task that wants another attempt joins the end of the queue.
func (s *supervision) runAll(ctx context.Context) {
	res := s.set.Resources
	slots := res.Parallel
	if slots == 0 {
		slots = max(1, runtime.GOMAXPROCS(0)/max(1, res.CPUs))
	}
	devices := deviceSlots(res.GPUs)
	if len(devices) == 0 {
		devices = make([]string, slots)
	}
	s.queue = slices.Clone([]int(s.job.Tasks))
	slots = min(slots, len(devices), len(s.queue))
	if res.CPUs == 0 && res.Threads == 0 {
		s.procs = max(1, runtime.GOMAXPROCS(0)/max(1, slots))
	}
	watched, stop := context.WithCancel(ctx)
	var watch, workers sync.WaitGroup
	watch.Go(func() { s.watch(watched) })
	for i := range slots {
		workers.Go(func() {
			for t := s.next(ctx); t >= 0; t = s.next(ctx) {
				s.runOne(ctx, t, devices[i])
			}
		})
	}
	workers.Wait()
	stop()
	watch.Wait()
}

// next takes a task from the queue and returns it, or -1 if none is left.
func (s *supervision) next(ctx context.Context) int {
	s.readCancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 && ctx.Err() == nil {
		t := s.queue[0]
		s.queue = s.queue[1:]
		if !s.cancelled[t] {
			return t
		}
		s.event(localEvent{Event: "end", Task: t, State: batch.Cancelled})
	}
	return -1
}

func (s *supervision) watch(ctx context.Context) {
	poll := time.NewTicker(localPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			s.readCancel()
		}
	}
}

// readCancel reads which tasks were cancelled and ends their processes.
func (s *supervision) readCancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	jsonfile.ReadLines(s.engine.path(s.job.Key, "cancel"), maxFile, func(list batch.Tasks) error {
		for _, t := range list {
			s.cancelled[t] = true
			if end := s.children[t]; end != nil {
				end(errCancelled)
			}
		}
		return nil
	})
}

func (s *supervision) event(l localEvent) {
	if err := jsonfile.Append(s.engine.path(s.job.Key, "events"), l); err != nil {
		s.note("task %d: %s", l.Task, err)
	}
}

func (s *supervision) runOne(ctx context.Context, task int, devices string) {
	s.event(localEvent{Event: "begin", Task: task})
	state, exit := s.start(ctx, task, devices)
	s.event(localEvent{Event: "end", Task: task, State: state, Exit: exit})
	s.note("task %d: %s %s", task, state, exit)
	if state == batch.Requeued {
		s.mu.Lock()
		s.queue = append(s.queue, task)
		s.mu.Unlock()
	}
}

// start runs a task in a process of its own and returns how it ended. A process that is told to end has killWait to do so.
func (s *supervision) start(ctx context.Context, task int, devices string) (state batch.State, exit string) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	argv := batch.TaskCommand(s.set.Program, s.job.Key, s.run.Dir, task)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return terminate(cmd.Process) }
	cmd.WaitDelay = killWait
	cmd.Env = os.Environ()
	if devices != "" {
		cmd.Env = append(cmd.Env, "CUDA_VISIBLE_DEVICES="+devices)
	}
	if s.procs > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", s.procs))
	}
	log := s.engine.Log(s.job.Job, task, false)
	var stderr *os.File
	for i, to := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		f, err := atomicfile.OpenFile(log.Files[i], os.O_WRONLY|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return batch.Failed, err.Error()
		}
		defer f.Close()
		*to, stderr = f, f
	}
	info, err := stderr.Stat()
	if err != nil {
		return batch.Failed, err.Error()
	}
	s.mu.Lock()
	s.children[task] = end
	s.mu.Unlock()
	if err = cmd.Start(); err == nil {
		stop := s.enforceLimit(cmd.Process, end)
		cmd.Wait()
		stop()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.children, task)
	switch why := context.Cause(ctx); {
	case err == nil && cmd.ProcessState.Success():
		return batch.Done, ""
	case s.cancelled[task]:
		return batch.Cancelled, ""
	case why != nil && why != errLimit: // the supervisor is being ended
		return batch.Lost, ""
	case err != nil:
		return batch.Failed, err.Error()
	case cmd.ProcessState.ExitCode() == batch.ExitRequeue:
		return batch.Requeued, ""
	case why == errLimit:
		return batch.Timeout, ""
	case cmd.ProcessState.ExitCode() == batch.ExitInUse:
		return batch.Failed, "another attempt holds the task"
	}
	exit = cmd.ProcessState.String()
	if cmd.ProcessState.ExitCode() > 0 {
		if said := log.LastLine(info.Size()); said != "" {
			exit += ": " + said
		}
	}
	return batch.Failed, exit
}

// enforceLimit asks a process to save before its time limit and ends it at the limit. The caller calls stop once the process
// has ended.
func (s *supervision) enforceLimit(p *os.Process, end context.CancelCauseFunc) (stop func()) {
	limit := s.set.Resources.Time
	if limit == 0 {
		return func() {}
	}
	save := time.AfterFunc(limit-batch.SaveBefore(limit), func() { batch.AskToSave(p) })
	kill := time.AfterFunc(limit, func() { end(errLimit) })
	return func() {
		save.Stop()
		kill.Stop()
	}
}

// deviceSlots divides the visible GPUs into slots of each GPUs, and returns for each slot its CUDA_VISIBLE_DEVICES. It
// returns nil if each is 0 or too few GPUs are visible for one slot.
func deviceSlots(each int) []string {
	if each == 0 {
		return nil
	}
	var slots []string
	visible := batch.VisibleDevices()
	for len(visible) >= each {
		slots = append(slots, strings.Join(visible[:each], ","))
		visible = visible[each:]
	}
	return slots
}
