package batch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/owner"
)

// Settings is what a submission was made with, stored as RUN/submit/N.json for submission N. Later queries about its
// jobs and a retry start from it.
type Settings struct {
	Engine    string          `json:"engine"`
	Program   string          `json:"program"`
	Resources Resources       `json:"resources"`
	Options   json.RawMessage `json:"options,omitempty"`
}

func (r *Run) settingsPath(number int) string {
	return filepath.Join(r.Dir, SubmitDir, fmt.Sprintf("%d.json", number))
}

// Settings reads the settings of the submission with this number.
func (r *Run) Settings(number int) (Settings, error) {
	var s Settings
	err := readChecked(r.settingsPath(number), &s, s.check)
	return s, err
}

// LastSettings returns the settings of the last submission; ok is false if there is none yet.
func (r *Run) LastSettings() (s Settings, ok bool, err error) {
	number := r.submissions()
	if number == 0 {
		return s, false, nil
	}
	s, err = r.Settings(number)
	return s, true, err
}

// CheckOwner returns an error if somebody else may have chosen the program and the options of the last submission: if the run
// folder, its folder of submissions or the settings belong to a user other than this one and root, or can be written by others.
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
