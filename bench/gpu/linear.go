//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/dataset"
)

// digitSet returns the embedded digits and their corruptions, which it makes once.
func (w *bench) digitSet() (*dataset.Set, error) {
	if w.set != nil {
		return w.set, nil
	}
	set, err := dataset.Digits(0, w.digits, w.jobs)
	if err != nil {
		return nil, err
	}
	w.set = set
	return set, set.Validate()
}

// linear times the ERM over equally many samples of every source.
func (w *bench) linear() error {
	p, err := w.problem()
	if err != nil {
		return err
	}
	types := []backend.DType{backend.Uint8, backend.Float32}
	goal, ours, err := compare.ERM(w.q, p.set.Pools, p.samples, p.theta, w.width, w.iterations, types...)
	if err != nil {
		return err
	}
	section := fmt.Sprintf("linear ERM, %d samples of %d sources, K = %d, to objective %.6g", len(p.samples.Y), len(p.samples.SourcePool),
		w.width, goal)
	for i, r := range ours {
		w.add(row{
			Section: section, Name: "amtrl, " + types[i].String() + " pools",
			Seconds: r.Seconds, Ratio: r.Seconds / ours[0].Seconds, Evaluations: float64(r.Evaluations),
			Work: passWork(len(p.samples.Y), types[i]).times(float64(r.Evaluations)), Note: ourSearch,
		})
	}
	return w.linearRival(p, section, goal, ours[0].Seconds)
}

func (w *bench) linearRival(p *problem, section string, goal, ours float64) error {
	if err := w.folder.LeaveProblem(p.set.Pools, p.samples, p.theta); err != nil {
		return err
	}
	type fit struct{ Seconds, Objective, Evaluations float64 }
	var reply struct {
		Torch, Device string
		Copy          struct{ Seconds, Bytes float64 }
		Pass          struct {
			Seconds float64
			Way     string
		}
		Same, Obvious fit
	}
	err := w.folder.Run(w.python, &reply, "torch_linear.py", w.folder.Dir, w.rival, fmt.Sprint(w.jobs), fmt.Sprint(w.least), fmt.Sprint(goal),
		fmt.Sprint(compare.Lambda), fmt.Sprint(w.width))
	if err != nil {
		w.add(row{Section: section, Name: "PyTorch", Failed: err.Error()})
		return nil
	}
	by := fmt.Sprintf("PyTorch %s on %s", reply.Torch, reply.Device)
	for _, r := range []struct {
		name, search string
		fit          fit
	}{
		{"PyTorch, same algorithm, " + reply.Pass.Way + " pass", sameSearch, reply.Same},
		{"PyTorch, autograd on (X B) w, its L-BFGS", itsLBFGS, reply.Obvious},
	} {
		line := row{Section: section, Name: r.name, Seconds: r.fit.Seconds, Ratio: r.fit.Seconds / ours, Evaluations: r.fit.Evaluations,
			Note: by + "; " + r.search,
			Work: passWork(len(p.samples.Y), backend.Float32).times(r.fit.Evaluations)}
		if r.fit.Objective > goal {
			line.Failed = fmt.Sprintf("reached %.6g only, after %g evaluations", r.fit.Objective, r.fit.Evaluations)
		}
		w.add(line)
	}
	section = "what PyTorch takes beside it"
	name := fmt.Sprintf("task gradient, float32, %d samples, %s", len(p.samples.Y), reply.Pass.Way)
	w.add(row{Section: section, Name: name, Seconds: reply.Pass.Seconds, Work: passWork(len(p.samples.Y), backend.Float32), Note: by})
	w.add(row{Section: section, Name: "copy on the device", Seconds: reply.Copy.Seconds, Work: work{Bytes: reply.Copy.Bytes}, Note: by})
	return nil
}

// problem holds samples of the sources of one target and a starting point.
type problem struct {
	set     *dataset.Set
	samples backend.SampleSet // without the pools
	theta   []float32         // B' (K by d), W' (M by K)
}

// problem draws equally many samples of every source.
func (w *bench) problem() (*problem, error) {
	set, err := w.digitSet()
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	s, _, err := compare.Uniform(set, compare.Target, w.samples, rng)
	if err != nil {
		return nil, err
	}
	return &problem{set, s, compare.Start(rng, w.width, inputs, len(s.SourcePool))}, nil
}
