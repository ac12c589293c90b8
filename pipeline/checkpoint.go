package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// A checkpoint is one safetensors file: the parameters after the last finished
// epoch as tensors, and in the metadata the epochs so far, the identity of the
// work, and a checksum over all of it.

const checkpointVersion = "1"

// saveCheckpoint writes the state of the work that id identifies.
func saveCheckpoint(path, id string, st *state) error {
	epochs, err := json.Marshal(st.Epochs)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tensors := []tensor{{"theta", []int{len(st.Theta)}, st.Theta}, {"head", []int{len(st.Head)}, st.Head}}
	if len(st.Optimiser) > 0 {
		tensors = append(tensors, tensor{"optimiser", []int{len(st.Optimiser)}, st.Optimiser})
	}
	meta := map[string]string{"version": checkpointVersion, "id": id, "epochs": string(epochs)}
	meta["sha256"] = checkpointSum(meta, tensors)
	raw, err := encodeSafetensors(tensors, meta)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, raw)
}

// loadCheckpoint returns the saved state, or an empty one where there is none.
func loadCheckpoint(path, id string) (*state, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &state{}, nil
	}
	if err != nil {
		return nil, err
	}
	st, err := decodeCheckpoint(raw, id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", path, err)
	}
	return st, nil
}

func decodeCheckpoint(raw []byte, id string) (*state, error) {
	tensors, meta, err := decodeSafetensors(raw)
	if err != nil {
		return nil, err
	}
	if v := meta["version"]; v != checkpointVersion {
		return nil, fmt.Errorf("expected version %s, found %q", checkpointVersion, v)
	}
	names := []string{"theta", "head", "optimiser"}
	if len(tensors) != 2 && len(tensors) != 3 {
		return nil, fmt.Errorf("expected the tensors theta and head, and optimiser where there is one, found %d tensors", len(tensors))
	}
	for i, t := range tensors {
		if t.Name != names[i] {
			return nil, fmt.Errorf("expected the tensor %s in place %d, found %q", names[i], i, t.Name)
		}
	}
	if want := checkpointSum(meta, tensors); meta["sha256"] != want {
		return nil, fmt.Errorf("expected checksum %s, found %q: the file is damaged", want, meta["sha256"])
	}
	if meta["id"] != id {
		return nil, fmt.Errorf("it belongs to other work: expected id %s, found %q", id, meta["id"])
	}
	st := &state{Theta: tensors[0].Data, Head: tensors[1].Data}
	if len(tensors) == 3 {
		st.Optimiser = tensors[2].Data
	}
	if err := json.Unmarshal([]byte(meta["epochs"]), &st.Epochs); err != nil {
		return nil, fmt.Errorf("epochs: %w", err)
	}
	return st, nil
}

func checkpointSum(meta map[string]string, tensors []tensor) string {
	h := sha256.New()
	for _, key := range []string{"version", "id", "epochs"} {
		fmt.Fprintf(h, "%d:%s", len(meta[key]), meta[key])
	}
	for _, t := range tensors {
		raw, _ := encodeSafetensors([]tensor{t}, nil)
		h.Write(raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}
