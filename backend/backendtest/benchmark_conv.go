package backendtest

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
)

// The default network on MNIST-C in batches of 256.
const benchBatch = 256

var benchLayers = []backend.ConvShape{
	{Height: 28, Width: 28, Channels: 1, Filters: 16},
	{Height: 14, Width: 14, Channels: 16, Filters: 32},
}

// benchTraining times the parts of a training step.
func benchTraining(run func(name string, f func(*bench))) {
	for i, s := range benchLayers {
		run(fmt.Sprintf("Training/Conv/%d", i+1), func(b *bench) { b.conv(s) })
		run(fmt.Sprintf("Training/ConvGrad/%d", i+1), func(b *bench) { b.convGrad(s, i > 0) })
	}
	run("Training/Batch", (*bench).batches)
	run("Training/HeadGradient", (*bench).heads)
	run("Training/Adam", (*bench).adam)
}

// convFlops returns the number of floating-point operations of one product of a layer.
func convFlops(s backend.ConvShape) int {
	return 2 * benchBatch * s.Height * s.Width * s.Taps() * s.Filters
}

func (b *bench) conv(s backend.ConvShape) {
	const t = backend.Float32
	x, w, bias := b.random(t, benchBatch, s.In()), b.random(t, s.Taps(), s.Filters), b.random(t, 1, s.Filters).Row(0)
	y, arg := b.s.Matrix(t, benchBatch, s.Out()), b.s.Matrix(backend.Uint8, benchBatch, s.Out())
	b.loop(func() error { return b.q.Conv(s, x, w, bias, y, arg) })
	b.flops(convFlops(s))
}

func (b *bench) convGrad(s backend.ConvShape, input bool) {
	const t = backend.Float32
	x, w, bias := b.random(t, benchBatch, s.In()), b.random(t, s.Taps(), s.Filters), b.random(t, 1, s.Filters).Row(0)
	y, arg := b.s.Matrix(t, benchBatch, s.Out()), b.s.Matrix(backend.Uint8, benchBatch, s.Out())
	dw, db := b.s.Matrix(t, s.Taps(), s.Filters), b.s.Vector(t, s.Filters)
	var dx backend.Matrix
	products := 1
	if input {
		dx, products = b.s.Matrix(t, benchBatch, s.In()), 2
	}
	b.must(b.q.Conv(s, x, w, bias, y, arg))
	b.loop(func() error { return b.q.ConvGrad(s, x, w, arg, y, dx, dw, db) })
	b.flops(products * convFlops(s))
}

func (b *bench) batches() {
	s := b.samples(backend.Uint8)
	order := make([]int32, benchBatch)
	for i := range order {
		order[i] = int32(b.rng.IntN(benchSamples))
	}
	x := b.s.Matrix(backend.Float32, benchBatch, benchCols)
	y, task := b.s.Matrix(backend.Float32, benchBatch, 1), b.s.Vector(backend.Int32, benchBatch)
	b.SetBytes(benchBatch * benchCols * 5)
	b.loop(func() error { return b.q.Batch(s, order, x, y, task) })
}

func (b *bench) heads() {
	const t = backend.Float32
	z, w := b.random(t, benchBatch, benchWidth), b.random(t, benchTasks, benchWidth)
	ids := make([]float64, benchBatch)
	for i := range ids {
		ids[i] = float64(b.rng.IntN(benchTasks))
	}
	y, task := b.random(t, benchBatch, 1), backend.Vec(b.upload(backend.Int32, ids))
	dz, dw, loss := b.s.Matrix(t, benchBatch, benchWidth), b.s.Matrix(t, benchTasks, benchWidth), b.s.Vector(backend.Float64, 1)
	b.loop(func() error { return b.q.HeadGradient(z, y, task, w, 1, dz, dw, loss) })
	b.flops(6 * benchBatch * benchWidth)
}

func (b *bench) adam() {
	const t, n = backend.Float32, 91_200
	g, m, v, theta := b.random(t, 1, n).Row(0), b.s.Vector(t, n), b.s.Vector(t, n), b.random(t, 1, n).Row(0)
	r := ratesAt(10)
	b.SetBytes(7 * 4 * n)
	b.loop(func() error { return b.q.Adam(&r, g, m, v, theta) })
}
