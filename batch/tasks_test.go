package batch

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestTasksRoundTrip(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		var list Tasks
		for i := range 30 {
			if rng.IntN(3) > 0 {
				list = append(list, i*(1+rng.IntN(2)))
			}
		}
		slices.Sort(list)
		list = slices.Compact(append(list, 99))
		raw := must.Get(json.Marshal(list))(t)
		var back Tasks
		if err := json.Unmarshal(raw, &back); err != nil || !slices.Equal(back, list) {
			t.Fatalf("%v became %s and %v: %v", list, raw, back, err)
		}
	}
}

func TestParseTasks(t *testing.T) {
	if got, err := ParseTasks("7, 0-3,2", 8); err != nil || got.String() != "0-3,7" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "a", "3-1", "-1", "1-", "8", "0-99999999999999999999", "0-4000000000", "1,,2"} {
		must.Fail(t, bad, must.Err(ParseTasks(bad, 8)))
	}
}

// Only the form that String writes is read from files: each index once, in ascending order.
func TestParseRanges(t *testing.T) {
	if got, err := ParseRanges("0-3,5,7", 8); err != nil || !slices.Equal(got, Tasks{0, 1, 2, 3, 5, 7}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"0-3,3", "0-3,2-5", "3,3", "5,4", "0-3,8"} {
		must.Fail(t, bad, must.Err(ParseRanges(bad, 8)), "expected ")
	}
}

// Index and Task are inverse to each other, for both ways of numbering.
func TestPartNumbering(t *testing.T) {
	for _, p := range []Part{
		{Tasks: Tasks{1000, 1001, 1007}, Offset: 1000},
		{Tasks: Tasks{3, 9, 11}, Dense: true},
	} {
		for _, task := range p.Tasks {
			if i := p.Index(task); i < 0 || p.Task(i) != task {
				t.Errorf("%+v: task %d has index %d, which is task %d", p, task, i, p.Task(i))
			}
		}
		for _, other := range []int{-1, 0, 5, 1002, 2000} {
			if i := p.Index(other); i >= 0 {
				t.Errorf("%+v: task %d has index %d", p, other, i)
			}
		}
		for _, other := range []int{-1, 3, 6, 8} {
			if task := p.Task(other); task >= 0 {
				t.Errorf("%+v: index %d is task %d", p, other, task)
			}
		}
	}
}
