package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// The tensors of kernels: KernelPart (C) is the part a of the kernels' prediction g in that of each output, (1 - a) f + a g, where f is
// that of the other tensors; kernel.group (C) is the column of labels of each output, kernel.bias (C) what g begins with, and kernel.scale
// (D), which may be absent, what features are divided by. There are one or two sums of kernels, numbered from 0: kernel.rows.0 (n by D)
// are rows z less their centres, kernel.centre.0 (D) is the centre of the rows x that are predicted, in a model file less
// representation.centre, and kernel.width.0 (C) and kernel.weight.0 (C by n) are the widths and weights in the terms
//
//	weight exp(-|(x - centre)/scale - z|^2 / width)
//
// of g; an output whose width is 0 has none. g is in the units of the labels; for classes g is log-odds, computed from sums that are
// multinomial over the outputs of a column with several classes.
const (
	// KernelRows begins the names of the tensors of rows.
	KernelRows   = "kernel.rows."
	kernelCentre = "kernel.centre."
	kernelWidth  = "kernel.width."
	kernelWeight = "kernel.weight."
	kernelGroup  = "kernel.group"
	kernelBias   = "kernel.bias"
	kernelScale  = "kernel.scale"
	// KernelPart names the tensor of the parts.
	KernelPart = "kernel.part"
)

func (k *kernelModel) tensors(parts []float32) []Tensor {
	c, group := len(k.bias), make([]float32, len(k.bias))
	for i, v := range k.group {
		group[i] = float32(v)
	}
	out := []Tensor{{KernelPart, []int{c}, parts}, {kernelGroup, []int{c}, group}, {kernelBias, []int{c}, k.bias}}
	if k.scale != nil {
		out = append(out, Tensor{kernelScale, []int{len(k.scale)}, k.scale})
	}
	for i, p := range k.parts {
		d := len(p.centre)
		n := len(p.rows) / d
		for _, t := range []Tensor{{KernelRows, []int{n, d}, p.rows}, {kernelCentre, []int{d}, p.centre}, {kernelWidth, []int{c}, p.width},
			{kernelWeight, []int{c, n}, p.weight}} {
			t.Name += fmt.Sprint(i)
			out = append(out, t)
		}
	}
	return out
}

// ScaleKernel returns the tensors of a model with those of kernels converted to features that are s times as large.
func ScaleKernel(tensors []Tensor, s []float64) []Tensor {
	times := func(data []float32) []float32 {
		out := make([]float32, len(s))
		for j, v := range data {
			out[j] = float32(s[j] * float64(v))
		}
		return out
	}
	out, kernel, scaled := slices.Clone(tensors), false, false
	for i, t := range out {
		if strings.HasPrefix(t.Name, kernelCentre) || t.Name == kernelScale {
			out[i].Data, kernel, scaled = times(t.Data), true, scaled || t.Name == kernelScale
		}
	}
	if kernel && !scaled {
		out = append(out, Tensor{kernelScale, []int{len(s)}, times(slices.Repeat([]float32{1}, len(s)))})
	}
	return out
}

// kernelOf returns the kernels of tensors, nil where there are none, and their part in the predictions of each output. They must be of c
// outputs and d features, and predict the log-odds of classes if classes says so.
func kernelOf(tensors []Tensor, c, d int, classes bool) (k *kernelModel, parts []float32, err error) {
	named := map[string]Tensor{}
	for _, t := range tensors {
		named[t.Name] = t
	}
	if _, there := named[KernelPart]; !there {
		return nil, nil, nil
	}
	read := func(name string, shape ...int) []float32 {
		t, n := named[name], 1
		for _, v := range shape {
			n *= v
		}
		if err == nil && (len(t.Data) != n || slices.ContainsFunc(t.Data, func(v float32) bool { return !finite32(v) })) {
			err = fmt.Errorf("%s: expected finite numbers of shape %v, found shape %v", name, shape, t.Shape)
		}
		return t.Data
	}
	parts = read(KernelPart, c)
	k = &kernelModel{bias: read(kernelBias, c), classes: classes}
	for _, v := range read(kernelGroup, c) {
		k.group = append(k.group, int(v))
	}
	if _, is := named[kernelScale]; is {
		k.scale = read(kernelScale, d)
	}
	for i := 0; err == nil; i++ {
		at := fmt.Sprint(i)
		rows, is := named[KernelRows+at]
		if !is {
			break
		}
		n := 0
		if len(rows.Shape) == 2 {
			n = rows.Shape[0]
		}
		k.parts = append(k.parts, kernelPart{read(KernelRows+at, max(1, n), d), read(kernelCentre+at, d), read(kernelWidth+at, c),
			read(kernelWeight+at, c, max(1, n))})
	}
	if err != nil {
		return nil, nil, err
	}
	for _, v := range parts {
		if !(v >= 0 && v <= 1) {
			return nil, nil, fmt.Errorf("%s: expected numbers from 0 to 1, found %v", KernelPart, parts)
		}
	}
	for i, p := range k.parts {
		for _, v := range p.width {
			if v < 0 {
				return nil, nil, fmt.Errorf("%s%d: expected numbers of at least 0, found %g", kernelWidth, i, v)
			}
		}
	}
	for _, v := range k.scale {
		if v <= 0 {
			return nil, nil, fmt.Errorf("%s: expected numbers above 0, found %g", kernelScale, v)
		}
	}
	return k, parts, nil
}
