package pipeline

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

var (
	smallSet       = pipelinetest.SmallSet
	smallImages    = pipelinetest.SmallImages
	features       = pipelinetest.Features
	openCPU        = pipelinetest.OpenCPU
	wide           = pipelinetest.Wide
	narrow         = pipelinetest.Narrow
	download       = pipelinetest.Download
	orthonormalise = pipelinetest.Orthonormalise
	multiply       = pipelinetest.Multiply
	near           = pipelinetest.Near
	isNear         = pipelinetest.IsNear
	closeVectors   = pipelinetest.Close
	b2i            = pipelinetest.Int
	normals        = pipelinetest.Normals
	ones           = pipelinetest.Ones
	dense          = pipelinetest.Dense
	othersOf       = pipelinetest.Others
)

func smallConfig() Config { return pipelinetest.Decode[Config](pipelinetest.Config) }

func smallConvConfig() Config { return pipelinetest.Decode[Config](pipelinetest.ConvConfig) }

func openDevice(t testing.TB, threads int, set *dataset.Set) *Resident {
	t.Helper()
	return pipelinetest.Open(t, threads, set, NewResident)
}

// newLearner returns a learner of the problem of a target.
func newLearner(dev *Resident, cfg Config, target int) (*Learner, error) {
	p, err := NewProblem(dev.Set, cfg, target)
	if err != nil {
		return nil, err
	}
	return NewLearner(dev, p)
}

func quiet(Step) {}

func unsaved(State) error { return nil }

// sourcesOf returns tasks as sources.
func sourcesOf(set *dataset.Set, tasks ...int) []Source {
	var out []Source
	for _, i := range tasks {
		out = append(out, (&Config{}).SourcesIn(set)[i])
	}
	return out
}

// samplesOf places the first counts[i] rows of rows[i] with the labels of task
// tasks[i].
func samplesOf(q backend.Queue, dev *Resident, tasks []int, rows [][]int32, counts []int) (backend.Samples, error) {
	p, in := &Problem{Set: dev.Set, Sources: sourcesOf(dev.Set, tasks...)}, Proposal{}
	p.Target = p.Sources[0]
	for i, n := range counts {
		in.Sources = append(in.Sources, rows[i][:n])
	}
	s, err := dev.samples(q, nil, p.Sources, p.LookUp(in).Sources)
	return s.on, err
}

// rowsApart returns the rows of x, whose features share one scale and whose samples are each on their own.
func rowsApart(x *mat.Dense) *regress.Rows {
	n, _ := x.Dims()
	return regress.NewRows(x, regress.Ungrouped(n))
}
