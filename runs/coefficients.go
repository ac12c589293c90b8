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

// Coefficients holds the standardised coefficients of a linear model of a table: by how much an output rises when a
// feature rises by its standard deviation over the rows of the data and all other features stay as they are. For a word
// the change is from a row without it to a row with it. Where an effect bends, each part of the column's range between
// two knots has a coefficient of its own. Where effects depend on each other, that of a column is for rows that have the
// means of all others, and the coefficient of a product of two columns says by how much more the output rises with one of
// them where the other is higher by its standard deviation, both within the ranges of [table.Factor].
type Coefficients struct {
	// Features are the names of the columns, with the part of the range as in "depth 61 to 61.8", and of the words of
	// columns as in "shift=night". Products, as in "depth × age", are the last.
	Features []string
	Products int
	// Gains reports that these are of trees, and that Of holds the part of each column or word, from 0 to 1, in what the
	// splits of an output's trees gain.
	Gains bool
	// Column is, for each feature, the index of the column, word or product that it is a part of.
	Column  []int
	Outputs []OutputCoefficients
}

// OutputCoefficients holds the coefficients of one output.
type OutputCoefficients struct {
	// Column is the name of the column of labels. Class is the class that the output predicts, empty where labels are
	// numbers.
	Column, Class string
	// LogOdds reports whether the output is the log-odds of the class against all others; else it is in the units of
	// the labels.
	LogOdds bool
	// Of holds one coefficient for each feature.
	Of []float64
	// Part is the part, from 0 to 1, of the linear model or of the trees in the predictions of the output.
	Part float64
}

// readCoefficients returns the coefficients of the linear model at path and those of the trees that are averaged with it or
// take its place. It returns none for a network, and where the features are not columns of a table that were each scaled to
// a unit of their own.
func readCoefficients(path string) ([]*Coefficients, error) {
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

func coefficients(raw []byte) (all []*Coefficients, err error) {
	tensors, meta, err := decodeTensors(raw)
	if err != nil || len(meta.spread) == 0 {
		return nil, err
	}
	named := map[string]safetensors.Tensor{}
	for _, t := range tensors {
		named[t.Name] = t
	}
	if _, linear := named["representation.weight"]; !linear {
		return nil, nil
	}
	parts := named[pipeline.TreePart].Data
	if len(parts) == 0 || slices.Min(parts) < 1 {
		of, err := linear(named, &meta)
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	if len(parts) > 0 {
		of, err := gains(named[pipeline.TreeGain], &meta)
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	for _, of := range all {
		for c := range of.Outputs {
			part := 0.0
			if c < len(parts) {
				part = float64(parts[c])
			}
			if of.Outputs[c].Part = part; !of.Gains {
				of.Outputs[c].Part = 1 - part
			}
		}
	}
	return all, nil
}

// linear returns the coefficients of the linear model.
func linear(named map[string]safetensors.Tensor, meta *metadata) (*Coefficients, error) {
	phi, head, d := named["representation.weight"], named["target.weight"], len(meta.spread)
	if len(phi.Shape) != 2 || len(head.Shape) != 2 || phi.Shape[1] != d || head.Shape[1] != phi.Shape[0] || len(meta.features) != d {
		return nil, fmt.Errorf("expected weights of %d features, found shapes %v and %v of %d names", d, phi.Shape, head.Shape,
			len(meta.features))
	}
	if err := meta.Derived.Check(meta.features, len(meta.features)-meta.Derived.Count()-table.CountWords(meta.words)); err != nil {
		return nil, err
	}
	knots := meta.Knots
	read, products := d-meta.Derived.Count(), d-meta.Products()
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
		slope := make([]float64, d) // change of the output per unit of the feature as it is in the table
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
		bends := slope[read:products]
		for j := range read {
			var at []float64
			if j < len(knots) {
				at, bends = bends[:len(knots[j])], bends[len(knots[j]):]
			}
			part := slope[j] - floats.Sum(at) // the slope below all knots
			of.Of = append(of.Of, part*unit[j])
			for _, bend := range at {
				part += 2 * bend
				of.Of = append(of.Of, part*unit[j])
			}
		}
		of.Of = append(of.Of, slope[products:]...) // products are in units of their factors
		out.Outputs = append(out.Outputs, of)
	}
	for j, name := range meta.features[:read] {
		of := []string{name}
		if j < len(knots) && len(knots[j]) > 0 {
			of = parts(name, knots[j], meta.spread[j])
		}
		out.Features, out.Column = append(out.Features, of...), append(out.Column, slices.Repeat([]int{j}, len(of))...)
	}
	out.Products = meta.Products()
	for j, name := range meta.features[products:] {
		out.Features, out.Column = append(out.Features, name), append(out.Column, read+j)
	}
	return out, nil
}

// gains returns the parts of columns and words in the gain of trees.
func gains(gain safetensors.Tensor, meta *metadata) (*Coefficients, error) {
	out, read, names := &Coefficients{Gains: true}, len(meta.features)-meta.Derived.Count(), outputNames(meta.labels)
	if read < 1 || len(gain.Data) != len(names)*read {
		return nil, fmt.Errorf("%s: expected %d by %d numbers, found shape %v", pipeline.TreeGain, len(names), read, gain.Shape)
	}
	for c, name := range names {
		of := OutputCoefficients{Column: name.Column, Class: name.Class, Of: make([]float64, read)}
		for j, v := range gain.Data[c*read:][:read] {
			of.Of[j] = float64(v)
		}
		if sum := floats.Sum(of.Of); sum > 0 {
			floats.Scale(1/sum, of.Of)
		}
		out.Outputs = append(out.Outputs, of)
	}
	out.Features = meta.features[:read]
	for j := range read {
		out.Column = append(out.Column, j)
	}
	return out, nil
}

// parts returns names for the parts of a column's range below, between and above its knots. The knots are written with enough decimals for
// the smallest gap between them, or for the spread of the column where that is less; whole numbers have none.
func parts(column string, knots []float64, spread float64) []string {
	gap := spread
	for i, t := range knots[1:] {
		gap = min(gap, t-knots[i])
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(gap))))
	if !slices.ContainsFunc(knots, func(t float64) bool { return t != math.Trunc(t) }) {
		decimals = 0
	}
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

// units returns the rise of each feature that a standardised coefficient is for: the standard deviation for a column,
// and 1 for a word. read is the number of features without those that are computed from them.
func (m *metadata) units(read int) []float64 {
	unit := slices.Clone(m.spread[:read])
	for j := max(0, read-table.CountWords(m.words)); j < read; j++ {
		unit[j] = 1
	}
	return unit
}

// outputNames returns the column and class of each head of a model, in the order of the heads.
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
