package corrupt

import (
	"math"
	"math/rand/v2"
)

// dottedLine adds a dashed line from column 0 to column 27 between two random
// rows.
func dottedLine(dst, src *image, rng *rand.Rand) {
	ink := dots(rng.IntN(lineRows), rng.IntN(lineRows))
	ink.addTo(dst, src)
}

// zigzag adds a zigzag line from a random row of column 2 to a row -5 to 4 rows
// off in column 25.
func zigzag(dst, src *image, rng *rand.Rand) {
	ink := zigzagInk(rng.IntN(lineRows), rng.IntN(10)-5)
	ink.addTo(dst, src)
}

// lineRows is the number of rows that a line can start from: all but the last.
const lineRows = side - 1

// dots inks the line from row r0 to row r1 in dashes two columns wide, the first
// of them in columns 2 and 3.
func dots(r0, r1 int) (ink field) {
	ink.line(0, float64(r0), side-1, float64(r1))
	for i := range ink {
		if i%side/2%2 == 0 {
			ink[i] = 0
		}
	}
	return ink
}

// zigzagInk inks a zigzag about the axis from (column 2, row r0) to (column 25,
// row r0 + drop). Its six corners lie at 2, 6, ..., 22 pixels along the axis, in
// turn 2 below and 2 above it. The last stroke ends beside the end of the axis,
// above it by 1 / (distance from the last crossing, which is at 20): a quirk of
// the published generator, as measured on its output.
func zigzagInk(r0, drop int) (ink field) {
	const (
		first, last = 2, 25
		corners     = 6
		pitch       = 4 // from corner to corner along the axis
	)
	length := math.Hypot(last-first, float64(drop))
	alongX, alongY := (last-first)/length, float64(drop)/length
	x, y := float64(first), float64(r0)
	stroke := func(along, below float64) {
		nextX := first + along*alongX - below*alongY
		nextY := float64(r0) + along*alongY + below*alongX
		ink.line(x, y, nextX, nextY)
		x, y = nextX, nextY
	}
	below := 2.0
	for k := range corners {
		stroke(float64(pitch*k+pitch/2), below)
		below = -below
	}
	stroke(length, -1/(length-pitch*(corners-1)))
	return ink
}

// line inks the columns from floor(x0) up to, not including, ceil(x1) of the line
// through (x0, y0) and (x1, y1), x0 < x1.
func (ink *field) line(x0, y0, x1, y1 float64) {
	slope := (y1 - y0) / (x1 - x0)
	for col := max(0, int(math.Floor(x0))); col < min(side, int(math.Ceil(x1))); col++ {
		y := y0 + slope*(float64(col)-x0)
		for row := max(0, int(y-inkReach)); row < min(side, int(y+inkReach)+1); row++ {
			ink[row*side+col] += inkAt(math.Abs(float64(row) - y))
		}
	}
}

// inkDecay and inkReach: the ink at vertical distance d from the line is
// 1 + log(1 - d / 2.3), which is 0 at 2.3 (1 - 1/e) = 1.45 pixels.
const (
	inkDecay = 2.3
	inkReach = inkDecay * (1 - 1/math.E)
)

func inkAt(d float64) float64 {
	if d >= inkReach {
		return 0
	}
	return 1 + math.Log(1-d/inkDecay)
}

// addTo adds the ink, 1 for white, to an image.
func (ink *field) addTo(dst, src *image) {
	for i, v := range src {
		dst[i] = grey(float64(v) + 255*ink[i])
	}
}
