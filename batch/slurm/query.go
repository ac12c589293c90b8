package slurm

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// squeueFormat is the answer that is asked for: array, index, state, reason,
// nodes, comment. It is given each time, since the user's environment may hold
// another; the text is older and steadier than the JSON.
const squeueFormat = "%F|%K|%T|%r|%N|%k"

// Query implements [batch.Engine]: squeue, and sacct for what squeue has forgotten,
// where accounting is on.
func (e *Engine) Query(ctx context.Context, jobs []batch.Job) ([]batch.Observation, error) {
	byCluster := map[string][]batch.Job{}
	var clusters []string
	for _, j := range jobs {
		if j.ID != "" {
			if _, _, err := splitID(j.ID); err != nil {
				return nil, fmt.Errorf("part %s: %w", j.Key, err)
			}
		}
		_, name, _ := strings.Cut(j.ID, ";")
		if byCluster[name] == nil {
			clusters = append(clusters, name)
		}
		byCluster[name] = append(byCluster[name], j)
	}
	var list []batch.Observation
	for _, name := range clusters {
		seen, err := e.queryCluster(ctx, name, byCluster[name])
		if err != nil {
			return nil, err
		}
		list = append(list, seen...)
	}
	return list, nil
}

func (e *Engine) queryCluster(ctx context.Context, cluster string, jobs []batch.Job) ([]batch.Observation, error) {
	args := []string{"-h", "-r", "-t", "all", "-o", squeueFormat}
	if cluster != "" {
		args = append(args, "--clusters="+cluster)
	}
	var ids []string
	known := true
	for _, j := range jobs {
		id, _, _ := strings.Cut(j.ID, ";")
		known = known && id != ""
		ids = append(ids, id)
	}
	if known {
		args = append(args, "-j", strings.Join(ids, ","))
	} else {
		// A job without an id is found by its comment.
		args = append(args, "-u", strconv.Itoa(os.Getuid()))
	}
	out, err := runCommand(ctx, nil, "squeue", args...)
	if err != nil && !strings.Contains(err.Error(), "Invalid job id specified") {
		return nil, err
	}
	q := newQuery(jobs, cluster)
	for line := range strings.Lines(out) {
		if err := q.queueLine(strings.TrimRight(line, "\r\n")); err != nil {
			return nil, err
		}
	}
	if q.complete() {
		return q.list, nil
	}
	return q.list, q.account(ctx)
}

// taskOf is a task of a part.
type taskOf struct {
	part string
	task int
}

// query gathers what Slurm says about some jobs of a cluster.
type query struct {
	jobs    []batch.Job
	cluster string
	seen    map[taskOf]bool
	list    []batch.Observation
}

func newQuery(jobs []batch.Job, cluster string) *query {
	return &query{jobs: jobs, cluster: cluster, seen: map[taskOf]bool{}}
}

// find is the job of an array, by its id or else its comment.
func (q *query) find(array, comment string) *batch.Job {
	for i := range q.jobs {
		id, _, _ := strings.Cut(q.jobs[i].ID, ";")
		if id == array && id != "" || id == "" && comment == q.jobs[i].Key {
			return &q.jobs[i]
		}
	}
	return nil
}

// add notes what is said about an index of an array, the first time.
func (q *query) add(array, index, comment string, o batch.Observation) {
	j := q.find(array, comment)
	if j == nil {
		return
	}
	n, err := strconv.Atoi(index)
	if err != nil {
		return
	}
	if o.Task = j.Task(n); o.Task < 0 {
		return
	}
	o.Key, o.Job, o.EngineID = j.Key, array, array+"_"+index
	if q.cluster != "" {
		o.Job += ";" + q.cluster
	}
	key := taskOf{j.Key, o.Task}
	if !q.seen[key] {
		q.seen[key] = true
		q.list = append(q.list, o)
	}
}

func (q *query) complete() bool {
	n := 0
	for _, j := range q.jobs {
		n += len(j.Tasks)
	}
	return len(q.list) == n
}

// queueLine reads a line of squeue.
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
	reason := f[3]
	if reason == "None" {
		reason = ""
	}
	state, reason := stateOf(f[2], reason)
	q.add(f[0], f[1], f[5], batch.Observation{State: state, Reason: reason, Node: f[4]})
	return nil
}

// stateOf translates a state, with a reason where the word says more.
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
	// A word that is not known must not get a task handed over twice.
	return batch.Running, strings.TrimSpace(word + " " + reason)
}

// account asks sacct about the tasks that squeue does not know any more. Where
// accounting is off, the files of the tasks have to do.
func (q *query) account(ctx context.Context) error {
	var ids []string
	for _, j := range q.jobs {
		if id, _, _ := strings.Cut(j.ID, ";"); id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	args := []string{"-X", "-n", "-P", "-j", strings.Join(ids, ","), "-o", "JobID,State,ExitCode,NodeList"}
	if q.cluster != "" {
		args = append(args, "--clusters="+q.cluster)
	}
	out, err := runCommand(ctx, nil, "sacct", args...)
	if err != nil {
		return ctx.Err()
	}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			continue
		}
		array, indices, isArray := strings.Cut(f[0], "_")
		if !isArray {
			continue
		}
		state, reason := stateOf(f[1], "")
		o := batch.Observation{State: state, Reason: reason, Node: f[3]}
		if f[2] != "0:0" {
			o.Exit = "exit " + f[2]
		}
		list, err := batch.ParseRanges(strings.Trim(strings.SplitN(indices, "%", 2)[0], "[]"), batch.MaxTasks)
		if err != nil {
			continue
		}
		for _, i := range list {
			q.add(array, strconv.Itoa(i), "", o)
		}
	}
	return nil
}
