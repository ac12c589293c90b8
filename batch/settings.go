package batch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Settings are what a submission was made with: RUN/submit/<try>.json. Later
// questions about its jobs and a retry begin from them.
type Settings struct {
	Engine    string          `json:"engine"`
	Program   string          `json:"program"`
	Resources Resources       `json:"resources"`
	Options   json.RawMessage `json:"options,omitempty"`
}

// Settings reads those of a submission.
func (r *Run) Settings(try int) (Settings, error) {
	var s Settings
	path := filepath.Join(r.Dir, SubmitDir, fmt.Sprintf("%d.json", try))
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := decodeStrict(raw, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// LastSettings are those of the last submission; ok is false before the first.
func (r *Run) LastSettings() (s Settings, ok bool, err error) {
	try := r.tries()
	if try == 0 {
		return s, false, nil
	}
	s, err = r.Settings(try)
	return s, true, err
}
