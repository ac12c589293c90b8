package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
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

// Shifts returns the shifts b, one for each class, that fit logits z + b to the classes of n samples, for z, n by C, and b_c with
// the prior N(0, variance_c). It uses Newton's method. Row i of left is row i of z plus the b without sample i and the rest of its
// group, one step of the method away.
func (l Logits) Shifts(z *mat.Dense, class []int, variance []float64, groups Groups) (b []float64, left *mat.Dense) {
	n, c := z.Dims()
	if c == 1 {
		shift, of := shiftOf(mat.Col(nil, 0, z), class, variance[0], groups)
		return []float64{shift}, mat.NewDense(n, 1, of)
	}
	b = make([]float64, c)
	p, slope, curvature := mat.NewDense(n, c, nil), mat.NewVecDense(c, nil), mat.NewSymDense(c, nil)
	residual := func(i int) *mat.VecDense {
		out := mat.VecDenseCopyOf(p.RowView(i))
		if class[i] >= 0 {
			out.SetVec(class[i], out.AtVec(class[i])-1)
		}
		return out
	}
	// weigh adds to a matrix the curvature of the loss of sample i, times sign.
	weigh := func(to *mat.SymDense, i int, sign float64) {
		to.SymRankOne(to, -sign, p.RowView(i))
		for k, v := range p.RawRowView(i) {
			to.SetSym(k, k, to.At(k, k)+sign*v)
		}
	}
	for turn := 0; turn < newtonSteps; turn++ {
		curvature.Zero()
		for k, v := range variance {
			slope.SetVec(k, b[k]/v)
			curvature.SetSym(k, k, 1/v)
		}
		for i, of := range class {
			row := p.RawRowView(i)
			floats.AddTo(row, z.RawRowView(i), b)
			l.probabilities(row)
			if of != NoLabel {
				slope.AddVec(slope, residual(i))
				weigh(curvature, i, 1)
			}
		}
		step := linalg.Solved(curvature, slope)
		longest := floats.Norm(step, math.Inf(1))
		floats.AddScaled(b, -1/math.Max(1, longest), step)
		if longest < newtonTolerance {
			break
		}
	}
	left = mat.NewDense(n, c, nil)
	without := mat.NewSymDense(c, nil)
	for i, of := range class {
		row := left.RawRowView(i)
		floats.AddTo(row, z.RawRowView(i), b)
		if of != NoLabel && groups.Alone(i) {
			without.CopySym(curvature)
			weigh(without, i, -1)
			floats.Add(row, linalg.Solved(without, residual(i)))
		}
	}
	for group := range groups.Several() {
		without.CopySym(curvature)
		own := mat.NewVecDense(c, nil)
		for _, i := range group {
			if class[i] != NoLabel {
				weigh(without, i, -1)
				own.AddVec(own, residual(i))
			}
		}
		by := linalg.Solved(without, own)
		for _, i := range group {
			floats.Add(left.RawRowView(i), by)
		}
	}
	return b, left
}

// shiftOf is [Logits.Shifts] for a single class, with log-odds f.
func shiftOf(f []float64, class []int, variance float64, groups Groups) (b float64, left []float64) {
	var slope, curvature float64
	for turn := 0; turn < newtonSteps; turn++ {
		slope, curvature = b/variance, 1/variance
		for i, v := range f {
			if class[i] != NoLabel {
				p := Sigmoid(v + b)
				slope, curvature = slope+p-float64(1+class[i]), curvature+p*(1-p)
			}
		}
		step := math.Max(-1, math.Min(1, slope/curvature))
		if b -= step; math.Abs(step) < newtonTolerance {
			break
		}
	}
	left = make([]float64, len(f))
	for i, v := range f {
		if left[i] = v + b; class[i] != NoLabel {
			p := Sigmoid(v + b)
			left[i] += (p - float64(1+class[i])) / (curvature - p*(1-p))
		}
	}
	for group := range groups.Several() {
		own, less := 0.0, 0.0
		for _, i := range group {
			if class[i] != NoLabel {
				p := Sigmoid(f[i] + b)
				own, less = own+p-float64(1+class[i]), less+p*(1-p)
			}
		}
		for _, i := range group {
			left[i] = f[i] + b + own/math.Max(curvature-less, 1/variance)
		}
	}
	return b, left
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
