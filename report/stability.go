package report

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

// leastSeeds is how many seeds say how much shares differ from one to the next.
const leastSeeds = 3

func (d *sweepData) moves() bool { return len(d.id.Seeds) >= leastSeeds }

// SourceStability is how much the share of a source differs between the seeds of the sweep of one target.
type SourceStability struct {
	Source string `json:"source"`
	// Share and Samples are means over the seeds, Least and Most the ends of the shares, InFirstFive in how many of
	// Seeds the source has one of the five largest.
	Share       float64 `json:"share"`
	Least       float64 `json:"least"`
	Most        float64 `json:"most"`
	InFirstFive int     `json:"in_first_five"`
	Seeds       int     `json:"seeds"`
	Samples     float64 `json:"samples"`
}

// Stability has the at most top sources with the largest mean shares over the seeds of the sweep of one target in a folder, at its largest
// budget. There are none of fewer than three seeds, of several targets, and where nothing is drawn. It returns them as a table too.
func Stability(dir string, id *runs.Identity, s *runs.Summary, top int, f Format) ([]SourceStability, string, error) {
	if len(id.Targets) != 1 || len(id.Seeds) < leastSeeds {
		return nil, "", nil
	}
	d, err := readSweep(dir, id, s)
	if err != nil || !d.anyDrawn() {
		return nil, "", err
	}
	t := d.targets[0]
	var out []SourceStability
	for _, m := range t.strongest(top) {
		out = append(out, SourceStability{d.sources[m], t.shares[m], t.least[m], t.most[m], int(t.five[m]), t.seeds, t.samples[m]})
	}
	table := Table{
		Title: fmt.Sprintf("the %d of %s with the largest mean shares (%s), over %s%s", len(out),
			text.Several(len(d.sources), "source"), d.methods[0], text.Several(t.seeds, "seed"), d.atBudget()),
		Header: []string{"source", "share", "least to largest", "in the first five", "samples"},
		Right:  []int{1, 2, 3, 4},
	}
	all := len(d.sources) <= firstFive // which says nothing
	if all {
		table.Header, table.Right = slices.Delete(table.Header, 3, 4), table.Right[:3]
	}
	for _, o := range out {
		row := []string{o.Source, percent(o.Share), fmt.Sprintf("%.1f to %s", 100*o.Least, percent(o.Most)),
			fmt.Sprintf("%d of %d", o.InFirstFive, o.Seeds), Count(o.Samples)}
		if all {
			row = slices.Delete(row, 3, 4)
		}
		table.Rows = append(table.Rows, row)
	}
	return out, table.Render(f), nil
}
