package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestTaskIndexNamesTheClosest(t *testing.T) {
	s := &Set{Name: "many"}
	for _, pool := range []string{"fog", "glass_blur", "identity", "motion_blur"} {
		for class := range 10 {
			s.Tasks = append(s.Tasks, Task{Name: fmt.Sprintf("%s_%d", pool, class)})
		}
	}
	must.Equal(t, must.Get(s.TaskIndex("glass_blur_2"))(t), 12, "TaskIndex")
	for name, want := range map[string]string{
		"glas_blur_2": "expected one of glass_blur_2,",
		"motion":      "expected one of motion_blur_0,",
		"":            "expected one of fog_0,",
	} {
		_, err := s.TaskIndex(name)
		must.Fail(t, fmt.Sprintf("TaskIndex(%q)", name), err, want)
	}
	s.Tasks = s.Tasks[:2]
	if _, err := s.TaskIndex("x"); err == nil || !strings.HasSuffix(err.Error(), "expected one of fog_0, fog_1") {
		t.Errorf("few tasks: %v", err)
	}
	s.Tasks = nil
	must.Fail(t, "no tasks", must.Err(s.TaskIndex("x")))
}

func TestTaskIndexQuotesTheStartOfALongName(t *testing.T) {
	s := &Set{Name: "made", Tasks: []Task{{Name: "a"}}}
	if _, err := s.TaskIndex(strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 200 {
		t.Errorf("expected a short error, found %.300v", err)
	}
}
