package vec

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// TestConv compares Conv with sums in float64 over the elements that its strides address.
func TestConv(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for range 200 {
			p := &ConvProduct{
				M: 1 + a.rng.IntN(60), Segs: 1 + a.rng.IntN(3), N: 1 + a.rng.IntN(40),
				Row: a.rng.IntN(9), Group: a.rng.IntN(20), Jump: a.rng.IntN(50), Col: 1 + a.rng.IntN(5),
				Add: a.rng.IntN(2) == 0,
			}
			at := func(r, s, n int) int { return r/3*p.Group + r%3*p.Row + s*p.Jump + n*p.Col }
			last := (p.M + ConvRowBlock - 1) / ConvRowBlock * ConvRowBlock
			p.A = fill(a, at(last, p.Segs-1, p.N-1)+3*p.Row+1, normal32)
			p.B, p.C = fill(a, p.Segs*p.N*Panel, normal32), fill(a, p.M*Panel, normal32)
			old := append([]float32(nil), p.C...)
			if !p.Add {
				for i := range p.C {
					p.C[i] = float32(math.NaN())
				}
			}
			Conv(p)
			for i, got := range p.C {
				var sum, size float64
				if p.Add {
					sum, size = float64(old[i]), math.Abs(float64(old[i]))
				}
				for s := range p.Segs {
					for n := range p.N {
						v := float64(p.A[at(i/Panel, s, n)]) * float64(p.B[(s*p.N+n)*Panel+i%Panel])
						sum += v
						size += math.Abs(v)
					}
				}
				if tol := float64(p.Segs*p.N+2) * eps * size; !near(float64(got), sum, tol) {
					t.Fatalf("%+v: C[%d,%d] = %v, expected %v", p, i/Panel, i%Panel, got, sum)
				}
			}
			a.done()
		}
		Conv(&ConvProduct{})
		none := &ConvProduct{M: 2, C: []float32{31: 0}}
		none.C[0] = float32(math.NaN())
		Conv(none)
		if none.C[0] != 0 {
			t.Fatalf("a product of no terms is %v", none.C[0])
		}
	})
}

// coarse draws from few values, so that ties are common.
func coarse(r *rand.Rand) float32 { return float32(r.IntN(7)-4) / 2 }

// TestPool checks that Pool and Unpool give the bits of their generic versions.
func TestPool(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, draw := range []func(*rand.Rand) float32{normal32, coarse} {
			for w := range 20 {
				ys, as := Panel+a.rng.IntN(30), Panel+a.rng.IntN(30)
				top, bottom, bias := fill(a, 2*w*Panel, draw), fill(a, 2*w*Panel, draw), fill(a, Panel, draw)
				n, na := max(0, (w-1)*ys+Panel), max(0, (w-1)*as+Panel)
				y, arg := fill(a, n, normal32), fill(a, na, anyU8)
				wantY, wantArg := append([]float32(nil), y...), bytes.Clone(arg)
				Pool(w, top, bottom, bias, y, ys, arg, as)
				poolGeneric(w, top, bottom, bias, wantY, ys, wantArg, as)
				if !sameBits(y, wantY) || !bytes.Equal(arg, wantArg) {
					t.Fatalf("%d windows: pooled to %v %v, expected %v %v", w, y, arg, wantY, wantArg)
				}
				for j := range w { // any byte above 4 counts as 4
					if a.rng.IntN(3) == 0 {
						arg[j*as+a.rng.IntN(Panel)] = uint8(4 + a.rng.IntN(252))
					}
				}
				db := fill(a, Panel, normal32)
				wantTop, wantBottom, wantDB := make([]float32, len(top)), make([]float32, len(top)), append([]float32(nil), db...)
				Unpool(w, y, ys, arg, as, top, bottom, db)
				unpoolGeneric(w, y, ys, arg, as, wantTop, wantBottom, wantDB)
				if !sameBits(top, wantTop) || !sameBits(bottom, wantBottom) || !sameBits(db, wantDB) {
					t.Fatalf("%d windows: spread to %v %v %v, expected %v %v %v", w, top, bottom, db, wantTop, wantBottom, wantDB)
				}
				a.done()
			}
		}
	})
}

