package k8s

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/amtrl/amtrl/batch"
)

type observedPart struct {
	job     *item
	pods    map[int][]*item // by index, oldest first
	podless string          // why the Job has no pod, empty if it has or if that is no wonder
}

// podWait is how long a Job may be without its first pod before that is said. The Job controller tries again with pauses.
const podWait = time.Minute

// observe returns the states of the tasks of the jobs, from the Jobs and pods that carry the label of their run. describe returns
// the command that says what happens to a Job.
func observe(jobs []batch.Job, items []item, describe func(*item) string) ([]batch.Observation, error) {
	parts := map[string]*observedPart{}
	for i := range items {
		it := &items[i]
		key := it.Metadata.Labels[partLabel]
		if parts[key] == nil {
			parts[key] = &observedPart{pods: map[int][]*item{}}
		}
		p := parts[key]
		if it.Kind == "Job" {
			p.job = it
		} else if at := it.index(); it.Kind == "Pod" && at >= 0 {
			p.pods[at] = append(p.pods[at], it)
		}
	}
	var out []batch.Observation
	for _, j := range jobs {
		p := parts[j.Key]
		if p == nil {
			continue
		}
		if p.job != nil && len(p.pods) == 0 && p.job.lacksPods() {
			p.podless = "no pod was made: " + describe(p.job) + " says why"
		}
		seen, err := p.observe(j)
		if err != nil {
			return nil, err
		}
		out = append(out, seen...)
	}
	return out, nil
}

func (p *observedPart) observe(j batch.Job) ([]batch.Observation, error) {
	var completed, failed batch.Tasks
	id := j.ID
	if p.job != nil {
		var err1, err2 error
		id = p.job.id()
		completed, err1 = parseIndexes(p.job.Status.CompletedIndexes, len(j.Tasks))
		failed, err2 = parseIndexes(p.job.Status.FailedIndexes, len(j.Tasks))
		if err := cmp.Or(err1, err2); err != nil {
			return nil, fmt.Errorf("job %s: %w", id, err)
		}
	}
	var out []batch.Observation
	for i := range j.Tasks {
		pods := p.pods[i]
		slices.SortStableFunc(pods, func(a, b *item) int {
			return cmp.Or(a.Metadata.Created.Compare(b.Metadata.Created), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
		})
		o := batch.Observation{Key: j.Key, Job: id, Task: j.Task(i)}
		_, isCompleted := slices.BinarySearch(completed, i)
		_, hasFailed := slices.BinarySearch(failed, i)
		if p.task(&o, pods, isCompleted, hasFailed) && o.Task >= 0 {
			out = append(out, o)
		}
	}
	return out, nil
}

// task stores in o the state of the task of an index, and reports whether the cluster knows the task.
func (p *observedPart) task(o *batch.Observation, pods []*item, completed, failed bool) bool {
	var last *item
	if len(pods) > 0 {
		last = pods[len(pods)-1]
		o.EngineID, o.Node = last.Metadata.Name, last.Spec.NodeName
		o.Exit, o.Reason = last.exit()
	}
	var gaveUp *condition
	if p.job != nil {
		gaveUp = p.job.condition("Failed")
	}
	switch {
	case last != nil && !last.ended() && (p.job == nil || last.Metadata.Deleted != nil):
		// The pod has been told to end and has not ended yet.
		o.State, o.Reason = batch.Running, "is being ended"
		if last.Spec.NodeName == "" {
			o.State = batch.Cancelled
		}
		return true
	case p.job == nil:
		return false
	case completed:
		o.State, o.Reason = batch.Done, ""
	case failed:
		o.State = batch.Failed
		if last != nil && last.Status.Reason == deadlineExceeded {
			o.State = batch.Timeout
		}
	case p.job.Metadata.Deleted != nil:
		o.State, o.Reason = batch.Cancelled, "the job is being deleted"
	case gaveUp != nil: // before this task had ended
		o.State, o.Reason = batch.Cancelled, join(": ", gaveUp.Reason, lastLine(gaveUp.Message))
		if gaveUp.Reason == deadlineExceeded {
			o.State = batch.Timeout
		}
	case last == nil:
		o.State, o.Reason = batch.Queued, p.podless
		if p.job.Spec.Suspend {
			o.Reason = "suspended"
		}
	case last.Status.Phase == "Succeeded":
		o.State, o.Reason = batch.Done, ""
	case last.Status.Phase == "Failed":
		o.State = batch.Requeued
		if p.job.Spec.Suspend {
			o.Reason = join(": ", "suspended", o.Reason)
		}
	case last.Status.Phase == "Pending":
		o.State, o.Reason = batch.Queued, last.waiting()
		if len(pods) > 1 {
			o.State = batch.Requeued
		}
	case last.Status.Phase == "Unknown":
		o.State, o.Reason = batch.Running, join(": ", "its node does not answer", o.Reason)
	default:
		o.State, o.Reason = batch.Running, ""
	}
	return true
}

// deadlineExceeded is the reason of a pod or Job that met its time limit.
const deadlineExceeded = "DeadlineExceeded"

// parseIndexes reads the status fields completedIndexes and failedIndexes of a Job with n indices, such as 0,2-5.
func parseIndexes(s string, n int) (batch.Tasks, error) {
	if s == "" {
		return nil, nil
	}
	return batch.ParseRanges(s, n)
}
