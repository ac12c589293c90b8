package batch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/owner"
)

// Settings are what a submission was made with: RUN/submit/N.json for
// submission N. Later questions about its jobs and a retry begin from them.
type Settings struct {
	Engine    string          `json:"engine"`
	Program   string          `json:"program"`
	Resources Resources       `json:"resources"`
	Options   json.RawMessage `json:"options,omitempty"`
}

func (r *Run) settingsPath(number int) string {
	return filepath.Join(r.Dir, SubmitDir, fmt.Sprintf("%d.json", number))
}

// Settings reads those of a submission.
func (r *Run) Settings(number int) (Settings, error) {
	var s Settings
	err := readChecked(r.settingsPath(number), &s, s.check)
	return s, err
}

// LastSettings are those of the last submission; ok is false before the first.
func (r *Run) LastSettings() (s Settings, ok bool, err error) {
	number := r.submissions()
	if number == 0 {
		return s, false, nil
	}
	s, err = r.Settings(number)
	return s, true, err
}

// CheckOwner returns an error where somebody else may have chosen the program and the options of the last submission:
// where the run folder, its folder of submissions or the settings belong to another user than this one and root, or can
// be written by others.
func (r *Run) CheckOwner() error {
	for _, path := range []string{r.Dir, filepath.Join(r.Dir, SubmitDir), r.settingsPath(r.submissions())} {
		info, err := os.Lstat(path)
		if err == nil {
			err = owner.Check(info)
		}
		if err != nil {
			return fmt.Errorf("%s %w", path, err)
		}
	}
	return nil
}
