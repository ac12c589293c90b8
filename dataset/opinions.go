package dataset

import "slices"

// nearlyTelling is the squared correlation of a two-valued feature with a class from which on the feature may be another opinion about the
// class: where both values are equally frequent, the two agree in 95 % of the rows.
const nearlyTelling = 0.81

// opinions holds the features that have had at most two values so far, each compared with one class.
type opinions []opinion

// opinion counts in rows[v][c] the rows in which the feature has values[v] and that are of the class (c = 1) or not (c = 0). known is the
// number of values seen.
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

// add counts a row. It drops a feature when it has a third value.
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

// of returns the opinion of a feature where it nearly is the class, and otherwise nil. There must be tellingRows rows of either value, of
// the class and of the others.
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

// agrees returns the share of the rows in which the feature agrees with the class, when one value stands for the class and the other for
// the rest, whichever way agrees more often.
func (of *opinion) agrees() float64 {
	r := of.rows
	same, other := r[0][0]+r[1][1], r[0][1]+r[1][0]
	return max(same, other) / (same + other)
}
