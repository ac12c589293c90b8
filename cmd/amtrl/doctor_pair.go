package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
)

// pair is a device and the CPU, which does the same.
type pair struct {
	device, cpu backend.Queue
	tf32        bool
}

// checkCPU computes one product on the CPU backend.
func checkCPU(threads int) finding {
	f := finding{Check: "cpu", Verdict: verdictOK}
	d, err := openCPU(threads)()
	if err == nil {
		defer d.Close()
		info := d.Info()
		f.Detail = fmt.Sprintf("%s, %s, %d threads", info.Device, info.Detail, info.Threads)
		var q backend.Queue
		if q, err = d.NewQueue(); err == nil {
			_, err = product(q, backend.Float64, 7)
		}
	}
	if err != nil {
		f.Verdict, f.Detail = verdictFail, oneLine(err.Error())
	}
	return f
}

// compareAll tells the outcome of every check of a device.
func compareAll(d backend.Device, tf32 bool, tell func(finding) error) error {
	host, err := cpu.Open(1)
	if err != nil {
		return err
	}
	defer host.Close()
	p := &pair{tf32: tf32}
	if p.device, err = d.NewQueue(); err != nil {
		return err
	}
	if p.cpu, err = host.NewQueue(); err != nil {
		return err
	}
	for _, k := range deviceChecks {
		if err := tell(finding{Check: k.name}); err != nil {
			return err
		}
		f := finding{Check: k.name, Verdict: verdictOK}
		if f.Detail, err = k.do(p); err != nil {
			f.Verdict, f.Detail = verdictFail, oneLine(err.Error())
			f.Hint = "this device cannot be relied on; --backend cpu computes without it"
			if errors.Is(err, backend.ErrOutOfMemory) {
				f.Hint = "nvidia-smi lists the processes that hold the device's memory"
			}
		}
		if err := tell(f); err != nil {
			return err
		}
	}
	return nil
}

// both computes on device and CPU and returns how far apart the results are,
// relative to the largest element.
func (p *pair) both(compute func(backend.Queue) ([]float64, error)) (float64, error) {
	got, err := compute(p.device)
	if err != nil {
		return 0, err
	}
	want, err := compute(p.cpu)
	if err != nil {
		return 0, err
	}
	return apart(got, want)
}

func apart(got, want []float64) (float64, error) {
	if len(got) != len(want) {
		return 0, fmt.Errorf("%d results where the CPU has %d", len(got), len(want))
	}
	worst, largest := 0.0, 0.0
	for i := range want {
		if math.IsNaN(got[i]) || math.IsInf(got[i], 0) {
			return 0, fmt.Errorf("result %d is %g, on the CPU it is %g", i, got[i], want[i])
		}
		worst, largest = math.Max(worst, math.Abs(got[i]-want[i])), math.Max(largest, math.Abs(want[i]))
	}
	return worst / largest, nil
}

// within holds a difference against a bound.
func within(what string, difference, bound float64) (string, error) {
	text := fmt.Sprintf("%s differs from the CPU by %.1e of the largest element", what, difference)
	if !(difference <= bound) {
		return "", fmt.Errorf("%s: expected at most %.0e", text, bound)
	}
	return text, nil
}

func (p *pair) gemm() (string, error) {
	wide, err := p.both(func(b backend.Queue) ([]float64, error) { return product(b, backend.Float64, 61) })
	if err != nil {
		return "", err
	}
	if _, err := within("float64", wide, 1e-12); err != nil {
		return "", err
	}
	narrow, err := p.both(func(b backend.Queue) ([]float64, error) { return product(b, backend.Float32, 61) })
	if err != nil {
		return "", err
	}
	if p.tf32 {
		return within("float32 with TF32", narrow, 3e-3)
	}
	return within("float32", narrow, 1e-5)
}

// product is A B' for random A (n+3 by n) and B (n+5 by n).
func product(b backend.Queue, t backend.DType, n int) ([]float64, error) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	tmp := backend.NewScope(b)
	defer tmp.Close()
	x, y := random(tmp, rng, t, (n+3)*n), random(tmp, rng, t, (n+5)*n)
	c := tmp.Matrix(t, n+3, n+5)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := b.Gemm(false, true, 1, backend.Mat(x, n+3, n), backend.Mat(y, n+5, n), 0, c); err != nil {
		return nil, err
	}
	return read(b, c.Buf)
}

