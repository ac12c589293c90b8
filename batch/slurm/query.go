package slurm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// squeueFormat asks squeue for the array, index, state, reason, nodes and comment. It is given with each call, since
// the user's environment may set another format. The text output is older and more stable than the JSON output.
const squeueFormat = "%F|%K|%T|%r|%N|%k"

// Query implements [batch.Engine]. It asks squeue and, if accounting is on, sacct for what squeue has forgotten. A job
// that squeue lists is the one handed over if it has both its number and its comment.
func (e *engine) Query(ctx context.Context, jobs []batch.Job) ([]batch.Observation, error) {
	var clusters []*query
	for _, j := range jobs {
		if j.ID != "" {
			if _, _, err := splitID(j.ID); err != nil {
				return nil, fmt.Errorf("part %s: %w", j.Key, err)
			}
		}
		id, name, _ := strings.Cut(j.ID, ";")
		at := slices.IndexFunc(clusters, func(q *query) bool { return q.cluster == name })
		if at < 0 {
			at, clusters = len(clusters), append(clusters, &query{cluster: name, foreign: map[string]bool{},
				seen: map[batch.Observation]bool{}})
		}
		q := clusters[at]
		q.jobs, q.tasks = append(q.jobs, j), q.tasks+len(j.Tasks)
		if id != "" {
			q.ids = append(q.ids, id)
		}
	}
	var list []batch.Observation
	for _, q := range clusters {
		if err := q.ask(ctx); err != nil {
			return nil, err
		}
		list = append(list, q.list...)
	}
	for i := range list {
		e.explain(&list[i])
	}
	return list, nil
}

// explain adds to Slurm's bare word or code for a failure the last line of the task's log: of a task that ended before amtrl began in
// it, as in a line of --setup, nothing else says why.
func (e *engine) explain(o *batch.Observation) {
	if o.State != batch.Failed {
		return
	}
	said := e.logOf(o.EngineID).LastLine(0)
	switch {
	case said == "":
	case o.Reason == "NonZeroExitCode":
		o.Reason += ": " + said
	case strings.HasPrefix(o.Exit, "exit ") && strings.HasSuffix(o.Exit, ":0"): // accounting's code, without a signal
		o.Exit += ": " + said
	}
}

type query struct {
	cluster string
	jobs    []batch.Job
	ids     []string                   // the ids of the jobs that have one
	foreign map[string]bool            // the ids that are those of other jobs by now
	tasks   int                        // the number of tasks of all jobs
	seen    map[batch.Observation]bool // by part and task
	list    []batch.Observation
}

func (q *query) run(ctx context.Context, name string, args ...string) (string, error) {
	if q.cluster != "" {
		args = append(args, "--clusters="+q.cluster)
	}
	return runCommand(ctx, nil, name, args...)
}

func (q *query) ask(ctx context.Context) error {
	of, which := "-j", strings.Join(q.ids, ",")
	if len(q.ids) < len(q.jobs) { // a job without an id is found by its comment
		of, which = "-u", strconv.Itoa(os.Getuid())
	}
	out, err := q.run(ctx, "squeue", "-h", "-r", "-t", "all", "-o", squeueFormat, of, which)
	if err != nil && !strings.Contains(err.Error(), "Invalid job id specified") {
		return err
	}
	for line := range strings.Lines(out) {
		if err := q.queueLine(strings.TrimRight(line, "\r\n")); err != nil {
			return err
		}
	}
	if len(q.list) == q.tasks {
		return nil
	}
	return q.account(ctx)
}

// find returns the job of an array that squeue lists with a comment. It returns nil if there is none.
func (q *query) find(array, comment string) *batch.Job {
	for i := range q.jobs {
		id, _, _ := strings.Cut(q.jobs[i].ID, ";")
		switch {
		case id != "" && id != array:
		case comment == q.jobs[i].Key:
			return &q.jobs[i]
		case id == array: // of another cluster with the same files, or from before the controller counted anew
			q.foreign[array] = true
		}
	}
	return nil
}

