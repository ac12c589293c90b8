package dataset

// nearlyTelling is the squared correlation of a feature of two values with a class from which on it may be another's opinion of it: where
// both values are as frequent, these agree in 95 % of the rows.
const nearlyTelling = 0.81

// opinions are the features of two values so far, by their number, beside a class.
type opinions map[int]*opinion

// opinion counts the rows that have each of two values and are of the class or not.
type opinion struct {
	values []float32
	rows   [2][2]float64
}

func newOpinions(features int) opinions {
	all := opinions{}
	for j := range features {
		all[j] = new(opinion)
	}
	return all
}

// add takes a row. A feature with a third value is none.
func (o opinions) add(row []float32, label float32) {
	for j, of := range o {
		at := 0
		for at < len(of.values) && of.values[at] != row[j] {
			at++
		}
		if at == 2 {
			delete(o, j)
			continue
		}
		if at == len(of.values) {
			of.values = append(of.values, row[j])
		}
		class := 0
		if label == 1 {
			class = 1
		}
		of.rows[at][class]++
	}
}

// tells says whether a feature nearly is the class.
func (o opinions) tells(j int) bool {
	of := o[j]
	if of == nil {
		return false
	}
	r := of.rows
	upper, class := r[1][0]+r[1][1], r[0][1]+r[1][1]
	lower, others := r[0][0]+r[0][1], r[0][0]+r[1][0]
	apart := r[0][0]*r[1][1] - r[0][1]*r[1][0]
	return min(upper, lower, class, others) >= tellingRows && apart*apart >= nearlyTelling*upper*class*lower*others
}

// agrees is the part of the rows of which the value is that of most rows of the class, or of most others.
func (of *opinion) agrees() float64 {
	r := of.rows
	same, other := r[0][0]+r[1][1], r[0][1]+r[1][0]
	return max(same, other) / (same + other)
}
