package batch

import (
	"context"
	"strconv"
	"time"
)

// Resources is what one task asks for. A zero leaves it to the engine.
type Resources struct {
	GPUs    int    `json:"gpus,omitempty"`
	GPUType string `json:"gpu_type,omitempty"`
	CPUs    int    `json:"cpus,omitempty"`
	// MemMiB is the memory in MiB.
	MemMiB int `json:"mem_mib,omitempty"`
	// Time is the limit of one attempt, in whole seconds.
	Time time.Duration `json:"time,omitempty"`
	// Parallel is how many tasks may run at a time.
	Parallel int `json:"parallel,omitempty"`
	// MaxRestarts is how often a task may start again by itself, after a time
	// limit, a lost node or a failure that another attempt may not meet.
	MaxRestarts int `json:"max_restarts"`
}

// Submission is what an engine is to run: some tasks of a run folder.
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
	// after a SIGTERM, which saves what there is.
	Program   string
	Resources Resources
	// Data is the absolute path of the data, empty where it is built in or made; Files are those of the files that it
	// names where it is a manifest.
	Data  string
	Files []string
}

// Part is one job of the engine: what is handed over, and what its indices
// stand for. A submission has several where the engine bounds their size.
type Part struct {
	// Key is unique in the run and names it, such as 0123456789ab-1-0 for the first part of the first submission of run
	// 0123456789ab: [PartKey]. The job carries it, so that it can be found without its id.
	Key string `json:"key"`
	// File is the name in RUN/submit of what is handed over, and Content its bytes.
	File    string `json:"file,omitempty"`
	Content []byte `json:"-"`
	// Argv is the exact command that hands it over, File by its absolute path.
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

// The states. An engine reports all but New, Lost and DamagedResult; Done from an engine means
// that it saw exit code 0, which the result file outranks.
const (
	New       State = "new"       // never handed over
	Queued    State = "queued"    // waits for its turn
	Requeued  State = "requeued"  // waits for another turn after it has begun
	Running   State = "running"   // runs
	Done      State = "done"      // has a result
	Failed    State = "failed"    // ended without one
	Cancelled State = "cancelled" // was cancelled
	Timeout   State = "timeout"   // met its time limit
	Lost      State = "lost"      // the engine does not know it, and it has no result
	// DamagedResult is a task that ended and whose result is none.
	DamagedResult State = "damaged"
)

// Observation is what the engine says about one task.
type Observation struct {
	// Key is the part's, Job the engine's id of it, Task the index in tasks.jsonl.
	Key, Job string
	Task     int
	State    State
	// EngineID names the task to the engine's own tools, such as 12_3 or a pod.
	EngineID string
	// Reason is the engine's word for why, Node where it runs or ran, Exit how it ended where the engine says.
	Reason, Node string
	Exit         string
}

// Log is where the engine's log of a task is: files, or a command that prints it.
type Log struct {
	Files []string
	Argv  []string
}

// The exit codes of run-task that say more than that the attempt failed.
const (
	// ExitBadInput says that another attempt would fail the same way.
	ExitBadInput = 65
	// ExitTerminated says that the attempt saved what there is after a SIGTERM, as a shell would report it.
	ExitTerminated = 128 + 15
	// ExitInUse says that another attempt holds the task's lease.
	ExitInUse = 75
	// ExitRequeue says that the attempt saved what there is after a SIGUSR1 and wants to go on in another.
	ExitRequeue = 99
)

// Engine runs the tasks of run folders. Each knows its own options, such as a partition or an image, which Options
// returns in a form that JSON keeps and from which the same engine can be made again.
type Engine interface {
	Name() string
	Options() any
	// Render makes what would be handed over, without touching anything but, where
	// the engine's limits bear on it, asking the engine.
	Render(ctx context.Context, s Submission) ([]Part, error)
	// Check asks the engine whether it would take the parts, which need not be on disk, and hands nothing over.
	Check(ctx context.Context, parts []Part) error
	// Submit hands over a part whose file is in RUN/submit and returns the engine's id of it. An error that is an
	// [*Unsure] says that the engine may have taken it all the same; after any other it has not.
	Submit(ctx context.Context, p Part) (id string, err error)
	// Query says where the tasks of the jobs stand, asking once for all. A job without an id is looked for by its key.
	// Tasks that the engine does not know (any more) are left out. An error means that the engine could not be asked.
	Query(ctx context.Context, jobs []Job) ([]Observation, error)
	// Cancel ends the tasks of a job, all that have not ended where tasks is nil. Tasks that have ended are no error.
	Cancel(ctx context.Context, j Job, tasks []int) error
	// Log says where the log of a task is, follow until it ends where the answer is a command.
	Log(j Job, task int, follow bool) Log
	// Attempt is what the engine knows of this process where it is an attempt that the engine started.
	Attempt() Attempt
}

// Attempt is the engine's view of a process that carries out a task, asked from within that process.
type Attempt struct {
	// ID names the task to the engine's own tools, such as 12_3 or a pod; it is empty where they have no name for it.
	ID string
	// Restarts is how often the engine says that it started the task again, empty where it does not say.
	Restarts string
	// Requeue asks the engine to start the task again, which has saved what there is, and to end this process. It is
	// nil where the engine, or another process in between, goes by [ExitRequeue] alone.
	Requeue func(ctx context.Context) error
}

// Unsure is the error of a submission that the engine may have taken.
type Unsure struct{ Err error }

func (u *Unsure) Error() string { return u.Err.Error() }
func (u *Unsure) Unwrap() error { return u.Err }

// TaskCommand carries out the task of an engine's index.
func TaskCommand(program, key, dir string, index int) []string {
	return []string{program, "run-task", "--part", key, dir, strconv.Itoa(index)}
}
