package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// NoClass is the class of a sample that is of none of the outputs' classes, NoLabel that of a sample without a label.
const (
	NoClass = -1
	NoLabel = -2
)

// Logits gives the probabilities of classes that exclude each other by their logits z: class c has
//
//	exp(z_c) / (sum_k exp(z_k) + rest).
//
// Rest is 1 where there are other classes, whose logit is 0, and else 0.
type Logits struct{ Rest float64 }

// probabilities overwrites logits with the probabilities and returns the log of the denominator.
func (l Logits) probabilities(z []float64) float64 {
	most, sum := floats.Max(z), 0.0
	if l.Rest > 0 {
		most = math.Max(most, 0)
		sum = l.Rest * math.Exp(-most)
	}
	for c, v := range z {
		z[c] = math.Exp(v - most)
		sum += z[c]
	}
	floats.Scale(1/sum, z)
	return most + math.Log(sum)
}

// Loss returns -log of the probability of a class, which may be NoClass where there are other classes. The loss of NoLabel is 0. It
// overwrites the logits with the derivative.
func (l Logits) Loss(z []float64, class int) (loss float64) {
	switch {
	case class == NoLabel:
		clear(z)
	case len(z) == 1:
		loss, z[0] = logistic01(z[0], float64(1+class)) // class is 0 or NoClass
	case class == NoClass:
		loss = l.probabilities(z)
	default:
		loss = -z[class]
		loss += l.probabilities(z)
		z[class]--
	}
	return loss
}

// Odds returns the log-odds of each class against all others.
func (l Logits) Odds(z []float64) []float64 {
	out, others := make([]float64, len(z)), make([]float64, 0, len(z))
	for c, v := range z {
		others = append(append(others[:0], z[:c]...), z[c+1:]...)
		if l.Rest > 0 {
			others = append(others, 0)
		}
		out[c] = v - floats.LogSumExp(others)
	}
	return out
}

// ClassesOf returns the class of each row, given its 0/1 labels of the c outputs of a column, row after row: NoClass for a row
// without a 1, or NoLabel if it has NaN then.
func ClassesOf(labels []float64, c int) []int {
	out := make([]int, 0, len(labels)/c)
	for row := range slices.Chunk(labels, c) {
		class := slices.Index(row, 1) // or NoClass
		if class == NoClass && floats.HasNaN(row) {
			class = NoLabel
		}
		out = append(out, class)
	}
	return out
}
