package backendtest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

var concurrencyCases = []testCase{
	{"Disjoint", testConcurrentDisjoint},
	{"SharedSamples", testConcurrentSamples},
}

// result holds what one operation left in its operands, and its scalar results.
type result struct {
	name  string
	bytes []byte
}

// results downloads the operands of calls that have run and adds their scalar results.
func (e *env) results(calls []call, scalars [][]float64) []result {
	e.Helper()
	list := make([]result, len(calls))
	for i, c := range calls {
		r := result{name: c.name}
		for j, a := range c.args {
			buf := a.buffer()
			if buf == nil {
				continue
			}
			raw := e.bytes(*buf)
			if c.mask != nil {
				t := (*buf).DType()
				v := decode(t, raw)
				c.mask(j, v)
				raw = encode(t, v)
			}
			r.bytes = append(r.bytes, raw...)
		}
		r.bytes = append(r.bytes, encode(backend.Float64, scalars[i])...)
		list[i] = r
	}
	return list
}

// transcript runs every operation once, one after the other, and returns the results.
func (e *env) transcript(z dims) []result {
	e.Helper()
	calls := e.calls(z)
	return e.results(calls, got(runAll(calls, nil, nil))(e))
}

// runAll runs the calls in the given order, or as listed if order is nil, calls then after each of them, if it is not
// nil, and returns their scalar results.
func runAll(calls []call, order []int, then func() error) ([][]float64, error) {
	scalars := make([][]float64, len(calls))
	for i := range calls {
		j := i
		if order != nil {
			j = order[i]
		}
		var err error
		if scalars[j], err = calls[j].run(); err != nil {
			return nil, fmt.Errorf("%s: %w", calls[j].name, err)
		}
		if then != nil {
			if err := then(); err != nil {
				return nil, err
			}
		}
	}
	return scalars, nil
}

func (e *env) compare(what string, got, want []result) {
	e.Helper()
	for i := range want {
		if !bytes.Equal(got[i].bytes, want[i].bytes) {
			e.failf("%s: %s differs from byte %d of %d on", what, want[i].name,
				firstDifference(got[i].bytes, want[i].bytes), len(want[i].bytes))
		}
	}
}

func identical(t TB, seed uint64, opens ...backend.Open) {
	var first []result
	for i, open := range opens {
		e := newEnv(t, open, Tolerances{}, seed, "identical")
		list := e.transcript(largeDims)
		if i == 0 {
			first = list
		}
		e.compare(fmt.Sprintf("device %d against device 0", i), list, first)
		e.finish()
	}
}

// testConcurrentDisjoint lets goroutines run every operation on operands of
// their own, each in another order, with allocations and transfers in between,
// and compares with a sequential run.
func testConcurrentDisjoint(e *env) {
	const workers = 6
	z := dims{m: 40, n: 33, k: 21, length: 6000, stack: 3, blocks: 9, tasks: 4, samples: 300, d: 50,
		conv: backend.ConvShape{Height: 8, Width: 7, Channels: 3, Filters: 20}}
	seed := e.rng.Uint64()
	worker := func(i int) *env {
		return &env{TB: e.TB, dev: e.dev, q: e.q, open: e.open, tol: e.tol, rng: testrand.Stream(seed, fmt.Sprint(i))}
	}
	var envs [workers]*env
	var want [workers][]result
	var calls [workers][]call
	for i := range workers {
		w := worker(i)
		want[i] = w.transcript(z)
		w.flush()
	}
	for i := range workers {
		envs[i] = worker(i)
		calls[i] = envs[i].calls(z)
	}
	var scalars [workers][][]float64
	var group errgroup.Group
	for i := range workers {
		group.Go(func() (err error) {
			rng := testrand.Stream(seed, fmt.Sprint("order ", i))
			scalars[i], err = runAll(calls[i], rng.Perm(len(calls[i])), func() error { return churn(e.q, rng) })
			return err
		})
	}
	e.must(group.Wait())
	for i, w := range envs {
		e.compare(fmt.Sprintf("goroutine %d against a sequential run", i), w.results(calls[i], scalars[i]), want[i])
		w.flush()
	}
}

// churn uploads random bytes to a short-lived buffer and checks that they come back unchanged.
func churn(q backend.Queue, rng *rand.Rand) error {
	sent := make([]byte, 1+rng.IntN(4000))
	for i := range sent {
		sent[i] = byte(rng.Uint32())
	}
	buf, err := q.Alloc(backend.Uint8, len(sent))
	if err != nil {
		return err
	}
	defer buf.Free()
	back := make([]byte, len(sent))
	if err := errors.Join(q.Upload(buf, 0, sent), q.Download(back, buf, 0)); err != nil {
		return err
	}
	if !bytes.Equal(sent, back) {
		return fmt.Errorf("a buffer of %d bytes came back changed", len(sent))
	}
	return nil
}

// testConcurrentSamples lets several goroutines read the same Samples and the same p.
func testConcurrentSamples(e *env) {
	const workers, tasks, d = 8, 5, 70
	pb := e.newProblem(problemSpec{d: d, counts: split(e.rng, 2000, tasks), pools: stored})
	p := e.in("p", backend.Float32, normal(e.rng, backend.Float32, tasks, d))
	var qs []backend.Matrix
	var losses []backend.Vector
	for range workers {
		qs = append(qs, e.out("q", backend.Float32, tasks, d))
		losses = append(losses, e.outVec("loss", backend.Float64, tasks))
	}
	var group errgroup.Group
	for i := range workers {
		group.Go(func() (err error) {
			for range 5 {
				err = cmp.Or(err, e.q.TaskGradient(pb.samples, p, backend.Vector{}, qs[i], backend.Vector{}, losses[i]))
			}
			return err
		})
	}
	e.must(group.Wait())
	for i := range workers {
		e.same("q", e.read(qs[i]).v, e.read(qs[0]).v)
		e.same("loss", e.readVec(losses[i]), e.readVec(losses[0]))
	}
	if slices.ContainsFunc(e.readVec(losses[0]), math.IsNaN) {
		e.failf("the loss is NaN")
	}
}
