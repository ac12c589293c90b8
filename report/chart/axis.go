package chart

import (
	"math"
	"slices"
)

// Axis describes an axis.
type Axis struct {
	// Name includes the unit, as in "error (%)".
	Name string
	// Text formats a value of the axis, and Beside one that stands beside others, with as many digits as these; nil is Text.
	Text, Beside func(float64) string
	// Log makes the axis logarithmic, for values above 0. Zero makes an axis that is not logarithmic include 0.
	Log, Zero bool
	// Whole reports that only whole numbers mean something.
	Whole bool
}

func (a Axis) beside(v float64) string {
	if a.Beside == nil {
		return a.Text(v)
	}
	return a.Beside(v)
}

// scale maps values in [lo, hi] to coordinates in [from, to].
type scale struct {
	lo, hi, from, to float64
	log              bool
	// step is the distance between ticks, 0 for one that is chosen to fit.
	step float64
}

// newScale returns a scale for values from lo to hi. Its ends are at ticks, unless the scale is logarithmic.
func (a Axis) newScale(lo, hi, from, to float64) scale {
	if a.Log {
		if hi <= lo*(1+1e-9) {
			lo, hi = lo/2, hi*2
		}
		return scale{lo, hi, from, to, true, 0}
	}
	if a.Zero {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	// Differences due to rounding do not count.
	if hi-lo <= 1e-9*max(math.Abs(lo), math.Abs(hi)) {
		pad := math.Abs(lo) * 0.1
		switch {
		case a.Whole:
			pad = max(pad, 1)
		case pad == 0:
			pad = 0.01
		}
		lo, hi = lo-pad, hi+pad
		if a.Zero {
			lo, hi = min(lo, 0), max(hi, 0)
		}
	}
	step := tickStep(lo, hi, 5, a.Whole)
	return scale{math.Floor(lo/step+1e-9) * step, math.Ceil(hi/step-1e-9) * step, from, to, false, step}
}

func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return s.from + (s.to-s.from)*(v-lo)/(hi-lo)
}

// tickStep returns 1, 2 or 5 times a power of ten, about the distance from lo to hi divided by want.
func tickStep(lo, hi float64, want int, whole bool) float64 {
	raw := (hi - lo) / float64(want)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*0.999 {
			step = m * power
			break
		}
	}
	if whole {
		step = max(step, 1)
	}
	return step
}

// ticks returns the values at which the scale has a mark.
func (s scale) ticks(want int, whole bool) []float64 {
	if !s.log {
		step := s.step
		if step == 0 {
			step = tickStep(s.lo, s.hi, want, whole)
		}
		var out []float64
		first := math.Ceil(s.lo/step - 1e-9)
		for i := range int(math.Floor(s.hi/step+1e-9)-first) + 1 {
			out = append(out, (first+float64(i))*step)
		}
		return out
	}
	first, last := math.Floor(math.Log10(s.lo)), math.Ceil(math.Log10(s.hi))
	// The densest ticks that leave room: some for each power of ten, or one for every few powers.
	for _, digits := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}} {
		var out []float64
		stride := 1.0
		if len(digits) == 1 {
			stride = math.Ceil((last - first) / float64(want))
		}
		for p := first; p <= last; p += stride {
			for _, d := range digits {
				if v := d * math.Pow(10, p); v >= s.lo*0.9999 && v <= s.hi*1.0001 {
					out = append(out, v)
				}
			}
		}
		if len(out) <= want+1 && len(out) > 1 {
			return out
		}
	}
	return scale{s.lo, s.hi, s.from, s.to, false, 0}.ticks(want, whole)
}

// plot is the area between the axes.
type plot struct{ left, top, right, bottom float64 }

// yAxis draws the numbers, the grid and the name of the vertical axis.
func (f *Figure) yAxis(p plot, a Axis, s scale) {
	for _, v := range s.ticks(5, a.Whole) {
		y := s.at(v)
		f.line(p.left, y, p.right, y, "grid")
		f.text(p.left-6, y+4, "tick", "end", a.Text(v))
	}
	f.yName(p, a.Name)
}

// yName draws the name of the vertical axis along it, if it has room.
func (f *Figure) yName(p plot, name string) {
	if textWidth(name) > p.bottom-p.top+2*min(p.top, 12) {
		return
	}
	f.printf(`<text transform="translate(13 %s)rotate(-90)" class="mute" text-anchor="middle">%s</text>`,
		num((p.top+p.bottom)/2), escape(name))
}

// xAxis draws the ticks, the numbers and the name of the horizontal axis, and the grid if asked. It leaves out numbers
// that would touch.
func (f *Figure) xAxis(p plot, a Axis, s scale, grid bool) {
	f.line(p.left, p.bottom, p.right, p.bottom, "axis")
	end := math.Inf(-1)
	for _, v := range s.ticks(6, a.Whole) {
		x, text := s.at(v), a.Text(v)
		if grid {
			f.line(x, p.top, x, p.bottom, "grid")
		}
		f.line(x, p.bottom, x, p.bottom+4, "axis")
		half := textWidth(text) / 2
		if x-half < end+6 || x+half > f.Width {
			continue
		}
		f.text(x, p.bottom+17, "tick", "middle", text)
		end = x + half
	}
	f.text((p.left+p.right)/2, p.bottom+35, "mute", "middle", a.Name)
}

// labelRoom returns the width that the numbers and the name of a vertical axis need.
func (a Axis) labelRoom(s scale) float64 {
	var texts []string
	for _, v := range s.ticks(5, a.Whole) {
		texts = append(texts, a.Text(v))
	}
	return widest(texts, 90) + 28
}

// bounds returns the least and the greatest finite value, 0 and 1 where there is none.
func bounds(values []float64) (lo, hi float64) {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(values) == 0 {
		return 0, 1
	}
	return slices.Min(values), slices.Max(values)
}
