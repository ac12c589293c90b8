package batch

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/text"
)

// Resources holds what one task asks for. Zero leaves a choice to the engine.
type Resources struct {
	GPUs    int    `json:"gpus,omitempty"`
	GPUType string `json:"gpu_type,omitempty"`
	CPUs    int    `json:"cpus,omitempty"`
	// Threads is the number of threads that the task computes with. It asks the engine for nothing, and results do not depend on it.
	Threads int `json:"threads,omitempty"`
	// MemMiB is the memory in MiB.
	MemMiB int `json:"mem_mib,omitempty"`
	// Time is the limit of one attempt, in whole seconds.
	Time time.Duration `json:"time,omitempty"`
	// Parallel is the number of tasks that may run at a time.
	Parallel int `json:"parallel,omitempty"`
	// MaxRestarts is how often a task may start again by itself, after a time
	// limit, a lost node or a failure that another attempt may not meet.
	MaxRestarts int `json:"max_restarts"`
}

// Submission is what an engine is to run: tasks of a run folder.
type Submission struct {
	// Dir is the absolute path of the run folder where the tasks run.
	Dir string
	// ID is the run's identity, 12 hexadecimal digits; Name is the base name of
	// the folder as it is, any bytes but / and NUL.
	ID, Name string
	// Number counts the submissions of the run, from 1.
	Number int
	// Tasks are indices into tasks.jsonl, ascending and not empty.
	Tasks []int
	// Program is the absolute path of amtrl where the tasks run. A task is carried out by the command Program run-task
	// --part KEY Dir INDEX, where KEY is the part's and INDEX the engine's index. It exits 0 once the task has its
	// result, also where it had it before; ExitBadInput where another attempt would fail the same way; ExitTerminated
	// after a SIGTERM, on which it saves its progress.
	Program   string
	Resources Resources
	// Data is the absolute path of the data, empty for embedded and synthetic data. If the data are a manifest, Files
	// are the absolute paths of the files that it names.
	Data  string
	Files []string
}

// Part is one job of the engine: what is handed over, and which task each of its indices stands for. A submission has
// several parts if the engine bounds the size of a job.
type Part struct {
	// Key is unique in the run and names it, such as 0123456789ab-1-0 for the first part of the first submission of run
	// 0123456789ab: [PartKey]. The job carries it, so that it can be found without its id.
	Key string `json:"key"`
	// File is the name in RUN/submit of the file that is handed over, and Content its bytes.
	File    string `json:"file,omitempty"`
	Content []byte `json:"-"`
	// Argv is the exact command that hands the part over. It names File by its absolute path.
	Argv  []string `json:"argv,omitempty"`
	Tasks Tasks    `json:"tasks,omitempty"`
	// The engine's index of task t is t - Offset, or its place in Tasks if Dense.
	Offset int  `json:"offset,omitempty"`
	Dense  bool `json:"dense,omitempty"`
}

// Job is a part and the id that the engine gave it, empty where that was never
// recorded: the submitter was killed, or the engine's answer was not understood.
type Job struct {
	Part
	ID string
}

// State is where a task stands.
type State string

// The states. An engine reports all but New and DamagedResult, and Lost only if it knows why nothing runs the task any more. Done from
// an engine means that it saw exit code 0; the result file overrides it.
const (
	New       State = "new"       // never handed over
	Queued    State = "queued"    // waits for its turn
	Requeued  State = "requeued"  // waits for another turn after it has begun
	Running   State = "running"   // runs
	Done      State = "done"      // has a result
	Failed    State = "failed"    // ended without one
	Cancelled State = "cancelled" // was cancelled
	Timeout   State = "timeout"   // met its time limit
	Lost      State = "lost"      // the engine does not know it or has let it go, and it has no result
	// DamagedResult means that the task ended and its result file is empty or damaged.
	DamagedResult State = "damaged"
)

// Observation is what the engine says about one task.
type Observation struct {
	// Key is the key of the part, Job the engine's id of the job, and Task the index in tasks.jsonl.
	Key, Job string
	Task     int
	State    State
	// EngineID names the task to the engine's own tools, such as 12_3 or a pod.
	EngineID string
	// Reason is the engine's explanation of the state, Node where the task runs or ran, and Exit how it ended, if the engine says so.
	Reason, Node string
	Exit         string
}

