package runs

import (
	"encoding/json"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// timingLine is a line of timing.jsonl, the one file that differs between two
// runs of the same work: what an epoch of a run, or a unit of a sweep, took.
type timingLine struct {
	Unit    string  `json:"unit,omitempty"`
	Method  string  `json:"method,omitempty"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds"`
}

// append adds the line to the file in dir.
func (l timingLine) append(dir string) error {
	js, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return atomicfile.Append(filepath.Join(dir, timingFile), js)
}
