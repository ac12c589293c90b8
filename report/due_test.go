package report

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Where a share is not due to nu, the printed table and the card of the page say so.
func TestDueTo(t *testing.T) {
	for _, c := range []struct {
		by   []string
		want string
	}{
		{[]string{"", ""}, ""},
		{[]string{"", pipeline.ByExploration}, "due to exploration"},
		{[]string{pipeline.ByExploration, pipeline.ByExploration, ""}, "due to exploration"},
		{[]string{"", pipeline.ByEven}, "a part that is spread evenly"},
		{[]string{pipeline.ByEven, pipeline.ByEven}, "Nothing tells the sources apart"},
	} {
		var sources []runs.SourceResult
		for i, by := range c.by {
			share := 1 / float64(len(c.by)+1)
			if i == 0 { // twice as large as the others
				share *= 2
			}
			sources = append(sources, runs.SourceResult{Source: string(rune('a' + i)), Share: share, By: by})
		}
		got := DueTo(sources, sources)
		must.Hold(t, strings.Contains(got, c.want) && (got == "") == (c.want == ""), "%q: %q", c.by, got)
		r := &runs.Result{Sources: sources, Methods: []runs.MethodResult{{Method: pipeline.Active, Score: pipeline.Score{Metric: "error"}}}}
		must.Hold(t, strings.Contains(Result(r, 5, Text), c.want), "the table lacks %q", c.want)
		page := &runPage{Finished: &runs.Finished{Result: *r}, metric: "error"}
		a := page.answer()
		said := ""
		for _, line := range append([]Sentence{a.Headline}, a.Lines...) {
			for _, cell := range line {
				said += cell.Text
			}
		}
		must.Hold(t, strings.Contains(said, c.want), "the card lacks %q: %s", c.want, said)
		must.Hold(t, strings.HasPrefix(said, "Spread the next labels evenly") == (c.want == "Nothing tells the sources apart"), "%s", said)
	}
}

// Sources with about the same shares are not ranked, unless rows are left in one of them alone.
func TestHeadlineOfAlikeSources(t *testing.T) {
	for want, shares := range map[string][]float64{
		"Spread the next labels evenly": {0.26, 0.25, 0.25, 0.24},
		"Label next: a":                 {0.31, 0.23, 0.23, 0.23},
		"Label next: b":                 {0, 1},
	} {
		r := &runs.Result{Methods: []runs.MethodResult{{Method: pipeline.Active, Score: pipeline.Score{Metric: "error"}}}}
		for i, share := range shares {
			r.Sources = append(r.Sources, runs.SourceResult{Source: string(rune('a' + i)), Share: share, AllDrawn: share == 0})
		}
		said := ""
		for _, cell := range (&runPage{Finished: &runs.Finished{Result: *r}, metric: "error"}).answer().Headline {
			said += cell.Text
		}
		must.Hold(t, strings.HasPrefix(said, want), "shares of %v: %s", shares, said)
	}
}
