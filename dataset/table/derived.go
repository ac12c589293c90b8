package table

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// Derived says which features of a row are computed from others. They follow the features that are read: those that knots add, then
// the products.
type Derived struct {
	// Knots holds, for each of the first features x, the values t at which its effect may bend. Each adds a feature |x - t|, such as
	// "|depth - 61.8|".
	Knots Knots `json:"knots,omitempty"`
	// Factors lists the features that are multiplied with each other, so that the effect of each may depend on the others. Each pair of
	// them adds a feature, such as "depth × age": the product of what [Factor] says.
	Factors []Factor `json:"factors,omitempty"`
}

// Factor is a feature x that is multiplied with others, in its own unit:
//
//	(min(max(x, Low), High) - Mean) / Spread
//
// So a product does not depend on units, and does not grow with values that are far outside of most others.
type Factor struct {
	Feature int `json:"feature"`
	// Low to High is the range that x is cut to. Mean and Spread are its mean and standard deviation then.
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Mean   float64 `json:"mean"`
	Spread float64 `json:"spread"`
}

func (f Factor) of(x float64) float64 { return (f.cut(x) - f.Mean) / f.Spread }

func (f Factor) cut(x float64) float64 {
	switch { // NaN stays NaN
	case x < f.Low:
		return f.Low
	case x > f.High:
		return f.High
	}
	return x
}

// Products returns the number of features that are products.
func (d *Derived) Products() int { return len(d.Factors) * (len(d.Factors) - 1) / 2 }

// Count returns the number of features that are computed from others.
func (d *Derived) Count() int { return d.Knots.Count() + d.Products() }

// Names returns the names of the features that are computed from others, whose names are features.
func (d *Derived) Names(features []string) []string {
	names := d.Knots.names(features)
	for i, f := range d.Factors {
		for _, g := range d.Factors[i+1:] {
			names = append(names, features[f.Feature]+" × "+features[g.Feature])
		}
	}
	return names
}

// Check returns an error unless the knots are finite and ascend, factors are different features with finite limits, and features are the
// names of the features that are read, of which the first are columns, followed by those of the features that are computed from columns.
func (d *Derived) Check(features []string, columns int) error {
	read := len(features) - d.Count()
	if read < columns || len(d.Knots) > columns {
		return fmt.Errorf("expected knots of the first %d of %d features, found %d lists of %d knots in all, and %d products", columns,
			len(features), len(d.Knots), d.Knots.Count(), d.Products())
	}
	if err := d.Knots.check(features); err != nil {
		return err
	}
	last := -1
	for _, f := range d.Factors {
		if f.Feature <= last || f.Feature >= columns {
			return fmt.Errorf("factors: expected different ones of the first %d features in their order, found %d", columns, f.Feature)
		}
		if width := f.High - f.Low; !(width > 0 && f.Low <= f.Mean && f.Mean <= f.High && 0 < f.Spread && f.Spread <= width) || width-width != 0 {
			return fmt.Errorf("factor %s: expected a finite range with a mean and a spread, found %g to %g with %g and %g",
				text.OneLine(features[f.Feature], 80), f.Low, f.High, f.Mean, f.Spread)
		}
		last = f.Feature
	}
	for i, name := range d.Names(features) {
		if found := features[read+i]; found != name {
			return fmt.Errorf("expected a feature for each knot and product, %s, found %s", text.OneLine(name, 80), text.OneLine(found, 80))
		}
	}
	return nil
}

// Expand overwrites dst with the features of v, followed in each row by those that are computed from them, in their order. What is
// computed from a missing feature is missing too. All are float32.
func (d *Derived) Expand(dst, v *Vectors) {
	rows := v.Len() / v.Width
	dst.Width = v.Width + d.Count()
	dst.grow(Float32, rows*dst.Width)
	factors := make([]float64, len(d.Factors))
	for i := range rows {
		from, to := i*v.Width, i*dst.Width
		for j := range v.Width {
			dst.Set(to+j, v.Element(from+j))
		}
		to += v.Width
		for j, of := range d.Knots {
			x := v.Element(from + j)
			for _, t := range of {
				dst.Set(to, math.Abs(x-t))
				to++
			}
		}
		for k, f := range d.Factors {
			factors[k] = f.of(v.Element(from + f.Feature))
		}
		for k, x := range factors {
			for _, y := range factors[k+1:] {
				dst.Set(to, x*y)
				to++
			}
		}
	}
}

// FactorOf returns a feature as a factor, with the range from the quantile 1/100 to the quantile 99/100 of its values, or from the least to
// the largest where these are the same. It is false where all values are the same. values are from some rows that have the feature;
// FactorOf sorts them.
func FactorOf(feature int, values []float64) (f Factor, varies bool) {
	n := len(values)
	if n == 0 {
		return f, false
	}
	slices.Sort(values)
	f = Factor{Feature: feature, Low: values[n/100], High: values[n-1-n/100]}
	if f.Low == f.High {
		f.Low, f.High = values[0], values[n-1]
	}
	if f.Low == f.High {
		return f, false
	}
	f.Mean, f.Spread = CutMoments(values, f.Low, f.High)
	return f, true
}

// CutMoments returns the mean and the standard deviation of values that are cut to the range from low to high.
func CutMoments(values []float64, low, high float64) (mean, deviation float64) {
	// In units of the range, so that the squares of no unit are too large or too small.
	width, sum, squares := high-low, 0.0, 0.0
	for _, x := range values {
		u := (min(max(x, low), high) - low) / width
		sum += u / float64(len(values))
		squares += u * u / float64(len(values))
	}
	return min(high, low+sum*width), width * math.Sqrt(squares-sum*sum)
}
