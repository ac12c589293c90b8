package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

// Coefficients are the standardised ones of a linear model of a table: by how much an output rises where a feature does by its
// standard deviation over the rows of the data, and all others stay as they are. Of a word it is from no row having it to one having it.
// Where effects bend it is that of each part of the range between two knots.
type Coefficients struct {
	// Features name the columns, with the part as in "depth 61 to 61.8", and the words of columns as "shift=night".
	Features []string
	// Column is, for each feature, which column or word it is a part of, from 0.
	Column  []int
	Outputs []OutputCoefficients
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
	knots := meta.knots
	if err := knots.Check(meta.features); err != nil {
		return nil, err
	}
	read := d - knots.Count()
	out := &Coefficients{}
	unit := meta.units(read)
	delta, scale, labels := named["target.delta"].Data, named["representation.scale"].Data, named["labels.scale"].Data
	_, odds := named[pipeline.RidgeHead]
	names := outputNames(meta.labels)
	if k, n := head.Shape[1], head.Shape[0]; len(names) != n || delta != nil && len(delta) != n*d || len(scale) > 1 && len(scale) != d ||
		labels != nil && len(labels) != n || len(head.Data) != n*k || len(phi.Data) != k*d {
		return nil, fmt.Errorf("expected the tensors of %d outputs of %d features, found others", len(names), d)
	}
	for c := range names {
		of := OutputCoefficients{Column: names[c].Column, Class: names[c].Class, LogOdds: odds}
		slope := make([]float64, d) // by a feature's own unit
		for j := range slope {
			if delta != nil {
				slope[j] = float64(delta[c*d+j])
			}
			for k := range phi.Shape[0] {
				slope[j] += float64(head.Data[c*phi.Shape[0]+k]) * float64(phi.Data[k*d+j])
			}
			if len(scale) > 0 {
				slope[j] /= float64(scale[j%len(scale)])
			}
			if labels != nil {
				slope[j] *= float64(labels[c])
			}
		}
		bends := slope[read:]
		for j := range read {
			var at []float64
			if j < len(knots) {
				at, bends = bends[:len(knots[j])], bends[len(knots[j]):]
			}
			part := slope[j] - floats.Sum(at) // below all knots
			of.Of = append(of.Of, part*unit[j])
			for _, bend := range at {
				part += 2 * bend
				of.Of = append(of.Of, part*unit[j])
			}
		}
		out.Outputs = append(out.Outputs, of)
	}
	for j, name := range meta.features[:read] {
		of := []string{name}
		if j < len(knots) && len(knots[j]) > 0 {
			of = parts(name, knots[j], meta.spread[j])
		}
		out.Features, out.Column = append(out.Features, of...), append(out.Column, slices.Repeat([]int{j}, len(of))...)
	}
	return out, nil
}

// parts name those of the range of a column between its knots, in as many digits as tell these, or their distance from 0, apart.
func parts(column string, knots []float64, spread float64) []string {
	gap := spread
	for i, t := range knots[1:] {
		gap = min(gap, t-knots[i])
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(gap))))
	text := func(t float64) string {
		if decimals > 9 || math.Abs(t) >= 1e15 {
			return strconv.FormatFloat(t, 'g', -1, 64)
		}
		unit := math.Pow10(decimals)
		return strconv.FormatFloat(math.Round(t*unit)/unit+0, 'f', decimals, 64) // -0 is 0
	}
	names := []string{column + " up to " + text(knots[0])}
	for i, t := range knots[1:] {
		names = append(names, column+" "+text(knots[i])+" to "+text(t))
	}
	return append(names, column+" over "+text(knots[len(knots)-1]))
}

// units are by how much the features that are read rise: by their spread, and those of words by 1.
func (m *metadata) units(read int) []float64 {
	unit := slices.Clone(m.spread[:read])
	for j := max(0, read-table.CountWords(m.words)); j < read; j++ {
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
