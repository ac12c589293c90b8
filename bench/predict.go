//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/pipeline"
)

// What is predicted: rows of a linear model, and images of a network of the default's layers.
const (
	predictRows    = 100_000
	predictWidth   = 384
	predictClasses = 5
	predictImages  = 5_000
	imageSide      = 28
	predictBatch   = 4096 // the most rows that predict reads at once
)

// comparePredict times predictions for rows in memory beside scikit-learn's predict with the same linear model, and
// beside the same network in PyTorch.
func comparePredict(f compare.Folder, repeats int) error {
	t := compare.NewTable("predictions", "rows/s", "times as fast", "largest difference")
	rng := rand.New(rand.NewPCG(5, 6))
	net := pipeline.DefaultConv(pipeline.PresetDefault)
	for _, c := range []struct {
		name, rival, python, script string
		rows, cols, side            int
		tensors                     []pipeline.Tensor
	}{
		{"linear", "scikit-learn", numpyPython(), "sklearn_predict.py", predictRows, predictWidth, 0, linearModel(rng, width)},
		{"network", "PyTorch", compare.TorchPython(), "torch_predict.py", predictImages, imageSide * imageSide, imageSide,
			netModel(rng, net.Channels, width)},
	} {
		x := compare.Gaussians(rng, c.rows*c.cols, 1)
		ours, y, err := timePredict(c.tensors, c.side, c.cols, x, repeats)
		if err != nil {
			return err
		}
		t.AppendRow(table.Row{c.name, fmt.Sprintf("%.0f", float64(c.rows)/ours)})
		left := map[string]any{"predict_x": x, "predict_y": y}
		for _, v := range c.tensors {
			left["predict_"+v.Name] = v.Data
		}
		if err := f.Leave(left); err != nil {
			return err
		}
		var reply struct{ Seconds, Difference float64 }
		args := []string{fmt.Sprint(repeats), fmt.Sprint(width)}
		if c.side > 0 {
			for _, v := range net.Channels {
				args = append(args, fmt.Sprint(v))
			}
		}
		name := c.name + ", " + c.rival
		if err := rival(f, c.python, c.script, &reply, args...); err != nil {
			t.AppendRow(table.Row{name, err.Error()})
			continue
		}
		t.AppendRow(table.Row{name, fmt.Sprintf("%.0f", float64(c.rows)/reply.Seconds), fmt.Sprintf("%.2f", reply.Seconds/ours),
			fmt.Sprintf("%.1e", reply.Difference)})
	}
	t.Render()
	fmt.Println()
	return nil
}

// timePredict times the predictions for all rows, in batches as a file gives them.
func timePredict(tensors []pipeline.Tensor, side, width int, x []float32, repeats int) (seconds float64, y []float32, err error) {
	q, err := openCPU()
	if err != nil {
		return 0, nil, err
	}
	defer q.Device().Close()
	p, err := pipeline.NewPredictor(q, tensors, side, side)
	if err != nil {
		return 0, nil, err
	}
	defer p.Close()
	batch := min(predictBatch, (1<<18)/width)
	rows := len(x) / width
	y = make([]float32, rows*p.C)
	seconds, err = median(repeats, func() error {
		for lo := 0; lo < rows; lo += batch {
			hi := min(rows, lo+batch)
			if err := p.Predict(x[lo*width:hi*width], y[lo*p.C:hi*p.C]); err != nil {
				return err
			}
		}
		return nil
	})
	return seconds, y, err
}

// tensor is one of random numbers.
func tensor(rng *rand.Rand, name string, shape ...int) pipeline.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return pipeline.Tensor{Name: name, Shape: shape, Data: compare.Gaussians(rng, n, 1/math.Sqrt(float64(n/shape[0])))}
}

func linearModel(rng *rand.Rand, k int) []pipeline.Tensor {
	return []pipeline.Tensor{
		tensor(rng, "representation.weight", k, predictWidth), tensor(rng, "target.weight", predictClasses, k),
		tensor(rng, "target.bias", predictClasses), tensor(rng, "target.delta", predictClasses, predictWidth),
		tensor(rng, "representation.centre", predictWidth), {Name: "representation.scale", Shape: []int{1}, Data: []float32{2}},
	}
}

func netModel(rng *rand.Rand, channels []int, k int) []pipeline.Tensor {
	var out []pipeline.Tensor
	in, side := 1, imageSide
	for l, c := range channels {
		name := fmt.Sprintf("representation.conv%d.", l+1)
		out = append(out, tensor(rng, name+"weight", 3, 3, in, c), tensor(rng, name+"bias", c))
		in, side = c, side/2
	}
	return append(out, tensor(rng, "representation.full.weight", k, side*side*in), tensor(rng, "representation.full.bias", k),
		tensor(rng, "target.weight", predictClasses, k), tensor(rng, "target.bias", predictClasses))
}
