package report

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

// leastSeeds is the smallest number of seeds that shows how much shares differ from seed to seed.
const leastSeeds = 3

func (d *sweepData) moves() bool { return len(d.id.Seeds) >= leastSeeds }

// SourceStability describes how much the share of a source differs between the seeds of a sweep with one target.
type SourceStability struct {
	Source string `json:"source"`
	// Share and Samples are means over the seeds, Least and Most are the extremes of the share, and InFirstFive is the
	// number of Seeds in which the source has one of the five largest shares.
	Share       float64 `json:"share"`
	Least       float64 `json:"least"`
	Most        float64 `json:"most"`
	InFirstFive int     `json:"in_first_five"`
	Seeds       int     `json:"seeds"`
	Samples     float64 `json:"samples"`
}

// Stability returns at most top sources with the largest mean shares over the seeds of a sweep with one target in the
// folder dir, at its largest budget, and a table of them. It returns nothing for fewer than three seeds, for several
// targets, and where nothing is drawn.
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
	all := len(d.sources) <= firstFive // the column of the first five then says nothing
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
