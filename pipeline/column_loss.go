package pipeline

import "slices"

// columnLoss is how unlikely predictions make the labels that samples have of the outputs of a column.
type columnLoss struct {
	numbers bool
	y       []float64 // n by C, NaN where there is none
	outputs int       // C
	rows    []int     // the samples that have a label
	class   []int     // of each sample, where each sample that has a label has one of several classes
}

func (p *Problem) columnLoss(in Labelled, group []int) columnLoss {
	out := columnLoss{numbers: !p.Classifies(), y: in.of(group, len(p.Target.Tasks)), outputs: len(group)}
	for i := range in.Rows {
		if slices.ContainsFunc(out.y[i*out.outputs:(i+1)*out.outputs], func(v float64) bool { return v == v }) {
			out.rows = append(out.rows, i)
		}
	}
	if out.numbers || out.outputs < 2 {
		return out
	}
	class := classesOf(out.y, out.outputs)
	if !slices.ContainsFunc(out.rows, func(i int) bool { return class[i] < 0 }) {
		out.class = class
	}
	return out
}

// of is the loss of a sample whose output j is predicted to be f(j): of numbers the sum of the squares, of one of several classes
// [logOfClass], and else the sum of [logOfLabel]. A label is wrong at a rate.
func (l columnLoss) of(sample int, rate float64, f func(j int) float64) float64 {
	if l.class != nil {
		heads := make([]float64, l.outputs)
		for j := range heads {
			heads[j] = f(j)
		}
		return noisy(logOfClass(heads, l.class[sample]), rate, float64(l.outputs))
	}
	sum := 0.0
	for j, y := range l.y[sample*l.outputs : (sample+1)*l.outputs] {
		switch {
		case y != y:
		case l.numbers:
			sum += (y - f(j)) * (y - f(j))
		default:
			sum += noisy(logOfLabel(f(j), y), rate, 2)
		}
	}
	return sum
}
