package batch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tasks is an ascending list of task indices, written as 0-3,7 in JSON.
type Tasks []int

// String writes the list as ranges.
func (t Tasks) String() string {
	var out strings.Builder
	for i := 0; i < len(t); {
		last := i
		for last+1 < len(t) && t[last+1] == t[last]+1 {
			last++
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Itoa(t[i]))
		if last > i {
			out.WriteString("-" + strconv.Itoa(t[last]))
		}
		i = last + 1
	}
	return out.String()
}

// ParseTasks reads a list such as 0-3,7 of indices below n, in any order, and returns it sorted, each index once.
func ParseTasks(s string, n int) (Tasks, error) {
	var t Tasks
	for word := range strings.SplitSeq(s, ",") {
		some, err := ParseRanges(strings.TrimSpace(word), n)
		if err != nil {
			return nil, err
		}
		t = append(t, some...)
		if len(t) > 2*n { // most indices are repeated
			slices.Sort(t)
			t = slices.Compact(t)
		}
	}
	slices.Sort(t)
	return slices.Compact(t), nil
}

// ParseRanges reads the form that [Tasks.String] writes: ascending indices and ranges of indices, all below n.
func ParseRanges(s string, n int) (Tasks, error) {
	var t Tasks
	next := 0
	for word := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(word, "-")
		lo, err := parseIndex(first)
		hi := lo
		if err == nil && isRange {
			hi, err = parseIndex(last)
		}
		if err != nil || hi < lo {
			return nil, fmt.Errorf("expected tasks such as 3 or 0-3,7, found %q", word)
		}
		if lo < next {
			return nil, fmt.Errorf("expected tasks in ascending order, found %q", word)
		}
		if hi >= n {
			return nil, fmt.Errorf("task %d: expected 0 to %d", hi, n-1)
		}
		for i := lo; i <= hi; i++ {
			t = append(t, i)
		}
		next = hi + 1
	}
	return t, nil
}

// parseIndex reads an index in the form in which it is written: digits alone, without leading zeros.
func parseIndex(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && strconv.Itoa(n) != s {
		err = strconv.ErrSyntax
	}
	return n, err
}

// MarshalJSON implements [json.Marshaler].
func (t Tasks) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Tasks) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	list, err := ParseRanges(s, MaxTasks)
	*t = list
	return err
}

// PartKey returns the key of a part of a submission.
func (s Submission) PartKey(part int) string { return partKey(s.ID, s.Number, part) }

// Index returns the engine's index of a task, or -1 if the part does not hold the task.
func (p Part) Index(task int) int {
	at, found := slices.BinarySearch(p.Tasks, task)
	switch {
	case !found:
		return -1
	case p.Dense:
		return at
	}
	return task - p.Offset
}

// Task returns the task that the engine's index stands for, or -1 if the part has no such index.
func (p Part) Task(index int) int {
	if p.Dense {
		if index < 0 || index >= len(p.Tasks) {
			return -1
		}
		return p.Tasks[index]
	}
	if _, found := slices.BinarySearch(p.Tasks, index+p.Offset); !found {
		return -1
	}
	return index + p.Offset
}