// Log is where the engine's log of a task is: files, or a command that prints it.
type Log struct {
	Files []string
	Argv  []string
}

// LastLine returns the last line of the last file that is not blank and lies behind this many bytes, empty if there is none.
// A task that could not record why it failed, as on a full disk, may still have said so there.
func (l Log) LastLine(behind int64) string {
	const most = 4096
	if len(l.Files) == 0 {
		return ""
	}
	f, size, err := atomicfile.Open(l.Files[len(l.Files)-1])
	if err != nil {
		return ""
	}
	defer f.Close()
	tail := make([]byte, min(max(size-behind, 0), most))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return ""
	}
	said := strings.TrimSpace(string(tail))
	said = said[strings.LastIndexByte(said, '\n')+1:]
	return text.OneLine(strings.TrimPrefix(said, "amtrl: "), 300)
}

// The exit codes of run-task that say more than that the attempt failed.
const (
	// ExitBadInput means that another attempt would fail the same way.
	ExitBadInput = 65
	// ExitTerminated means that the attempt saved its progress after a SIGTERM. It is the code that a shell reports for this signal.
	ExitTerminated = 128 + 15
	// ExitInUse means that another attempt holds the task's lease.
	ExitInUse = 75
	// ExitRequeue means that the attempt saved its progress after a SIGUSR1 and asks for another attempt to go on.
	ExitRequeue = 99
)

// Engine runs the tasks of run folders. Each engine knows its own options, such as a partition or an image. Options
// returns them in a form that can be stored as JSON and from which the same engine can be made again.
type Engine interface {
	Name() string
	Options() any
	// Render returns the parts of a submission. It changes nothing, and asks the engine only for limits that bear on the parts.
	Render(ctx context.Context, s Submission) ([]Part, error)
	// Check asks the engine whether it would take the parts, which need not be on disk, and hands nothing over.
	Check(ctx context.Context, parts []Part) error
	// Submit hands over a part whose file is in RUN/submit and returns the engine's id of the job. An [*Unsure] error
	// means that the engine may have taken the part all the same; after any other error it has not.
	Submit(ctx context.Context, p Part) (id string, err error)
	// Query returns the states of the tasks of the jobs, with one question to the engine for all of them. A job without an id is found
	// by its key. Tasks that the engine does not know (any more) are left out. An error means that the engine could not be asked.
	Query(ctx context.Context, jobs []Job) ([]Observation, error)
	// Cancel ends the given tasks of a job, or all that have not ended if tasks is nil. A task that has already ended is no error.
	Cancel(ctx context.Context, j Job, tasks []int) error
	// Log returns where the log of a task is. With follow, a command that prints it goes on until the task ends.
	Log(j Job, task int, follow bool) Log
	// Attempt returns what the engine knows of this process, if it is an attempt that the engine started.
	Attempt() Attempt
}

// SaveBefore returns how long before a time limit an engine asks a task to save: 90 seconds, or half of a limit that is
// below 180. A limit of 0 stands for one that the engine has of its own.
func SaveBefore(limit time.Duration) time.Duration {
	const usual = 90 * time.Second
	if limit == 0 {
		return usual
	}
	return min(usual, limit/2)
}

// Attempt is the engine's view of a process that carries out a task, asked from within that process.
type Attempt struct {
	// ID names the task to the engine's own tools, such as 12_3 or a pod; it is empty where they have no name for it.
	ID string
	// Restarts is how often the engine says that it started the task again, empty where it does not say.
	Restarts string
	// Requeue asks the engine to end this process and to start its task, which has saved its progress, again. It is nil
	// where the engine, or another process in between, acts on [ExitRequeue] alone.
	Requeue func(ctx context.Context) error
}

// Unsure is the error of a submission that the engine may have taken nevertheless.
type Unsure struct{ Err error }

func (u *Unsure) Error() string { return u.Err.Error() }
func (u *Unsure) Unwrap() error { return u.Err }

// TaskCommand returns the command that carries out the task with the given index of the engine.
func TaskCommand(program, key, dir string, index int) []string {
	return []string{program, "run-task", "--part", key, dir, strconv.Itoa(index)}
}
