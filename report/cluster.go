package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/report/chart"
)

// clusterOrder orders items so that those with like profiles stand together: clusters are joined by the mean distance of
// their items (average linkage), the distance being 1 less the cosine of two profiles, and each joined pair is turned so
// that its ends which meet are the nearest. It takes time of the third power of the number of items.
func clusterOrder(profiles [][]float64) []int {
	n := len(profiles)
	norms := make([]float64, n)
	for i, p := range profiles {
		norms[i] = floats.Norm(p, 2)
	}
	between := make([][]float64, n) // items
	for i := range between {
		between[i] = make([]float64, n)
		for j := range i {
			d := 1.0
			if norms[i] > 0 && norms[j] > 0 {
				d = 1 - floats.Dot(profiles[i], profiles[j])/(norms[i]*norms[j])
			}
			if math.IsNaN(d) { // of numbers whose squares are none
				d = 1
			}
			between[i][j], between[j][i] = d, d
		}
	}
	distance := make([][]float64, n) // clusters
	clusters := make([][]int, n)
	for i := range clusters {
		clusters[i], distance[i] = []int{i}, slices.Clone(between[i])
	}
	for range n - 1 {
		a, b, least := -1, -1, math.Inf(1)
		for i := range clusters {
			for j := range i {
				if clusters[i] != nil && clusters[j] != nil && distance[i][j] < least {
					a, b, least = j, i, distance[i][j]
				}
			}
		}
		na, nb := float64(len(clusters[a])), float64(len(clusters[b]))
		for k := range clusters {
			d := (na*distance[a][k] + nb*distance[b][k]) / (na + nb)
			distance[a][k], distance[k][a] = d, d
		}
		clusters[a], clusters[b] = join(clusters[a], clusters[b], between), nil
	}
	for _, c := range clusters {
		if c != nil {
			return c
		}
	}
	return nil
}

// join puts two ordered clusters together.
func join(a, b []int, between [][]float64) []int {
	var best []int
	least := math.Inf(1)
	for turn := range 4 {
		x, y := a, b
		if turn&1 != 0 {
			x = slices.Clone(x)
			slices.Reverse(x)
		}
		if turn&2 != 0 {
			y = slices.Clone(y)
			slices.Reverse(y)
		}
		if d := between[x[len(x)-1]][y[0]]; d < least {
			best, least = slices.Concat(x, y), d
		}
	}
	return best
}

// groups names the runs of an order: where names have two parts, those of neighbours with the same first or the same last
// part, whichever makes fewer runs; else each name, or every so many where there are more than fit.
func groups(names []string) []chart.Group {
	const fit, least = 40, 3
	var byPart [2][]chart.Group
	for part := range byPart {
		for i, n := range names {
			before, behind, ok := cutLast(n)
			if !ok {
				byPart[part] = nil
				break
			}
			label := before + "_…"
			if part == 1 {
				label = "…_" + behind
			}
			g := byPart[part]
			if len(g) > 0 && g[len(g)-1].Name == label {
				g[len(g)-1].To = i + 1
			} else {
				byPart[part] = append(g, chart.Group{Name: label, From: i, To: i + 1})
			}
		}
	}
	if len(names) > fit && byPart[0] != nil {
		fewer := byPart[0]
		if len(byPart[1]) < len(fewer) {
			fewer = byPart[1]
		}
		return slices.DeleteFunc(fewer, func(g chart.Group) bool { return g.To-g.From < least })
	}
	step := (len(names) + fit - 1) / fit
	var out []chart.Group
	for i := 0; i < len(names); i += max(1, step) {
		out = append(out, chart.Group{Name: oneLine(names[i]), From: i, To: i + 1})
	}
	return out
}