// finished returns the job of an array that accounting lists.
func (q *query) finished(array string) *batch.Job {
	for i := range q.jobs {
		if id, _, _ := strings.Cut(q.jobs[i].ID, ";"); id == array && !q.foreign[array] {
			return &q.jobs[i]
		}
	}
	return nil
}

// add stores an observation of an index of an array, whose job is j, unless there is one already. j may be nil.
func (q *query) add(j *batch.Job, array, index string, o batch.Observation) {
	n, err := strconv.Atoi(index)
	if j == nil || err != nil {
		return
	}
	o.Key, o.Job, o.EngineID, o.Task = j.Key, array, array+"_"+index, j.Task(n)
	if q.cluster != "" {
		o.Job += ";" + q.cluster
	}
	if key := (batch.Observation{Key: j.Key, Task: o.Task}); o.Task >= 0 && !q.seen[key] {
		q.seen[key] = true
		q.list = append(q.list, o)
	}
}

func (q *query) queueLine(line string) error {
	if line == "" || strings.HasPrefix(line, "CLUSTER: ") {
		return nil
	}
	f := strings.SplitN(line, "|", 6)
	if len(f) != 6 {
		return fmt.Errorf("squeue printed %q: expected array|index|state|reason|nodes|comment", text.OneLine(line, 120))
	}
	if _, err := strconv.Atoi(f[0]); err != nil {
		return fmt.Errorf("squeue printed %q: expected the number of an array first", text.OneLine(line, 120))
	}
	if f[3] == "None" {
		f[3] = ""
	}
	state, reason := stateOf(f[2], f[3])
	q.add(q.find(f[0], f[5]), f[0], f[1], batch.Observation{State: state, Reason: reason, Node: f[4]})
	return nil
}

// stateOf translates a state of Slurm. The reason includes Slurm's word for the state where that says more.
func stateOf(word, reason string) (batch.State, string) {
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ") // "CANCELLED by 0"
	switch strings.TrimSuffix(word, "+") {
	case "PENDING", "CONFIGURING":
		return batch.Queued, reason
	case "RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING":
		return batch.Running, reason
	case "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return batch.Requeued, reason
	case "COMPLETED":
		return batch.Done, ""
	case "CANCELLED":
		return batch.Cancelled, reason
	case "TIMEOUT", "DEADLINE":
		return batch.Timeout, reason
	case "FAILED":
		return batch.Failed, reason
	case "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL":
		return batch.Failed, strings.TrimSpace(word + " " + reason)
	}
	// A task whose state is unknown must not be handed over twice.
	return batch.Running, strings.TrimSpace(word + " " + reason)
}

// account asks sacct about the tasks that squeue does not know any more. If accounting is off, the tasks' files have to do.
func (q *query) account(ctx context.Context) error {
	if len(q.ids) == 0 {
		return nil
	}
	out, err := q.run(ctx, "sacct", "-X", "-n", "-P", "-j", strings.Join(q.ids, ","), "-o", "JobID,State,ExitCode,NodeList")
	if err != nil {
		return ctx.Err()
	}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		array, indices, isArray := strings.Cut(f[0], "_")
		if len(f) != 4 || !isArray {
			continue
		}
		state, reason := stateOf(f[1], "")
		o := batch.Observation{State: state, Reason: reason, Node: f[3]}
		switch f[2] {
		case "0:0":
		case fmt.Sprintf("%d:0", batch.ExitInUse):
			o.Exit = "another attempt holds the task"
		default:
			o.Exit = "exit " + f[2]
		}
		list, err := batch.ParseRanges(strings.Trim(strings.SplitN(indices, "%", 2)[0], "[]"), batch.MaxTasks)
		if err != nil {
			continue
		}
		for _, i := range list {
			q.add(q.finished(array), array, strconv.Itoa(i), o)
		}
	}
	return nil
}
