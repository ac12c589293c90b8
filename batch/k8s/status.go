package k8s

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The types below hold the part that is read of the output of kubectl get jobs,pods -o json.

type item struct {
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
		Started          *time.Time  `json:"startTime"` // of a Job: when it was made or last resumed
		Active           int         `json:"active"`
		CompletedIndexes string      `json:"completedIndexes"`
		FailedIndexes    string      `json:"failedIndexes"`
		Conditions       []condition `json:"conditions"`
		Phase            string      `json:"phase"`
		Reason           string      `json:"reason"`
		Message          string      `json:"message"`
		Containers       []struct {
			Name  string         `json:"name"`
			State containerState `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type containerState struct {
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

// parseList decodes the output of kubectl get jobs,pods -o json.
func parseList(raw []byte) ([]item, error) {
	var list struct {
		Kind  string `json:"kind"`
		Items *[]item
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("kubectl get: expected JSON, found %s: %w", excerpt(raw), err)
	}
	if list.Kind != "List" || list.Items == nil {
		return nil, fmt.Errorf("kubectl get: expected a List, found %s", excerpt(raw))
	}
	return *list.Items, nil
}

func excerpt(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	return strconv.Quote(string(raw[:min(len(raw), 80)]))
}

// condition returns the condition of a type whose status is True, nil if there is none.
func (i *item) condition(kind string) *condition {
	for k := range i.Status.Conditions {
		if c := &i.Status.Conditions[k]; c.Type == kind && c.Status == "True" {
			return c
		}
	}
	return nil
}

func (i *item) id() string { return i.Metadata.Namespace + "/" + i.Metadata.Name }

// lacksPods reports whether a Job without pods that is not suspended should have had some by now: admission refuses them, for one.
func (i *item) lacksPods() bool {
	since := i.Metadata.Created
	if i.Status.Started != nil {
		since = *i.Status.Started
	}
	begun := i.Status.Active > 0 || i.Status.CompletedIndexes+i.Status.FailedIndexes != ""
	return !begun && !since.IsZero() && time.Since(since) > podWait
}

// index returns the completion index of a pod, -1 if it has none.
func (i *item) index() int {
	n, err := strconv.Atoi(cmp.Or(i.Metadata.Annotations[indexLabel], i.Metadata.Labels[indexLabel]))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// ended reports whether all containers of a pod have ended.
func (i *item) ended() bool { return i.Status.Phase == "Succeeded" || i.Status.Phase == "Failed" }

// exit returns the exit code of the task's container, empty if there is none, and why it ended.
func (i *item) exit() (code, why string) {
	why = join(": ", i.Status.Reason, i.Status.Message)
	for _, c := range i.Status.Containers {
		t := c.State.Terminated
		if c.Name != containerName || t == nil {
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

// waiting returns why a pod has not started, empty if nothing says so.
func (i *item) waiting() string {
	for _, c := range i.Status.Containers {
		if w := c.State.Waiting; c.Name == containerName && w != nil && w.Reason != "ContainerCreating" {
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

// join joins the words that are not empty.
func join(by string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), by)
}

// lastLine returns the last line of s that is not blank.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
