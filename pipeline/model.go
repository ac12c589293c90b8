package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/backend"
)

// Model is a fitted linear model as model.safetensors holds it.
type Model struct {
	Target, Method string
	// Sources names the M sources.
	Sources []string
	// K, D are the width of the representation and of the input.
	K, D int
	// Representation is B' (K by D), Heads is W' (M by K), Head is w (K).
	Representation, Heads, Head []float32
}

// ReadModel reads the model of a run folder.
func ReadModel(dir string) (*Model, error) {
	path := filepath.Join(dir, "model.safetensors")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := decodeModel(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func decodeModel(raw []byte) (*Model, error) {
	tensors, meta, err := decodeSafetensors(raw)
	if err != nil {
		return nil, err
	}
	m := &Model{Target: meta["target"], Method: meta["method"]}
	if err := json.Unmarshal([]byte(meta["sources"]), &m.Sources); err != nil {
		return nil, fmt.Errorf("metadata sources: %w", err)
	}
	shape := map[string][]int{}
	for _, t := range tensors {
		shape[t.Name] = t.Shape
		switch t.Name {
		case "representation.weight":
			m.Representation = t.Data
		case "sources.weight":
			m.Heads = t.Data
		case "target.weight":
			m.Head = t.Data
		}
	}
	phi := shape["representation.weight"]
	if len(phi) != 2 {
		return nil, fmt.Errorf("representation.weight: expected a K by d matrix, found shape %v", phi)
	}
	m.K, m.D = phi[0], phi[1]
	if len(m.Heads) != len(m.Sources)*m.K || len(m.Head) != m.K {
		return nil, fmt.Errorf("expected %d by %d heads and a head of %d, found %d and %d elements", len(m.Sources), m.K, m.K, len(m.Heads), len(m.Head))
	}
	return m, nil
}

// Relevance estimates nu from the model's heads (eq. 3, or the variant that r
// selects) on a backend, in the order of m.Sources, with the rank it was found
// at.
func (m *Model) Relevance(b backend.Backend, r Relevance) (nu []float64, rank int, err error) {
	if err := r.validate(); err != nil {
		return nil, 0, err
	}
	tmp := backend.NewScope(b)
	defer tmp.Close()
	heads, head := backend.Upload(tmp, backend.Float32, m.Heads), backend.Upload(tmp, backend.Float32, m.Head)
	if err := tmp.Err(); err != nil {
		return nil, 0, err
	}
	return r.estimate(b, backend.Mat(heads, len(m.Sources), m.K), backend.Vec(head))
}

// Shares returns the fraction of a budget that each source gets for a
// relevance, costs being those of one sample.
func (a Allocation) Shares(nu, costs []float64) []float64 {
	shares := a.rates(nu, costs)
	for m, c := range costs {
		shares[m] *= c
	}
	return shares
}
