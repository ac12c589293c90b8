package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
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
	resultsDir     = "results"
	checkpointDir  = "checkpoint"
	checkpointFile = "epoch.safetensors"
	modelsDir      = "models"
)

// The largest files that are read, in bytes.
const (
	maxConfig  = 64 << 20
	maxResult  = 256 << 20
	maxTensors = 4 << 30
)

// Hashes has the SHA-256 of files, in hexadecimal, by name.
type Hashes map[string]string

// hashOf is the hash of the content of a file.
func hashOf(content []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

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

// encodeCSV writes a table.
func encodeCSV(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	err := csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes(), err
}