func TestAdamStep(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, n := range lengths {
			r := AdamRates{0.9, 0.1, 0.99, 0.01, 1 + a.rng.Float32(), 1e-3, a.rng.Float32(), 0.01}
			g, m, theta := fill(a, n, normal32), fill(a, n, normal32), fill(a, n, normal32)
			v := fill(a, n, func(r *rand.Rand) float32 { return r.Float32() })
			m0, v0, theta0 := append([]float32(nil), m...), append([]float32(nil), v...), append([]float32(nil), theta...)
			AdamStep(&r, g, m, v, theta)
			for i := range n {
				wm := float64(r.Beta1)*float64(m0[i]) + float64(r.Rest1)*float64(g[i])
				wv := float64(r.Beta2)*float64(v0[i]) + float64(r.Rest2)*float64(g[i])*float64(g[i])
				step := float64(r.Pull)*float64(theta0[i]) + float64(r.Rate)*wm/(math.Sqrt(float64(r.Correct2)*wv)+float64(r.Epsilon))
				wt := float64(theta0[i]) - step
				size := math.Abs(float64(theta0[i])) + math.Abs(float64(r.Rate)/(math.Sqrt(wv)+float64(r.Epsilon)))*(math.Abs(wm)+1)
				if !near(float64(m[i]), wm, 4*eps*(math.Abs(float64(m0[i]))+1+math.Abs(float64(g[i])))) || !near(float64(v[i]), wv, 6*eps*wv) ||
					!near(float64(theta[i]), wt, 16*eps*size) {
					t.Fatalf("n %d: element %d became %v %v %v, expected %v %v %v", n, i, m[i], v[i], theta[i], wm, wv, wt)
				}
			}
			a.done()
		}
	})
}

// BenchmarkConv measures the second layer of the default network on one image of 14 by 14 by 16 with 32 filters,
// forward and both gradients.
func BenchmarkConv(b *testing.B) {
	const pitch, c, m = 16, 16, 14*16 - 2
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = normal32(rng)
		}
		return v
	}
	x, w, out := draw(16*pitch*32+1000), draw(9*32*Panel), draw(m*Panel)
	da := draw(16*pitch*Panel + 1000)
	for _, s := range []struct {
		name string
		p    ConvProduct
	}{
		{"forward", ConvProduct{M: m, Segs: 3, N: 3 * c, Row: c, Group: 3 * c, Jump: pitch * c, Col: 1, A: x, B: w, C: out}},
		{"dw", ConvProduct{M: 3 * c, Segs: 1, N: m, Row: 1, Group: 3, Col: c, A: x, B: da, C: draw(3 * c * Panel), Add: true}},
	} {
		b.Run(s.name, func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				for b.Loop() {
					Conv(&s.p)
				}
				b.ReportMetric(2*float64(s.p.M*s.p.Segs*s.p.N*Panel)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
			})
		})
	}
	b.Run("pool", func(b *testing.B) {
		arg := make([]uint8, 7*32)
		y := make([]float32, 7*32)
		eachLevelB(b, func(b *testing.B) {
			for b.Loop() {
				Pool(7, out, out[pitch*Panel:], w, y, 32, arg, 32)
			}
		})
	})
	b.Run("adam", func(b *testing.B) {
		g, mm, v, th := draw(100_000), draw(100_000), make([]float32, 100_000), draw(100_000)
		r := AdamRates{0.9, 0.1, 0.99, 0.01, 1, 1e-3, 1e-3, 0.01}
		eachLevelB(b, func(b *testing.B) {
			for b.Loop() {
				AdamStep(&r, g, mm, v, th)
			}
		})
	})
}
