package runs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/internal/jsonfile"
)

// flagsContent is the content of flags.json.
type flagsContent struct {
	Flags []string `json:"flags"`
}

// WriteFlags writes flags.json to the folder of a run or a sweep: the words of the command line that lead to its data
// and to files, such as --data=reviews. Nothing else in the folder depends on them, and other words may lead to the
// data later.
func WriteFlags(dir string, words []string) error {
	if there, err := ReadFlags(dir); len(words) == 0 || err == nil && slices.Equal(there, words) {
		return nil
	}
	return jsonfile.Write(filepath.Join(dir, flagsFile), flagsContent{words})
}

// ReadFlags returns the words in flags.json of a folder. It returns nil where there is no such file, as for the work of
// a Go program.
func ReadFlags(dir string) ([]string, error) {
	var content flagsContent
	err := jsonfile.Read(filepath.Join(dir, flagsFile), maxConfig, &content)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content.Flags, err
}
