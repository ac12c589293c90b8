package runs

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

// Coefficients are the standardised ones of a linear model of a table: by how much an output rises where a feature does by its
// standard deviation over the rows of the data, and all others stay as they are. Of a word it is from no row having it to one having it.
type Coefficients struct {
	// Features name the columns, and the words of columns as "shift=night".
	Features []string
	Outputs  []OutputCoefficients
}

// OutputCoefficients are those of an output.
type OutputCoefficients struct {
	// Column is that of the labels, and Class the class that the output is of, empty where labels are numbers.
	Column, Class string
	// LogOdds says that the output is the log-odds of the class against all others, else it is in units of the labels.
	LogOdds bool
	// Of has one for each feature.
	Of []float64
}

// readCoefficients is nil where the features of a model are not the columns of a table, brought to units of their own, and for networks.
func readCoefficients(path string) (*Coefficients, error) {
	raw, err := atomicfile.ReadFile(path, maxTensors)
	if err != nil {
		return nil, err
	}
	c, err := coefficients(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func coefficients(raw []byte) (*Coefficients, error) {
	tensors, meta, err := decodeTensors(raw)
	if err != nil || len(meta.spread) == 0 {
		return nil, err
	}
	named := map[string]safetensors.Tensor{}
	for _, t := range tensors {
		named[t.Name] = t
	}
	phi, linear := named["representation.weight"]
	if !linear {
		return nil, nil
	}
	head, d := named["target.weight"], len(meta.spread)
	if len(phi.Shape) != 2 || len(head.Shape) != 2 || phi.Shape[1] != d || head.Shape[1] != phi.Shape[0] || len(meta.features) != d {
		return nil, fmt.Errorf("expected weights of %d features, found shapes %v and %v of %d names", d, phi.Shape, head.Shape,
			len(meta.features))
	}
	out := &Coefficients{Features: meta.features}
	unit := meta.units()
	delta, scale, labels := named["target.delta"].Data, named["representation.scale"].Data, named["labels.scale"].Data
	_, odds := named[pipeline.RidgeHead]
	names := outputNames(meta.labels)
	if k, n := head.Shape[1], head.Shape[0]; len(names) != n || delta != nil && len(delta) != n*d || len(scale) > 1 && len(scale) != d ||
		labels != nil && len(labels) != n || len(head.Data) != n*k || len(phi.Data) != k*d {
		return nil, fmt.Errorf("expected the tensors of %d outputs of %d features, found others", len(names), d)
	}
	for c := range names {
		of := OutputCoefficients{Column: names[c].Column, Class: names[c].Class, LogOdds: odds, Of: make([]float64, d)}
		for j := range of.Of {
			if delta != nil {
				of.Of[j] = float64(delta[c*d+j])
			}
			for k := range phi.Shape[0] {
				of.Of[j] += float64(head.Data[c*phi.Shape[0]+k]) * float64(phi.Data[k*d+j])
			}
			of.Of[j] *= unit[j]
			if len(scale) > 0 {
				of.Of[j] /= float64(scale[j%len(scale)])
			}
			if labels != nil {
				of.Of[j] *= float64(labels[c])
			}
		}
		out.Outputs = append(out.Outputs, of)
	}
	return out, nil
}

// units are by how much features rise: by their spread, and those of words by 1.
func (m *metadata) units() []float64 {
	unit := slices.Clone(m.spread)
	words := 0
	for _, w := range m.words {
		words += len(w.Words)
	}
	for j := max(0, len(unit)-words); j < len(unit); j++ {
		unit[j] = 1
	}
	return unit
}

// outputNames are the columns and classes of the heads of a model.
func outputNames(columns []OutputColumn) (names []OutputCoefficients) {
	for _, c := range columns {
		switch {
		case len(c.Classes) == 0:
			names = append(names, OutputCoefficients{Column: c.Column})
		case c.Heads == 1:
			names = append(names, OutputCoefficients{Column: c.Column, Class: c.Classes[1]})
		default:
			for _, class := range c.Classes {
				names = append(names, OutputCoefficients{Column: c.Column, Class: class})
			}
		}
	}
	return names
}
