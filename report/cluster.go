package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/report/chart"
)

// clusterOrder returns an order of items in which those with similar profiles stand together. It merges clusters by
// average linkage: the distance of two clusters is the mean distance of their items, and that of two items is 1 minus
// the cosine of their profiles. Each merged pair is turned so that the ends that meet are as near as possible. It takes
// time in the third power of the number of items.
func clusterOrder(profiles [][]float64) []int {
	n := len(profiles)
	norms := make([]float64, n)
	for i, p := range profiles {
		norms[i] = floats.Norm(p, 2)
	}
	between := make([][]float64, n) // distances of items
	for i := range between {
		between[i] = make([]float64, n)
		for j := range i {
			d := 1.0
			if norms[i] > 0 && norms[j] > 0 {
				d = 1 - floats.Dot(profiles[i], profiles[j])/(norms[i]*norms[j])
			}
			if math.IsNaN(d) { // where a product overflows
				d = 1
			}
			between[i][j], between[j][i] = d, d
		}
	}
	distance := make([][]float64, n) // distances of clusters
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

// join concatenates two ordered clusters, of which it may reverse either, so that the ends that meet are as near as
// possible.
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

// groups returns labels for items in an order. Where there are more names than fit and all have two parts, a label
// stands for neighbours with the same first or the same last part, whichever makes fewer labels, and those of fewer
// than least items are left out. Otherwise each name is a label, or one in every few where there are more than fit.
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
