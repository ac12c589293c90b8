package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

// A checkpoint is one safetensors file. Its tensors are the parameters after the last finished epoch; its metadata are
// the epochs so far, the identity of the work, the hashes of the files beside it that hold what finished methods left,
// and a checksum over all of it.

const checkpointVersion = "1"

const (
	// checkpointEvery is the time between checkpoints. Each holds all records so far, so saving after every short round
	// would slow the rounds.
	checkpointEvery = 10 * time.Second
	// checkpointFirst is the number of initial rounds that each end with a checkpoint. Later on the next checkpoint is
	// due once 1/checkpointFirst of all rounds so far are new, so that n rounds write about checkpointFirst n records
	// in all, not n^2.
	checkpointFirst = 128
)

// runSpacing spaces the checkpoints of a run, and of a unit computed by [RunUnit]. Tests shorten it.
var runSpacing = spacing{first: checkpointFirst, every: checkpointEvery}

// spacing says after which rounds a checkpoint is due.
type spacing struct {
	first int // the number of initial rounds that each end with a checkpoint
	every time.Duration
	saved int // the number of records in the last checkpoint
	at    time.Time
}

// due reports whether a checkpoint is due once the given number of rounds out of `of` is done, and if so records it. If
// first is above 0, one is due after the last round too.
func (s *spacing) due(rounds, of int) bool {
	ends := s.first > 0 && rounds == of
	if !ends && rounds > s.first && (s.first == 0 || s.first*(rounds-s.saved) < rounds) && time.Since(s.at) < s.every {
		return false
	}
	s.saved, s.at = rounds, time.Now()
	return true
}

// checkpoint is the file at path, which holds a state of the work that id identifies. Where kept is not nil, saving
// takes the hashes of the files that finished methods left from it, and loading puts them there.
type checkpoint struct {
	path, id string
	kept     Hashes
}

// save writes st to the file, replacing what is there, and creates its folder.
func (c checkpoint) save(st pipeline.State) error {
	raw, err := c.encode(st)
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(c.path)); err != nil {
		return err
	}
	return atomicfile.Write(c.path, raw)
}

func (c checkpoint) encode(st pipeline.State) ([]byte, error) {
	epochs, err := json.Marshal(st.Epochs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	vector := func(name string, v []float32) safetensors.Tensor {
		return safetensors.Tensor{Name: name, Shape: []int{len(v)}, Data: v}
	}
	tensors := []safetensors.Tensor{vector("theta", st.Theta), vector("head", st.Head)}
	for _, t := range st.Beside {
		tensors = append(tensors, safetensors.Tensor(t))
	}
	meta := map[string]string{"version": checkpointVersion, "id": c.id, "epochs": string(epochs)}
	if len(c.kept) > 0 {
		kept, err := json.Marshal(c.kept)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.path, err)
		}
		meta["files"] = string(kept)
	}
	meta["sha256"] = checkpointSum(meta, tensors)
	raw, err := safetensors.Encode(tensors, meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return raw, nil
}

// load returns the saved state, or the zero State where there is no file.
func (c checkpoint) load() (st pipeline.State, err error) {
	raw, err := atomicfile.ReadFile(c.path, maxTensors)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	return c.decode(raw)
}

func (c checkpoint) decode(raw []byte) (pipeline.State, error) {
	st, kept, err := decodeCheckpoint(raw, c.id)
	if d, damaged := errors.AsType[*DamagedCheckpoint](err); damaged {
		d.Path = c.path
	} else if err != nil {
		err = fmt.Errorf("checkpoint %s: %w", c.path, err)
	}
	if err == nil && c.kept != nil {
		maps.Copy(c.kept, kept)
	}
	return st, err
}