func (p *pair) svd() (string, error) {
	const m, n = 45, 27
	compute := func(b backend.Queue) ([]float64, error) {
		rng := rand.New(rand.NewPCG(2, 3))
		tmp := backend.NewScope(b)
		defer tmp.Close()
		a := random(tmp, rng, backend.Float64, m*n)
		u, s, vt := tmp.Matrix(backend.Float64, m, n), tmp.Vector(backend.Float64, n), tmp.Matrix(backend.Float64, n, n)
		if err := tmp.Err(); err != nil {
			return nil, err
		}
		if err := b.SVD(backend.Mat(a, m, n), u, s, vt); err != nil {
			return nil, err
		}
		left, err := read(b, u.Buf)
		if err != nil {
			return nil, err
		}
		right, err := read(b, vt.Buf)
		if err != nil {
			return nil, err
		}
		values, err := read(b, s.Buf)
		if err != nil {
			return nil, err
		}
		// Singular vectors have no sign; what they make together has.
		out := values
		for i := range m {
			for j := range n {
				sum := 0.0
				for k := range n {
					sum += left[i*n+k] * values[k] * right[k*n+j]
				}
				out = append(out, sum)
			}
		}
		return out, nil
	}
	d, err := p.both(compute)
	if err != nil {
		return "", err
	}
	return within(fmt.Sprintf("%d x %d, float64, values and U S V'", m, n), d, 1e-12)
}

func (p *pair) pinv() (string, error) {
	const m, n = 12, 31
	rank := map[backend.Queue]int{}
	d, err := p.both(func(b backend.Queue) (_ []float64, err error) {
		rng := rand.New(rand.NewPCG(4, 5))
		tmp := backend.NewScope(b)
		defer tmp.Close()
		a := backend.Mat(random(tmp, rng, backend.Float64, m*n), m, n)
		dst := tmp.Matrix(backend.Float64, n, m)
		if err := tmp.Err(); err != nil {
			return nil, err
		}
		// The last row is the first: the rank is one less than it could be.
		if err := b.Copy(a.Row(m-1), a.Row(0)); err != nil {
			return nil, err
		}
		if rank[b], err = b.Pinv(a, -1, dst); err != nil {
			return nil, err
		}
		return read(b, dst.Buf)
	})
	if err != nil {
		return "", err
	}
	if rank[p.device] != m-1 || rank[p.cpu] != m-1 {
		return "", fmt.Errorf("rank %d, on the CPU %d: expected %d", rank[p.device], rank[p.cpu], m-1)
	}
	return within(fmt.Sprintf("%d x %d of rank %d", m, n, m-1), d, 1e-11)
}

func (p *pair) gradient() (string, error) {
	d, err := p.both(func(b backend.Queue) ([]float64, error) {
		tmp := backend.NewScope(b)
		defer tmp.Close()
		w, err := newErm(b, tmp)
		if err != nil {
			return nil, err
		}
		if err := w.gradient(); err != nil {
			return nil, err
		}
		return w.read()
	})
	if err != nil {
		return "", err
	}
	return within("uint8, float16 and float32 pools", d, 1e-5)
}

// graph runs a product, a task gradient and inner products as a recorded program,
// twice, and compares with the operations one by one on the same device.
func (p *pair) graph() (string, error) {
	tmp := backend.NewScope(p.device)
	defer tmp.Close()
	w, err := newErm(p.device, tmp)
	if err != nil {
		return "", err
	}
	if err := w.step(); err != nil {
		return "", err
	}
	want, err := w.read()
	if err != nil {
		return "", err
	}
	want = append(want, w.squares...)
	prog, err := p.device.Record(w.step)
	if err != nil {
		return "", err
	}
	defer prog.Free()
	worst := 0.0
	for range 2 {
		clear(w.squares)
		for _, v := range []backend.Vector{backend.Vec(w.p.Buf), backend.Vec(w.q.Buf), w.loss} {
			if err := p.device.Fill(v, math.NaN()); err != nil {
				return "", err
			}
		}
		if err := prog.Run(); err != nil {
			return "", err
		}
		got, err := w.read()
		if err != nil {
			return "", err
		}
		d, err := apart(append(got, w.squares...), want)
		if err != nil {
			return "", err
		}
		worst = math.Max(worst, d)
	}
	if worst > 1e-6 {
		return "", fmt.Errorf("a recorded program differs from its operations by %.1e of the largest element: expected at most 1e-06", worst)
	}
	return fmt.Sprintf("a recorded program of 3 operations, run twice, differs from them by %.1e", worst), nil
}
