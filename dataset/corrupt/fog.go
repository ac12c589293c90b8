package corrupt

import (
	"math/rand/v2"
	"sync"
)

// fog adds the top left corner of a plasma p in [0, 1], three times as bright as a white pixel, and rescales the sum:
// (v + 3 p) max(v) / (max(v) + 3), v in [0, 1].
func fog(dst, src *image, rng *rand.Rand) {
	const strength = 3
	brightest := uint8(0)
	for _, v := range src {
		brightest = max(brightest, v)
	}
	top := float64(brightest) / 255
	gain := top / (top + strength)

	p := plasmas.Get().(*plasma)
	defer plasmas.Put(p)
	p.fill(rng)
	low, high := p.bounds()
	var unit float64
	if high > low {
		unit = strength * 255 / float64(high-low)
	}
	for i, v := range src {
		haze := float64(p[i/side][i%side]-low) * unit
		dst[i] = grey((float64(v) + haze) * gain)
	}
}

const plasmaSide = 256

// plasma is a fractal height map that continues periodically in both axes.
type plasma [plasmaSide][plasmaSide]float32

var plasmas = sync.Pool{New: func() any { return new(plasma) }}

// fill makes the map by the diamond-square algorithm, from the corner, which has height 0, to ever finer grids. Each new point is the mean
// of its four neighbours plus uniform noise in +-w^2, where w is 100 at first and is divided by 1.4 at each halving of the grid.
func (p *plasma) fill(rng *rand.Rand) {
	const mask = plasmaSide - 1
	var buffer [plasmaSide]float32
	p[0][0] = 0
	w := float32(100)
	for step := plasmaSide; step > 1; step /= 2 {
		half := step / 2
		noise := buffer[:plasmaSide/step]
		// The centres of the squares.
		for r := half; r < plasmaSide; r += step {
			uniform(noise, w*w, rng)
			above, row, below := &p[r-half], &p[r], &p[(r+half)&mask]
			for i, e := range noise {
				left, right := i*step, (i*step+step)&mask
				row[left+half] = (above[left]+above[right]+below[left]+below[right])/4 + e
			}
		}
		// The middles of their sides.
		for r := 0; r < plasmaSide; r += half {
			uniform(noise, w*w, rng)
			above, row, below := &p[(r-half)&mask], &p[r], &p[(r+half)&mask]
			first := half &^ r
			for i, e := range noise {
				c := i*step + first
				row[c] = (above[c]+below[c]+row[(c-half)&mask]+row[(c+half)&mask])/4 + e
			}
		}
		w /= 1.4
	}
}

func (p *plasma) bounds() (low, high float32) {
	low, high = p[0][0], p[0][0]
	for r := range p {
		for _, h := range p[r] {
			if h < low {
				low = h
			} else if h > high {
				high = h
			}
		}
	}
	return low, high
}

// uniform fills dst with uniform numbers in +-scale, two from each word of the stream.
func uniform(dst []float32, scale float32, rng *rand.Rand) {
	unit := scale / (1 << 31)
	var word uint64
	for i := range dst {
		if i%2 == 0 {
			word = rng.Uint64()
		}
		dst[i] = float32(int32(word)) * unit
		word >>= 32
	}
}