// keptHashes returns the hashes of the models and evaluations that the methods of a run left in its folder checkpoint.
// It returns nil where there is no checkpoint that tells them.
func keptHashes(dir string) Hashes {
	raw, err := atomicfile.ReadFile(filepath.Join(dir, checkpointDir, checkpointFile), maxTensors)
	if err != nil {
		return nil
	}
	tensors, meta, err := safetensors.Decode(raw)
	if err != nil || meta["sha256"] != checkpointSum(meta, tensors) {
		return nil
	}
	var kept Hashes
	if json.Unmarshal([]byte(meta["files"]), &kept) != nil {
		return nil
	}
	return kept
}

// DamagedCheckpoint is the error of a checkpoint, or of what a finished method left beside it, that does not hold what was
// written. Without the file the work begins anew ([Anew]).
type DamagedCheckpoint struct {
	Path string
	Err  error
}

func (d *DamagedCheckpoint) Error() string {
	return fmt.Sprintf("checkpoint %s is damaged: %v; remove it to begin this work anew", d.Path, d.Err)
}

func (d *DamagedCheckpoint) Unwrap() error { return d.Err }

// Anew calls compute, which computes something from its checkpoints, until none of them is damaged. It tells of each damaged
// one and then removes it.
func Anew(compute func() error, tell func(*DamagedCheckpoint)) error {
	for {
		err := compute()
		d, damaged := errors.AsType[*DamagedCheckpoint](err)
		if !damaged {
			return err
		}
		tell(d)
		if err := atomicfile.Remove(d.Path); err != nil {
			return err
		}
	}
}

func decodeCheckpoint(raw []byte, id string) (st pipeline.State, kept Hashes, err error) {
	tensors, meta, err := safetensors.Decode(raw)
	if err != nil {
		return st, nil, &DamagedCheckpoint{Err: err}
	}
	want, v := checkpointSum(meta, tensors), meta["version"]
	switch {
	case v != checkpointVersion && meta["sha256"] != want:
		return st, nil, &DamagedCheckpoint{Err: fmt.Errorf("expected version %s, found %q", checkpointVersion, v)}
	case v != checkpointVersion:
		return st, nil, fmt.Errorf("expected version %s, found %q", checkpointVersion, v)
	case meta["sha256"] != want:
		return st, nil, &DamagedCheckpoint{Err: fmt.Errorf("expected checksum %s, found %q", want, meta["sha256"])}
	}
	if i := slices.IndexFunc(tensors, func(t safetensors.Tensor) bool { return pipeline.HoldsBeside(t.Name) }); i >= 0 {
		for _, t := range tensors[i:] {
			st.Beside = append(st.Beside, pipeline.Tensor(t))
		}
		tensors = tensors[:i]
	}
	if len(tensors) != 2 {
		return st, nil, fmt.Errorf("expected the tensors theta and head, found %d tensors", len(tensors))
	}
	var data [2][]float32
	for i, t := range tensors {
		if name := []string{"theta", "head"}[i]; t.Name != name {
			return st, nil, fmt.Errorf("expected the tensor %s in place %d, found %q", name, i, t.Name)
		}
		data[i] = t.Data
	}
	if meta["id"] != id {
		return st, nil, fmt.Errorf("it belongs to other work: expected id %s, found %q", id, meta["id"])
	}
	var epochs []pipeline.Epoch
	if err := json.Unmarshal([]byte(meta["epochs"]), &epochs); err != nil {
		return st, nil, fmt.Errorf("epochs: %w", err)
	}
	if files := meta["files"]; files != "" {
		if err := json.Unmarshal([]byte(files), &kept); err != nil {
			return st, nil, fmt.Errorf("files: %w", err)
		}
	}
	st.Epochs, st.Theta, st.Head = epochs, data[0], data[1]
	return st, kept, nil
}

func checkpointSum(meta map[string]string, tensors []safetensors.Tensor) string {
	h := sha256.New()
	for _, key := range []string{"version", "id", "epochs", "files"} {
		if key == "files" && meta[key] == "" {
			continue
		}
		fmt.Fprintf(h, "%d:%s", len(meta[key]), meta[key])
	}
	for _, t := range tensors {
		raw, _ := safetensors.Encode([]safetensors.Tensor{t}, nil)
		h.Write(raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}
