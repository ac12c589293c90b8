package batch

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What kubectl get jobs,pods -o json says, as far as it is read.

type k8sItem struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Created     time.Time         `json:"creationTimestamp"`
		Deleted     *time.Time        `json:"deletionTimestamp"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Suspend  bool   `json:"suspend"`
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		CompletedIndexes string         `json:"completedIndexes"`
		FailedIndexes    string         `json:"failedIndexes"`
		Conditions       []k8sCondition `json:"conditions"`
		Phase            string         `json:"phase"`
		Reason           string         `json:"reason"`
		Message          string         `json:"message"`
		Containers       []struct {
			Name  string            `json:"name"`
			State k8sContainerState `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

type k8sCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type k8sContainerState struct {
	Waiting *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"waiting"`
	Terminated *struct {
		Reason   string `json:"reason"`
		Message  string `json:"message"`
		ExitCode int    `json:"exitCode"`
	} `json:"terminated"`
}

// parseK8sList reads what kubectl get jobs,pods -o json printed.
func parseK8sList(raw []byte) ([]k8sItem, error) {
	var list struct {
		Kind  string `json:"kind"`
		Items *[]k8sItem
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("kubectl get: expected JSON, found %s: %w", k8sExcerpt(raw), err)
	}
	if list.Kind != "List" || list.Items == nil {
		return nil, fmt.Errorf("kubectl get: expected a List, found %s", k8sExcerpt(raw))
	}
	return *list.Items, nil
}

func k8sExcerpt(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	if len(raw) > 80 {
		raw = raw[:80]
	}
	return strconv.Quote(string(raw))
}

// condition is the condition of a type that holds, nil where none does.
func (i *k8sItem) condition(kind string) *k8sCondition {
	for k := range i.Status.Conditions {
		if c := &i.Status.Conditions[k]; c.Type == kind && c.Status == "True" {
			return c
		}
	}
	return nil
}

// index is the completion index of a pod, -1 for none.
func (i *k8sItem) index() int {
	s, ok := i.Metadata.Annotations[k8sIndexLabel]
	if !ok {
		s = i.Metadata.Labels[k8sIndexLabel]
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// ended says whether all containers of a pod have ended.
func (i *k8sItem) ended() bool { return i.Status.Phase == "Succeeded" || i.Status.Phase == "Failed" }

// exit is the exit code of the task's container, empty where there is none,
// and why it ended.
func (i *k8sItem) exit() (code, why string) {
	why = join(": ", i.Status.Reason, i.Status.Message)
	for _, c := range i.Status.Containers {
		t := c.State.Terminated
		if c.Name != k8sContainerName || t == nil {
			continue
		}
		code = strconv.Itoa(t.ExitCode)
		reason := t.Reason
		if reason == "Error" || reason == "Completed" {
			reason = ""
		}
		why = join(": ", why, reason, lastLine(t.Message))
	}
	if c := i.condition("DisruptionTarget"); c != nil {
		why = join(": ", c.Reason, why)
	}
	return code, why
}

// waiting is why a pod that has not started has not.
func (i *k8sItem) waiting() string {
	for _, c := range i.Status.Containers {
		if w := c.State.Waiting; c.Name == k8sContainerName && w != nil && w.Reason != "ContainerCreating" {
			return join(": ", w.Reason, lastLine(w.Message))
		}
	}
	for _, c := range i.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			return join(": ", c.Reason, lastLine(c.Message))
		}
	}
	return ""
}

// join joins what is not empty.
func join(by string, words ...string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, by)
}

// lastLine is the last line of a text that says something.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
