package vec

import "math"

func convGeneric(p *ConvProduct) {
	for r := range p.M {
		c := p.C[r*Panel:][:Panel]
		if !p.Add {
			clear(c)
		}
		b := p.B
		for s := range p.Segs {
			at := r/3*p.Group + r%3*p.Row + s*p.Jump
			for range p.N {
				x, row := p.A[at], b[:Panel]
				for j := range c {
					c[j] += x * row[j]
				}
				b, at = b[Panel:], at+p.Col
			}
		}
	}
}

// window returns the four vectors of window j in the order of arg.
func window(j int, top, bottom []float32) [4][]float32 {
	at := 2 * j * Panel
	return [4][]float32{top[at:][:Panel], top[at+Panel:][:Panel], bottom[at:][:Panel], bottom[at+Panel:][:Panel]}
}

func poolGeneric(w int, top, bottom, bias, y []float32, ys int, arg []uint8, as int) {
	for j := range w {
		win, out, index := window(j, top, bottom), y[j*ys:][:Panel], arg[j*as:][:Panel]
		for f := range Panel {
			best, at := win[0][f]+bias[f], uint8(0)
			for q := uint8(1); q < 4; q++ {
				if v := win[q][f] + bias[f]; v > best {
					best, at = v, q
				}
			}
			if !(best > 0) {
				best, at = 0, 4
			}
			out[f], index[f] = best, at
		}
	}
}

func unpoolGeneric(w int, dy []float32, ys int, arg []uint8, as int, top, bottom, db []float32) {
	for j := range w {
		win, d, index := window(j, top, bottom), dy[j*ys:][:Panel], arg[j*as:][:Panel]
		for f := range Panel {
			for q := range win {
				win[q][f] = 0
			}
			if index[f] < 4 {
				win[index[f]][f] = d[f]
				db[f] += d[f]
			}
		}
	}
}

func adamGeneric(r *AdamRates, g, m, v, theta []float32) {
	for i, x := range g {
		m[i] = r.Beta1*m[i] + r.Rest1*x
		v[i] = r.Beta2*v[i] + r.Rest2*(x*x)
		root := float32(math.Sqrt(float64(r.Correct2 * v[i])))
		theta[i] -= r.Pull*theta[i] + r.Rate*m[i]/(root+r.Epsilon)
	}
}
