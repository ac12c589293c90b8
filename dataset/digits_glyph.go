package dataset

import (
	"math"
	"sync"
)

// glyph is the signed distance to a digit's outline, sampled on a square grid in glyph units. Thresholding it draws the digit with any
// stroke weight and under any affine map.
type glyph struct {
	rows, cols int
	origin     point // position of cell (0, 0)
	dist       []float32
	width      float64 // of the bounding box, whose height is 1
	stroke     float64 // mean stroke width
}

const (
	glyphCells  = 64  // grid cells per glyph unit
	glyphMargin = 0.2 // glyph units around the bounding box
	glyphTile   = 8   // cells along a side of a tile
)

// digitGlyphs returns the glyphs of all faces: digit c of face f is at 10f+c. They are made once.
var digitGlyphs = sync.OnceValues(func() ([]glyph, error) {
	faces := digitFaces()
	outlines := make([]outline, 0, 10*len(faces))
	for _, ttf := range faces {
		o, err := loadOutlines(ttf)
		if err != nil {
			return nil, err
		}
		outlines = append(outlines, o...)
	}
	glyphs := make([]glyph, len(outlines))
	inParallel(len(glyphs), 0, func(i int) { glyphs[i] = newGlyph(&outlines[i]) })
	return glyphs, nil
})

func newGlyph(o *outline) glyph {
	g := glyph{
		rows:   int(math.Ceil((1+2*glyphMargin)*glyphCells)) + 1,
		cols:   int(math.Ceil((o.width+2*glyphMargin)*glyphCells)) + 1,
		origin: point{-o.width/2 - glyphMargin, -0.5 - glyphMargin},
		width:  o.width,
		stroke: o.stroke,
	}
	g.dist = make([]float32, g.rows*g.cols)
	for i := 0; i < g.rows; i += glyphTile {
		for j := 0; j < g.cols; j += glyphTile {
			g.fill(o, i, j)
		}
	}
	return g
}

// cell returns the position of cell (i, j) of the grid.
func (g *glyph) cell(i, j float64) point {
	return point{g.origin.x + j/glyphCells, g.origin.y + i/glyphCells}
}

// fill computes the distances of a tile of cells, the first of which is (row, col). All cells lie within radius of the tile's centre. This
// bounds the edges that can be the nearest to one of them, and where the outline stays further than radius from the centre, all cells are
// on one side of it.
func (g *glyph) fill(o *outline, row, col int) {
	const half, radius = float64(glyphTile-1) / 2, math.Sqrt2 * glyphTile / 2 / glyphCells
	centre := g.cell(float64(row)+half, float64(col)+half)
	reach := math.Sqrt(nearest(o.edges, centre))
	var edges []edge
	for _, e := range o.edges {
		if math.Sqrt(e.square(centre)) <= reach+2*radius {
			edges = append(edges, e)
		}
	}
	inside := o.inside(centre)
	for i := row; i < min(row+glyphTile, g.rows); i++ {
		for j := col; j < min(col+glyphTile, g.cols); j++ {
			p := g.cell(float64(i), float64(j))
			if reach <= radius {
				inside = o.inside(p)
			}
			g.dist[i*g.cols+j] = float32(signed(nearest(edges, p), inside))
		}
	}
}

// at interpolates the signed distance at p. Outside the grid it is
// -glyphMargin: far from the digit.
func (g *glyph) at(p point) float64 {
	x, y := (p.x-g.origin.x)*glyphCells, (p.y-g.origin.y)*glyphCells
	if !(x >= 0 && y >= 0 && x < float64(g.cols-1) && y < float64(g.rows-1)) {
		return -glyphMargin
	}
	j, i := int(x), int(y)
	u, v := x-float64(j), y-float64(i)
	d := g.dist[i*g.cols+j:]
	below := d[g.cols:]
	top := float64(d[0]) + u*(float64(d[1])-float64(d[0]))
	bottom := float64(below[0]) + u*(float64(below[1])-float64(below[0]))
	return top + v*(bottom-top)
}
