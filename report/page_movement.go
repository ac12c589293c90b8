package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/ranks"
	"github.com/amtrl/amtrl/report/chart"
)

// movement returns the part on how the order of the sources changed over the rounds.
func (r *runPage) movement() Part {
	n := len(r.rounds)
	sheet := Sheet{ID: "ranks-table", Columns: []string{"source"}}
	var standings [][]int
	var times []string
	for i, e := range r.rounds {
		standings, times = append(standings, rankOf(e.Nu)), append(times, strconv.Itoa(i+1))
		sheet.Columns = append(sheet.Columns, "place in round "+times[i])
	}
	order := make([]int, len(r.Sources))
	for m, place := range standings[n-1] {
		order[place-1] = m
	}
	var drawn []chart.Rank
	for k, m := range order {
		cells, row := []Cell{name(r.Sources[m])}, chart.Rank{Name: oneLine(r.Sources[m])}
		for i := range r.rounds {
			row.Places = append(row.Places, standings[i][m])
			cells = append(cells, whole(standings[i][m]))
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
		if k < mostRanks {
			drawn = append(drawn, row)
		}
	}
	moved := Sheet{ID: "correlation", Title: "rank correlation of relevance", Open: true,
		Columns: []string{"round", "with the round before", "with the last round"}}
	for i := range r.rounds {
		cells := []Cell{whole(i + 1), {}, correlation(r.rounds[i].Nu, r.rounds[n-1].Nu)}
		if i > 0 {
			cells[1] = correlation(r.rounds[i].Nu, r.rounds[i-1].Nu)
		}
		moved.Rows = append(moved.Rows, row1(cells...))
	}
	return Part{ID: "movement", Title: "How relevance moved", Sheets: []Sheet{moved},
		Text: []Sentence{say("Places are by the size of the relevance, the most relevant first. The rank correlation (Spearman) " +
			"over all sources is one where two rounds have the same order and zero where they have nothing in common.")},
		Figures: []Figure{{ID: "ranks", Sheet: sheet, Note: ofAll(len(drawn), len(order)), Chart: chart.Ranks(
			"Places of the most relevant sources",
			"A line for each of the sources that are the most relevant in the last round, through its places in all rounds.",
			"round", "place by relevance", times, drawn)}}}
}

// rankOf returns the rank of each source by |nu|, from 1; of equal ones the first comes first.
func rankOf(nu []float64) []int {
	places := make([]int, len(nu))
	for place, m := range falling(len(nu), func(i int) float64 { return math.Abs(nu[i]) }) {
		places[m] = place + 1
	}
	return places
}

// falling returns the indices 0 to n - 1 by descending value, equal values as they come.
func falling(n int, value func(i int) float64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	return order
}

// correlation returns a cell with [spearman] of a and b, empty where that is not a number.
func correlation(a, b []float64) Cell {
	if c := spearman(a, b); c == c {
		return places(c, 2)
	}
	return Cell{}
}

// spearman returns the correlation of the ranks of |a| and |b|, where equal values share the mean of their ranks, or NaN
// where all values of one are equal.
func spearman(a, b []float64) float64 {
	return ranks.Correlation(ranks.Of(sizes(a)), ranks.Of(sizes(b)))
}

func sizes(nu []float64) []float64 {
	out := make([]float64, len(nu))
	for i, v := range nu {
		out[i] = math.Abs(v)
	}
	return out
}
