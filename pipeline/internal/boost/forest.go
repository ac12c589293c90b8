package boost

import (
	"math"
	"slices"
)

// MaxNodes is the largest number of nodes of a tree.
const MaxNodes = 29

// Node is a node of a tree. It is a leaf where Low is 0; else rows whose cell of Column is at most Cut go to the node
// Low, and others to High. Both come after it.
type Node struct {
	Column, Low, High int
	Cut, Value        float32
}

// Tree adds the value of a row's leaf to an output.
type Tree struct {
	Output int
	Nodes  []Node // the root comes first
}

// Forest is a sum of trees for each of several outputs.
type Forest struct {
	// Group holds the number of the column of labels that each output is of. Where outputs are classes, several of one
	// column exclude each other.
	Group   []int
	Classes bool
	Start   []float32 // of each output
	Trees   []Tree
	// Gain is by how much the splits on each column would lower the loss of each output, output after output, if leaves had
	// the whole of their step.
	Gain []float64
}

// Predict writes the prediction of each output for a row of cells to predicted: a number or, for classes, the log-odds of the
// class against all others.
func (f *Forest) Predict(row []float32, predicted []float64) {
	for c, v := range f.Start {
		predicted[c] = float64(v)
	}
	for i := range f.Trees {
		t, k := &f.Trees[i], 0
		for t.Nodes[k].Low > 0 {
			if n := &t.Nodes[k]; row[n.Column] <= n.Cut {
				k = n.Low
			} else {
				k = n.High
			}
		}
		predicted[t.Output] += float64(t.Nodes[k].Value)
	}
	if f.Classes {
		OneOfClasses(f.Group, predicted)
	}
}

// OneOfClasses replaces the multinomial logits of columns with several classes by log-odds. columns holds the column of each logit.
func OneOfClasses(columns []int, predicted []float64) {
	of := make([]float64, 0, len(predicted))
	for first, column := range columns {
		if slices.Index(columns, column) != first {
			continue
		}
		of = of[:0]
		for c, v := range predicted {
			if columns[c] == column {
				of = append(of, v)
			}
		}
		if len(of) < 2 {
			continue
		}
		ToLogOdds(of)
		for c := range predicted {
			if columns[c] == column {
				predicted[c], of = of[0], of[1:]
			}
		}
	}
}

// softmax replaces logits by the probabilities of the classes.
func softmax(of []float64) {
	most, sum := slices.Max(of), 0.0
	for k, v := range of {
		of[k] = math.Exp(v - most)
		sum += of[k]
	}
	for k := range of {
		of[k] /= sum
	}
}

// ToLogOdds replaces multinomial logits by the log-odds of each class against all others, at most 1e12 to 1.
func ToLogOdds(of []float64) {
	softmax(of)
	for k, v := range of {
		v = min(max(v, 1e-12), 1-1e-12)
		of[k] = math.Log(v) - math.Log1p(-v)
	}
}
