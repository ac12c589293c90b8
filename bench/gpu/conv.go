//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/pipeline"
)

// conv times a pass of training the convolutional representation over equally many samples of every source.
func (w *bench) conv() error {
	p, err := w.problem()
	if err != nil {
		return err
	}
	c := *pipeline.DefaultConv(pipeline.PresetDefault)
	c.Validation, c.Passes, c.Batch, c.Channels = 0, w.trained, w.batch, w.channels
	tmp := backend.NewScope(w.q)
	defer tmp.Close()
	p.samples.Pools = compare.Upload(tmp, backend.Uint8, p.set.Pools)
	s := tmp.Samples(p.samples)
	if err := cmp.Or(tmp.Err(), w.q.Synchronize()); err != nil {
		return err
	}
	counts, loss, image := compare.Counts(p.samples), 0.0, p.set.Pools[0]
	seconds, err := compare.MedianOfThree(func(s float64) float64 { return s }, func() (float64, error) {
		start := time.Now()
		net, fit, err := pipeline.FitConv(context.Background(), w.q, s, counts, image.Height, image.Width, w.width, c, 1)
		if err != nil {
			return 0, err
		}
		defer net.Close()
		loss = fit.Loss
		return time.Since(start).Seconds() / float64(c.Passes), nil
	})
	if err != nil {
		return err
	}
	section := fmt.Sprintf("convolutional training, %d samples, channels %v, K = %d, batches of %d; per pass", len(p.samples.Y), c.Channels,
		w.width, c.Batch)
	least := trainingWork(image.Height, image.Width, c.Channels, w.width).times(float64(len(p.samples.Y)))
	w.add(row{Section: section, Name: "amtrl", Seconds: seconds, Work: least, Ratio: 1,
		Note: fmt.Sprintf("loss %.5f in the last of %d", loss, c.Passes)})
	return w.convRival(p, c, section, seconds, least)
}

// trainingWork returns the work of the products of a training step for one image: for each layer the forward product,
// the gradient with respect to the weights and, except in the first layer, the gradient with respect to the inputs.
func trainingWork(height, width int, channels []int, k int) work {
	operations, in := 0., 1
	products := 2.
	for _, out := range channels {
		operations += products * 2 * float64(height*width*9*in*out)
		height, width, in, products = height/2, width/2, out, 3
	}
	return work{Float32: operations + 3*2*float64(height*width*in*k)}
}

func (w *bench) convRival(p *problem, c pipeline.Conv, section string, ours float64, least work) error {
	if err := w.folder.LeaveProblem(p.set.Pools, p.samples, p.theta); err != nil {
		return err
	}
	type fit struct {
		Seconds, Loss float64
		Failed        string
	}
	var reply struct {
		Torch string
		Eager fit
		Graph *fit
	}
	args := []string{w.folder.Dir, w.rival, fmt.Sprint(w.jobs), fmt.Sprint(c.Passes), fmt.Sprint(c.Batch), fmt.Sprint(c.Rate),
		fmt.Sprint(c.Decay), fmt.Sprint(w.width)}
	for _, n := range c.Channels {
		args = append(args, fmt.Sprint(n))
	}
	if err := w.folder.Run(w.python, &reply, "torch_conv.py", args...); err != nil {
		w.add(row{Section: section, Name: "PyTorch", Failed: err.Error()})
		return nil
	}
	note := func(f fit) string { return fmt.Sprintf("loss %.5f; %s", f.Loss, reply.Torch) }
	w.add(row{Section: section, Name: "PyTorch, eager", Seconds: reply.Eager.Seconds, Work: least, Ratio: reply.Eager.Seconds / ours,
		Note: note(reply.Eager)})
	if g := reply.Graph; g != nil {
		w.add(row{Section: section, Name: "PyTorch, CUDA graph of the step", Seconds: g.Seconds, Work: least, Ratio: g.Seconds / ours,
			Note: note(*g), Failed: g.Failed})
	}
	return nil
}
