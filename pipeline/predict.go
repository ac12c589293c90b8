package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
)

// Predict writes the outputs of N rows, of D features each, to y, row after row; y has room for N by C numbers. Outputs
// are in the units of the labels, or, where the predictor classifies, the log-odds of a class against all others, up to
// a constant that the classes of one column may have in common. The class predicted for a column is the one with the
// largest output. The only output of a column predicts its class where it is above 0, or above 0.5 where it is not
// log-odds. PredictLabels of package runs returns the classes and their scores. Only Rows, Cols, Scale and the elements
// of rows are used. A row with a feature that is NaN has outputs that are NaN; other features are at most 1e18
// in magnitude, as [dataset.Set.Validate] demands of a set.
func (p *Predictor) Predict(rows *dataset.Pool, y []float32) error {
	p.using.Lock()
	defer p.using.Unlock()
	if err := p.check(rows, p.C, len(y)); err != nil {
		return err
	}
	if p.beside.parts == nil || slices.Min(p.beside.parts) < 1 {
		if err := p.predictHeads(rows, y); err != nil {
			return err
		}
	}
	if p.beside.forest != nil {
		p.addTrees(rows, y)
	}
	if p.beside.kernel != nil {
		return p.addKernel(rows, y)
	}
	return nil
}

// predictHeads is Predict by the heads alone.
func (p *Predictor) predictHeads(rows *dataset.Pool, y []float32) error {
	if p.net == nil && p.C <= maxDotOutputs {
		return p.predictDots(rows, y)
	}
	tmp := backend.NewScope(p.queue)
	defer tmp.Close()
	x, err := p.inUnits(rows)
	if err != nil {
		return err
	}
	defer x.Buf.Free()
	out, beta := tmp.Matrix(backend.Float32, rows.Rows, p.C), 0.0
	if p.net != nil {
		z := tmp.Matrix(backend.Float32, rows.Rows, p.K)
		if err := tmp.Err(); err != nil {
			return err
		}
		if err := p.embed(x, z); err != nil {
			return err
		}
		if err := p.queue.Gemm(false, true, 1, z, p.head, 0, out); err != nil {
			return err
		}
		beta = 1
	}
	if err := tmp.Err(); err != nil {
		return err
	}
	if p.direct.Buf != nil {
		if err := p.queue.Gemm(false, true, 1, x, p.direct, beta, out); err != nil {
			return err
		}
	}
	y = y[:rows.Rows*p.C]
	if err := backend.Get(p.queue, y, out.Buf, 0); err != nil {
		return err
	}
	for i, v := range y {
		c := i % p.C
		y[i] = float32(float64(p.unit[c]) * (float64(v) + p.bias[c]))
	}
	return nil
}

// treeRowsAtOnce is the number of rows that one goroutine predicts by trees before it takes others.
const treeRowsAtOnce = 512

// addTrees adds the part of trees to predictions y of the heads, on the CPU.
func (p *Predictor) addTrees(rows *dataset.Pool, y []float32) {
	var work errgroup.Group
	work.SetLimit(p.threads)
	for first := 0; first < rows.Rows; first += treeRowsAtOnce {
		work.Go(func() error {
			x, predicted := make([]float32, p.D), make([]float64, p.C)
			for i := first; i < min(rows.Rows, first+treeRowsAtOnce); i++ {
				rows.ReadRow(i, x)
				for j, c := range p.centre {
					x[j] -= c
				}
				p.beside.forest.Predict(x, predicted)
				missing := slices.ContainsFunc(x, func(v float32) bool { return v != v })
				for c, v := range predicted {
					if missing {
						v = math.NaN()
					}
					to := &y[i*p.C+c]
					*to = withBeside(*to, float32(v), p.beside.parts[c])
				}
			}
			return nil
		})
	}
	_ = work.Wait() // no error
}

// addKernel adds the part of a kernel to predictions y of the heads.
func (p *Predictor) addKernel(rows *dataset.Pool, y []float32) error {
	predicted, err := p.beside.kernel.predict(p.queue, p.threads, rows.Rows, func(i int, x []float32) {
		rows.ReadRow(i, x)
		for j, c := range p.centre {
			x[j] -= c
		}
	})
	for i, v := range predicted {
		y[i] = withBeside(y[i], float32(v), p.beside.parts[i%p.C])
	}
	return err
}

