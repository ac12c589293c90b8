package table

import (
	"fmt"
	"math"

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

// Factor is a feature that is multiplied with others: x between Low and High, less their middle. So a product does not grow with
// values that are far outside of most others.
type Factor struct {
	Feature int     `json:"feature"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

func (f Factor) of(x float64) float64 {
	switch { // NaN stays NaN
	case x < f.Low:
		x = f.Low
	case x > f.High:
		x = f.High
	}
	return x - (f.Low+f.High)/2
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
// names of the features that are read, followed by those of the features that are computed from them.
func (d *Derived) Check(features []string) error {
	read := len(features) - d.Count()
	if read < len(d.Knots) || read < len(d.Factors) {
		return fmt.Errorf("expected knots and factors of the first of %d features, found %d lists of %d knots in all, and %d factors",
			len(features), len(d.Knots), d.Knots.Count(), len(d.Factors))
	}
	if err := d.Knots.check(features); err != nil {
		return err
	}
	last := -1
	for _, f := range d.Factors {
		if f.Feature <= last || f.Feature >= read {
			return fmt.Errorf("factors: expected different ones of the first %d features in their order, found %d", read, f.Feature)
		}
		if width := f.High - f.Low; !(width > 0) || math.IsInf(width, 0) {
			return fmt.Errorf("factor %s: expected two finite limits that ascend, found %g and %g", text.OneLine(features[f.Feature], 80), f.Low,
				f.High)
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

// FactorOf returns the limits of a feature that is multiplied with others: the quantiles 1/100 and 99/100 of its values, as [KnotsOf]
// takes them, or the least and the largest where these are not two. It is false where all values are the same. values are from some rows
// that have the feature; FactorOf sorts them.
func FactorOf(feature int, values []float64) (Factor, bool) {
	inner := KnotsOf(values, 99)
	if n := len(inner); n > 1 {
		return Factor{feature, inner[0], inner[n-1]}, true
	}
	if n := len(values); n > 0 && values[0] < values[n-1] {
		return Factor{feature, values[0], values[n-1]}, true
	}
	return Factor{}, false
}
