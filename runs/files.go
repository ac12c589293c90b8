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

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
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

// StudyFile has the settings of a study, which package study reads and writes.
const StudyFile = "study.json"

// The largest files that are read, in bytes.
const (
	maxConfig  = 64 << 20
	maxResult  = 256 << 20
	maxTensors = 4 << 30
)

// Hashes has the SHA-256 of files, in hexadecimal, by name.
type Hashes map[string]string

// HashOf is the hash of the content of a file, as [Hashes] has it.
func HashOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// hashFile is the hash of a regular file, empty where there is none.
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

// hashFiles hashes files of a folder; one that is not there has an empty hash.
func hashFiles(dir string, names ...string) (hashes Hashes, err error) {
	hashes = Hashes{}
	for _, name := range names {
		if hashes[name], err = hashFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// File is a file of a folder.
type File struct {
	Name    string
	Content []byte
}

// WriteFiles writes files to the folder dir, which it makes, in their order, and returns their hashes.
func WriteFiles(dir string, files []File) (Hashes, error) {
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

// writeAnew writes a file unless it has the content already, so that what is finished can be read where nothing can be written.
func writeAnew(path string, content []byte) error {
	switch there, err := atomicfile.ReadFile(path, maxResult); {
	case err == nil && bytes.Equal(there, content):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.Write(path, content)
}

// EncodeCSV is a table as all CSV files of amtrl are written.
func EncodeCSV(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	err := csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes(), err
}

// timingLine is a line of timing.jsonl, the one file that differs between two
// runs of the same work: what an epoch of a run, or a unit of a sweep, took.
type timingLine struct {
	Unit    string  `json:"unit,omitempty"`
	Method  string  `json:"method,omitempty"`
	Epoch   int     `json:"epoch,omitempty"`
	Seconds float64 `json:"seconds"`
}

func (l timingLine) append(dir string) error {
	return jsonfile.Append(filepath.Join(dir, timingFile), l)
}

// WriteTable makes the table at path, whose ending tells the format, of what write writes. There must be no such file; it
// appears whole or not at all.
func WriteTable(path string, write func(table.Writer) error) error {
	there := func() error { return fmt.Errorf("%s: expected no such file, found one; nothing was written", path) }
	if _, err := os.Lstat(path); err == nil {
		return there()
	}
	err := atomicfile.CreateBy(path, func(to io.Writer) error {
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
	})
	if errors.Is(err, fs.ErrExist) { // of another process meanwhile
		return there()
	}
	return err
}
