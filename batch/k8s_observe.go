package batch

import (
	"cmp"
	"fmt"
	"slices"
)

// k8sPart is what a cluster says about one part.
type k8sPart struct {
	job  *k8sItem
	pods map[int][]*k8sItem // by index, oldest first
}

// observeK8s says where the tasks of the jobs stand, from the Jobs and pods
// that carry the label of their run.
func observeK8s(jobs []Job, items []k8sItem) ([]Observation, error) {
	parts := map[string]*k8sPart{}
	for i := range items {
		item := &items[i]
		key := item.Metadata.Labels[k8sPartLabel]
		p := parts[key]
		if p == nil {
			p = &k8sPart{pods: map[int][]*k8sItem{}}
			parts[key] = p
		}
		switch item.Kind {
		case "Job":
			p.job = item
		case "Pod":
			if at := item.index(); at >= 0 {
				p.pods[at] = append(p.pods[at], item)
			}
		}
	}
	var out []Observation
	for _, j := range jobs {
		p := parts[j.Key]
		if p == nil {
			continue
		}
		seen, err := p.observe(j)
		if err != nil {
			return nil, err
		}
		out = append(out, seen...)
	}
	return out, nil
}

// observe says where each task of a part stands.
func (p *k8sPart) observe(j Job) ([]Observation, error) {
	n := len(j.Tasks)
	completed, failed := make([]bool, n), make([]bool, n)
	id := j.ID
	if p.job != nil {
		id = k8sID(p.job.Metadata.Namespace, p.job.Metadata.Name)
		status := p.job.Status
		err := parseK8sIndexes(status.CompletedIndexes, n, func(i int) { completed[i] = true })
		if err == nil {
			err = parseK8sIndexes(status.FailedIndexes, n, func(i int) { failed[i] = true })
		}
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", id, err)
		}
	}
	var out []Observation
	for i := range n {
		pods := p.pods[i]
		slices.SortStableFunc(pods, func(a, b *k8sItem) int {
			return cmp.Or(a.Metadata.Created.Compare(b.Metadata.Created), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
		})
		o := Observation{Key: j.Key, Job: id, Task: j.Task(i)}
		known := p.task(&o, pods, completed[i], failed[i])
		if known && o.Task >= 0 {
			out = append(out, o)
		}
	}
	return out, nil
}

// task fills in where the task of an index stands, and says whether the cluster
// knows it.
func (p *k8sPart) task(o *Observation, pods []*k8sItem, completed, failed bool) bool {
	var last *k8sItem
	if len(pods) > 0 {
		last = pods[len(pods)-1]
		o.EngineID, o.Node = last.Metadata.Name, last.Spec.NodeName
		o.Exit, o.Reason = last.exit()
	}
	switch {
	case last != nil && !last.ended() && (p.job == nil || last.Metadata.Deleted != nil):
		// It has been told to end and has not yet.
		o.State, o.Reason = Running, "is being ended"
		if last.Spec.NodeName == "" {
			o.State = Cancelled
		}
		return true
	case p.job == nil:
		return false
	case completed:
		o.State, o.Reason = Done, ""
	case failed:
		o.State = failedState(last)
	case p.job.Metadata.Deleted != nil:
		o.State, o.Reason = Cancelled, "the job is being deleted"
	case p.job.condition("Failed") != nil:
		p.givenUp(o)
	case last == nil:
		o.State = Queued
		if p.job.Spec.Suspend {
			o.Reason = "suspended"
		}
	case last.Status.Phase == "Succeeded":
		o.State, o.Reason = Done, ""
	case last.Status.Phase == "Failed":
		o.State = Requeued
		if p.job.Spec.Suspend {
			o.Reason = join(": ", "suspended", o.Reason)
		}
	case last.Status.Phase == "Pending":
		o.State, o.Reason = Queued, last.waiting()
		if len(pods) > 1 {
			o.State = Requeued
		}
	case last.Status.Phase == "Unknown":
		o.State, o.Reason = Running, join(": ", "its node does not answer", o.Reason)
	default:
		o.State, o.Reason = Running, ""
	}
	return true
}

// failedState is the state of a task that will get no other attempt, from its
// last pod.
func failedState(last *k8sItem) State {
	if last != nil && last.Status.Reason == "DeadlineExceeded" {
		return Timeout
	}
	return Failed
}

// givenUp is a task that had not ended when its Job was.
func (p *k8sPart) givenUp(o *Observation) {
	c := p.job.condition("Failed")
	o.State = Cancelled
	if c.Reason == "DeadlineExceeded" {
		o.State = Timeout
	}
	o.Reason = join(": ", c.Reason, lastLine(c.Message))
}
