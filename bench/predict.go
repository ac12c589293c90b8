//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/x448/float16"

	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// The sizes of the predictions: rows for a linear model, and images for a network with the layers of the default.
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
	linear := linearModel(rng, width)
	for _, c := range []struct {
		name, dtype, rival, python, script string
		rows, cols, side                   int
		tensors                            []pipeline.Tensor
	}{
		{"linear", "float32", "scikit-learn", numpyPython(), "sklearn_predict.py", predictRows, predictWidth, 0, linear},
		{"linear", "float16", "scikit-learn", numpyPython(), "sklearn_predict.py", predictRows, predictWidth, 0, linear},
		{"linear", "uint8", "scikit-learn", numpyPython(), "sklearn_predict.py", predictRows, predictWidth, 0, linear},
		{"network", "float32", "PyTorch", compare.TorchPython(), "torch_predict.py", predictImages, imageSide * imageSide, imageSide,
			netModel(rng, net.Channels, width)},
	} {
		rows := randomRows(rng, c.rows, c.cols, c.dtype)
		ours, y, err := timePredict(c.tensors, c.side, rows, repeats)
		if err != nil {
			return err
		}
		name := c.name + ", " + c.dtype
		t.AppendRow(table.Row{name, fmt.Sprintf("%.0f", float64(c.rows)/ours)})
		left := map[string]any{"predict_x": map[string]any{"float32": rows.F32, "float16": rows.F16, "uint8": rows.U8}[c.dtype], "predict_y": y}
		for _, v := range c.tensors {
			left["predict_"+v.Name] = v.Data
		}
		if err := f.Leave(left); err != nil {
			return err
		}
		var reply struct{ Seconds, Difference float64 }
		args := []string{fmt.Sprint(repeats), fmt.Sprint(width)}
		if c.side == 0 {
			args = append(args, c.dtype)
		} else {
			for _, v := range net.Channels {
				args = append(args, fmt.Sprint(v))
			}
		}
		name += ", " + c.rival
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

// timePredict returns the median seconds of the predictions for all rows, in batches of the size in which a file is
// read, and the predictions.
func timePredict(tensors []pipeline.Tensor, side int, rows *dataset.Pool, repeats int) (seconds float64, y []float32, err error) {
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
	batch := min(predictBatch, (1<<18)/rows.Cols)
	y = make([]float32, rows.Rows*p.C)
	seconds, err = median(repeats, func() error {
		for lo := 0; lo < rows.Rows; lo += batch {
			hi := min(rows.Rows, lo+batch)
			some := &dataset.Pool{Rows: hi - lo, Cols: rows.Cols, Scale: rows.Scale}
			switch from, to := lo*rows.Cols, hi*rows.Cols; {
			case rows.U8 != nil:
				some.U8 = rows.U8[from:to]
			case rows.F16 != nil:
				some.F16 = rows.F16[from:to]
			default:
				some.F32 = rows.F32[from:to]
			}
			if err := p.Predict(some, y[lo*p.C:hi*p.C]); err != nil {
				return err
			}
		}
		return nil
	})
	return seconds, y, err
}

// randomRows returns rows of standard normal values, or of random bytes for uint8.
func randomRows(rng *rand.Rand, rows, cols int, dtype string) *dataset.Pool {
	p := &dataset.Pool{Rows: rows, Cols: cols, Scale: 1}
	for range rows * cols {
		switch dtype {
		case "uint8":
			p.U8 = append(p.U8, uint8(rng.IntN(256)))
		case "float16":
			p.F16 = append(p.F16, uint16(float16.Fromfloat32(float32(rng.NormFloat64()))))
		default:
			p.F32 = append(p.F32, float32(rng.NormFloat64()))
		}
	}
	return p
}

// tensor returns a tensor of n Gaussians of standard deviation 1 / sqrt(n / shape[0]).
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
