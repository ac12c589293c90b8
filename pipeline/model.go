package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/backend"
)

// Model is a fitted model as model.safetensors holds it.
type Model struct {
	Target, Method string
	// Sources names the M sources.
	Sources []string
	// K is the width of the representation.
	K int
	// Heads is W' (M by K), Head is w (K).
	Heads, Head []float32
	// Representation is B' (K by D) for the linear class, else nil.
	D              int
	Representation []float32
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
	phi, linear := shape["representation.weight"]
	heads := shape["sources.weight"]
	anyPhi := slices.ContainsFunc(tensors, func(t tensor) bool { return strings.HasPrefix(t.Name, "representation.") })
	switch {
	case !anyPhi:
		return nil, fmt.Errorf("expected tensors of the representation, found none")
	case linear && len(phi) != 2:
		return nil, fmt.Errorf("representation.weight: expected a K by d matrix, found shape %v", phi)
	case len(heads) != 2:
		return nil, fmt.Errorf("sources.weight: expected an M by K matrix, found shape %v", heads)
	case linear && phi[0] != heads[1]:
		return nil, fmt.Errorf("representation.weight has %d rows, expected %d as sources.weight has columns", phi[0], heads[1])
	case linear:
		m.D = phi[1]
	}
	m.K = heads[1]
	if len(m.Heads) != len(m.Sources)*m.K || len(m.Head) != m.K {
		return nil, fmt.Errorf("expected %d by %d heads and a head of %d, found %d and %d elements", len(m.Sources), m.K, m.K, len(m.Heads), len(m.Head))
	}
	return m, nil
}

// Relevance estimates nu from the model's heads (eq. 3, or the variant that r
// selects) on a backend, in the order of m.Sources, with the rank it was found
// at.
func (m *Model) Relevance(b backend.Queue, r Relevance) (nu []float64, rank int, err error) {
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
