// Package pipelinetest provides the small problems that the tests of pipeline and runs share, and the reference
// arithmetic that results are compared with.
package pipelinetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/amtrl/amtrl/dataset"
)

// SmallSet returns a family of tasks over two pools, one of bytes and one of float32. Labels are linear with noise, or
// whether these are above 0 if binary. The last tenth of the rows is for testing.
func SmallSet(seed uint64, tasks, rows, d int, binary bool) *dataset.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	u8, f32 := make([]uint8, rows*d), make([]float32, rows*d)
	for i := range u8 {
		u8[i], f32[i] = uint8(rng.IntN(256)), float32(rng.NormFloat64())
	}
	set := &dataset.Set{Name: "small set", Binary: binary, Pools: []*dataset.Pool{
		{Name: "bytes", Rows: rows, Cols: d, U8: u8, Scale: 1. / 255},
		{Name: "floats", Rows: rows, Cols: d, F32: f32, Scale: 0.5},
	}}
	var train, test []int32
	for i := range int32(rows) {
		if int(i) < rows-rows/10 {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	shared := Normals(rng, 2*d)
	for i := range tasks {
		p, w := make([]float64, d), Normals(rng, 2)
		for j := range p {
			p[j] = w[0]*shared[j] + w[1]*shared[d+j] + 0.3*rng.NormFloat64()
		}
		labels := make([]float32, rows)
		for r := range labels {
			y := Dot(p, Features(set, i%2, r)) + 0.2*rng.NormFloat64()
			if binary {
				y = float64(Int(y > 0))
			}
			labels[r] = float32(y)
		}
		set.Tasks = append(set.Tasks, dataset.Task{Name: fmt.Sprintf("%s_%d", set.Pools[i%2].Name, i), Pool: i % 2, Labels: labels,
			Train: train, Test: test})
	}
	return set
}

func Int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Features returns row r of a pool in float64.
func Features(set *dataset.Set, pool, r int) []float64 {
	p := set.Pools[pool]
	x := make([]float64, p.Cols)
	for j := range x {
		if p.U8 != nil {
			x[j] = float64(p.U8[r*p.Cols+j]) * float64(p.Scale)
		} else {
			x[j] = float64(p.F32[r*p.Cols+j]) * float64(p.Scale)
		}
	}
	return x
}

// SmallImages returns a family of binary tasks over two pools of images: whether the pattern of the task, one of three,
// is the one in the image. The last fifth of the rows is for testing.
func SmallImages(seed uint64, tasks, rows, h, w int) *dataset.Set {
	rng := rand.New(rand.NewPCG(seed, 2))
	d := h * w
	patterns := make([][]float64, 3)
	for i := range patterns {
		patterns[i] = Normals(rng, 9)
	}
	set := &dataset.Set{Name: "small images", Binary: true}
	var train, test []int32
	for i := range int32(rows) {
		if int(i) < rows*4/5 {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	shown := make([]int, rows) // the pattern of a row
	for i := range shown {
		shown[i] = rng.IntN(len(patterns))
	}
	for _, name := range []string{"light", "dark"} {
		p := &dataset.Pool{Name: name, Rows: rows, Cols: d, F32: make([]float32, rows*d), Scale: 0.5, Height: h, Width: w}
		for r := range rows {
			image := p.F32[r*d:][:d]
			for j := range image {
				image[j] = float32(0.2 * rng.NormFloat64())
			}
			top, left := rng.IntN(h-2), rng.IntN(w-2)
			for j, v := range patterns[shown[r]] {
				image[(top+j/3)*w+left+j%3] += float32(2 * v)
			}
			if name == "dark" {
				for j := range image {
					image[j] = -image[j]
				}
			}
		}
		set.Pools = append(set.Pools, p)
	}
	for i := range tasks {
		labels := make([]float32, rows)
		for r := range labels {
			labels[r] = float32(Int(shown[r] == i/2%len(patterns)))
		}
		set.Tasks = append(set.Tasks, dataset.Task{Name: fmt.Sprintf("%s_%d", set.Pools[i%2].Name, i), Pool: i % 2, Labels: labels,
			Train: train, Test: test})
	}
	return set
}
