package runs

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
)

// The files of the folder of a run, and of a sweep.
const (
	configFile     = "config.json"
	epochsFile     = "epochs.jsonl"
	evaluationFile = "evaluation.jsonl"
	modelFile      = "model.safetensors"
	relevanceFile  = "relevance.csv"
	rowsFile       = "rows.csv"
	resultFile     = "result.json"
	resultsFile    = "results.csv"
	summaryFile    = "summary.json"
	timingFile     = "timing.jsonl"
	flagsFile      = "flags.json"
	resultsDir     = "results"
	checkpointDir  = "checkpoint"
	checkpointFile = "epoch.safetensors"
	modelsDir      = "models"
)

// ownNames are the names of what lies in the folder of a run or a sweep.
var ownNames = []string{configFile, epochsFile, evaluationFile, modelFile, relevanceFile, rowsFile, resultFile, resultsFile, summaryFile,
	timingFile, flagsFile, resultsDir, checkpointDir, modelsDir}

// checkOwn returns an error where a folder without config.json holds other files than those of a run or a sweep, hidden ones and logs,
// which schedulers open before a program starts. Where a folder has lost config.json alone, it is written anew.
func checkOwn(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		harmless := strings.HasPrefix(name, ".") || name == "lost+found" || slices.Contains([]string{".log", ".out", ".err"}, filepath.Ext(name))
		if !harmless && !slices.Contains(ownNames, name) {
			return text.Mark(fmt.Errorf("%s holds other files, such as %s: expected the folder of a run or sweep, an empty one or none; nothing "+
				"was written", dir, text.OneLine(name, 80)), ErrOtherSettings)
		}
	}
	return err
}

// StudyFile holds the settings of a study. Package study reads and writes it.
const StudyFile = "study.json"

// The largest files that are read, in bytes.
const (
	maxConfig  = 64 << 20
	maxResult  = 256 << 20
	maxTensors = 4 << 30
)

// Hashes maps the names of files to their SHA-256 in hexadecimal.
type Hashes map[string]string

// HashOf returns the hash of a file's content as [Hashes] holds it.
func HashOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// otherFile returns the error of a file whose hash is not the one that is listed. by is the file that lists it, and then
// says what to do. Both hashes have 8 digits, or as many as it takes to tell them apart.
func otherFile(path, by, want, found, then string) error {
	n := 8
	for n < min(len(want), len(found)) && want[:n] == found[:n] {
		n++
	}
	return fmt.Errorf("%s: expected the file that %s lists (sha256 %.*s), found %.*s: %s", path, by, n, want, n, cmp.Or(found, "none"), then)
}

// hashFile returns the hash of a regular file, "" where there is none.
func hashFile(path string) (string, error) {
	f, _, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// hashFiles returns the hashes of files in a folder. A file that does not exist has the hash "".
func hashFiles(dir string, names ...string) (hashes Hashes, err error) {
	hashes = Hashes{}
	for _, name := range names {
		if hashes[name], err = hashFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// File is the name and content of a file in a folder.
type File struct {
	Name    string
	Content []byte
}

// WriteFiles writes files in turn to the folder dir, which it creates, and returns their hashes. A name that leads out of
// the folder is an error.
func WriteFiles(dir string, files []File) (Hashes, error) {
	for _, f := range files {
		if !filepath.IsLocal(f.Name) {
			return nil, fmt.Errorf("%s: expected the name of a file in it, found %q", dir, f.Name)
		}
	}
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, err
	}
	hashes := Hashes{}
	for _, f := range files {
		if err := atomicfile.Write(filepath.Join(dir, f.Name), f.Content); err != nil {
			return nil, err
		}
		hashes[f.Name] = HashOf(f.Content)
	}
	return hashes, nil
}

// writeIfChanged writes a file unless it holds the content already, so that finished work can be read where nothing can be
// written.
func writeIfChanged(path string, content []byte) error {
	switch there, err := atomicfile.ReadFile(path, maxResult); {
	case err == nil && bytes.Equal(there, content):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.Write(path, content)
}

// EncodeCSV returns a table in the form of all CSV files of amtrl.
func EncodeCSV(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	err := csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes(), err
}

// timingLine is a line of timing.jsonl: the time that an epoch of a run, or a unit of a sweep, took. timing.jsonl is
// the one file that differs between two runs of the same work.
type timingLine struct {
	Unit    string  `json:"unit,omitempty"`
	Method  string  `json:"method,omitempty"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds"`
}

func (l timingLine) append(dir string) error {
	return jsonfile.Append(filepath.Join(dir, timingFile), l)
}

// WriteTable creates the table file at path with the rows that write writes. The ending of path selects the format. It
// is an error that wraps [fs.ErrExist] if the file exists. The file appears whole or not at all.
func WriteTable(path string, write func(table.Writer) error) error {
	there := func() error {
		return text.Mark(fmt.Errorf("%s: expected no such file, found one; nothing was written", path), fs.ErrExist)
	}
	if _, err := os.Lstat(path); err == nil {
		return there()
	}
	var failed error
	err := atomicfile.CreateBy(path, func(to io.Writer) error {
		failed = writeTable(path, to, write)
		return failed
	})
	if failed == nil && errors.Is(err, fs.ErrExist) { // created by another process meanwhile
		return there()
	}
	return err
}

// writeTable writes the rows that write writes, in the format of path.
func writeTable(path string, to io.Writer, write func(table.Writer) error) error {
	buffered := bufio.NewWriterSize(to, 1<<20)
	w, err := table.NewWriter(path, buffered)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		w.Close()
		return err
	}
	return cmp.Or(w.Close(), buffered.Flush())
}
