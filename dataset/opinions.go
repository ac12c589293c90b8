package dataset

import "slices"

// nearlyTelling is the squared correlation of a feature of two values with a class from which on it may be another's opinion of it: where
// both values are as frequent, these agree in 95 % of the rows.
const nearlyTelling = 0.81

// opinions are the features of no more than two values so far, beside a class.
type opinions []opinion

// opinion counts the rows that have each of two values and are of the class or not.
type opinion struct {
	feature, known int
	values         [2]float32
	rows           [2][2]float64
}

func newOpinions(features int) opinions {
	all := make(opinions, features)
	for j := range all {
		all[j].feature = j
	}
	return all
}

// add takes a row. A feature with a third value is none.
func (o *opinions) add(row []float32, label float32) {
	class, third := 0, false
	if label == 1 {
		class = 1
	}
	for i := range *o {
		of := &(*o)[i]
		at, v := 0, row[of.feature]
		for at < of.known && of.values[at] != v {
			at++
		}
		if at == len(of.values) {
			of.known, third = at+1, true
			continue
		}
		of.values[at], of.known = v, max(of.known, at+1)
		of.rows[at][class]++
	}
	if third {
		*o = slices.DeleteFunc(*o, func(of opinion) bool { return of.known > len(of.values) })
	}
}

// of is the opinion that a feature is where it nearly is the class, else nil.
func (o opinions) of(feature int) *opinion {
	i := slices.IndexFunc(o, func(of opinion) bool { return of.feature == feature })
	if i < 0 {
		return nil
	}
	r := o[i].rows
	upper, class := r[1][0]+r[1][1], r[0][1]+r[1][1]
	lower, others := r[0][0]+r[0][1], r[0][0]+r[1][0]
	apart := r[0][0]*r[1][1] - r[0][1]*r[1][0]
	if min(upper, lower, class, others) < tellingRows || apart*apart < nearlyTelling*upper*class*lower*others {
		return nil
	}
	return &o[i]
}

// agrees is the part of the rows of which the value is that of most rows of the class, or of most others.
func (of *opinion) agrees() float64 {
	r := of.rows
	same, other := r[0][0]+r[1][1], r[0][1]+r[1][0]
	return max(same, other) / (same + other)
}