// Classifies reports whether the outputs are log-odds.
func (p *Predictor) Classifies() bool { return p.logOdds }

// Embed writes phi of N rows, of D features each, to z, which has room for N by K numbers.
func (p *Predictor) Embed(rows *dataset.Pool, z []float32) error {
	p.using.Lock()
	defer p.using.Unlock()
	if err := p.check(rows, p.K, len(z)); err != nil {
		return err
	}
	x, err := p.inUnits(rows)
	if err != nil {
		return err
	}
	defer x.Buf.Free()
	tmp := backend.NewScope(p.queue)
	defer tmp.Close()
	phi := tmp.Matrix(backend.Float32, rows.Rows, p.K)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := p.embed(x, phi); err != nil {
		return err
	}
	return backend.Get(p.queue, z[:rows.Rows*p.K], phi.Buf, 0)
}

// embed writes phi of rows x, in the units of the model, to z.
func (p *Predictor) embed(x, z backend.Matrix) error {
	if p.net == nil {
		return p.queue.Gemm(false, true, 1, x, p.phi, 0, z)
	}
	n := x.Rows
	set := backend.SampleSet{
		Pools:      []backend.Pool{{Data: x, Scale: 1}},
		SourcePool: []int{0}, Offsets: []int{0, n}, Rows: upTo(n), Y: make([]float32, n),
	}
	s, err := p.queue.NewSamples(set)
	if err != nil {
		return err
	}
	defer s.Free()
	return p.net.features(s, z)
}

// inUnits converts rows to the units of the model and places them on the device. The caller frees them before anything
// else uses the predictor.
func (p *Predictor) inUnits(rows *dataset.Pool) (backend.Matrix, error) {
	scaled := len(p.inverse) > 1 || p.inverse[0] != 1
	if rows.F32 != nil && rows.Scale == 1 && p.centre == nil && !scaled {
		return p.place(rows)
	}
	n := rows.Rows * p.D
	p.host = slices.Grow(p.host[:0], n)[:n]
	for i := range rows.Rows {
		x := p.host[i*p.D : (i+1)*p.D]
		rows.ReadRow(i, x)
		for j, c := range p.centre {
			x[j] -= c
		}
		if scaled {
			for j := range x {
				x[j] *= p.inverse[min(j, len(p.inverse)-1)]
			}
		}
	}
	return p.place(&dataset.Pool{Rows: rows.Rows, Cols: p.D, F32: p.host, Scale: 1})
}

// place copies the elements of rows to the device, or lends them to a device that can read them where they are.
func (p *Predictor) place(rows *dataset.Pool) (m backend.Matrix, err error) {
	var buf backend.Buffer
	switch {
	case rows.U8 != nil:
		buf, err = lendRows(p.queue, backend.Uint8, rows.U8)
	case rows.F16 != nil:
		buf, err = lendRows(p.queue, backend.Float16, rows.F16)
	default:
		buf, err = lendRows(p.queue, backend.Float32, rows.F32)
	}
	if err != nil {
		return m, err
	}
	return backend.Mat(buf, rows.Rows, rows.Cols), nil
}

func lendRows[E backend.Element](q backend.Queue, t backend.DType, rows []E) (backend.Buffer, error) {
	if _, own := q.(backend.Limited); own {
		return backend.NewBuffer(q, t, rows)
	}
	return backend.Lend(q, t, rows)
}

// check returns an error if rows do not fit the model, or if there is room for fewer than each numbers per row.
func (p *Predictor) check(rows *dataset.Pool, each, room int) error {
	switch {
	case p.closed:
		return text.Mark(errors.New("the predictor is closed"), backend.ErrClosed)
	case rows == nil:
		return errors.New("expected rows, found nil")
	}
	if n := len(rows.U8) + len(rows.F16) + len(rows.F32); rows.Rows < 1 || rows.Cols != p.D || n != rows.Rows*p.D {
		return fmt.Errorf("expected rows of %d features, found %d of %d, %d numbers", p.D, rows.Rows, rows.Cols, n)
	}
	if !(rows.Scale > 0) {
		return fmt.Errorf("expected rows with a scale above 0, such as 1, found %v", rows.Scale)
	}
	if room/rows.Rows < each {
		return fmt.Errorf("expected room for %d numbers of each of %d rows, found %d", each, rows.Rows, room)
	}
	return nil
}
