package runs

import (
	"encoding/json"
	"os"
	"sync"
)

// timing appends to timing.jsonl, the one file that differs between two runs
// of the same work.
type timing struct {
	mu sync.Mutex
	f  *os.File
}

type timingLine struct {
	Unit    string  `json:"unit,omitempty"`
	Method  string  `json:"method,omitempty"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds"`
}

func openTiming(path string) (*timing, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	return &timing{f: f}, err
}

func (t *timing) add(line timingLine) error {
	js, err := json.Marshal(line)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.f.Write(append(js, '\n'))
	return err
}

func (t *timing) close() { t.f.Close() }
