package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTaskIndexNamesTheClosest(t *testing.T) {
	s := &Set{Name: "many"}
	for _, pool := range []string{"fog", "glass_blur", "identity", "motion_blur"} {
		for class := range 10 {
			s.Tasks = append(s.Tasks, Task{Name: fmt.Sprintf("%s_%d", pool, class)})
		}
	}
	if i, err := s.TaskIndex("glass_blur_2"); err != nil || i != 12 {
		t.Fatalf("TaskIndex = %d, %v, want 12", i, err)
	}
	for name, want := range map[string]string{
		"glas_blur_2": "expected one of glass_blur_2,",
		"motion":      "expected one of motion_blur_0,",
		"":            "expected one of fog_0,",
	} {
		_, err := s.TaskIndex(name)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("TaskIndex(%q): %v, want %q in it", name, err, want)
		}
	}
	s.Tasks = s.Tasks[:2]
	if _, err := s.TaskIndex("x"); err == nil || !strings.HasSuffix(err.Error(), "expected one of fog_0, fog_1") {
		t.Errorf("few tasks: %v", err)
	}
	s.Tasks = nil
	if _, err := s.TaskIndex("x"); err == nil {
		t.Error("no tasks: no error")
	}
}

func TestEditDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		switch {
		case a == "" || b == "":
			return len(a) + len(b)
		case a[0] == b[0]:
			return slow(a[1:], b[1:])
		}
		return 1 + min(slow(a[1:], b), slow(a, b[1:]), slow(a[1:], b[1:]))
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	word := func() string {
		w := make([]byte, rng.IntN(7))
		for i := range w {
			w[i] = "abc"[rng.IntN(3)]
		}
		return string(w)
	}
	for range 500 {
		a, b := word(), word()
		if got, want := editDistance(a, b), slow(a, b); got != want {
			t.Fatalf("seed %d: editDistance(%q, %q) = %d, want %d", seed, a, b, got, want)
		}
	}
}

func TestTaskIndexQuotesTheStartOfALongName(t *testing.T) {
	s := &Set{Name: "made", Tasks: []Task{{Name: "a"}}}
	if _, err := s.TaskIndex(strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 200 {
		t.Errorf("expected a short error, found %.300v", err)
	}
}
