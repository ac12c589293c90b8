package report

import (
	"fmt"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/runs"
)

// leastSeeds is how many seeds say how much shares differ from one to the next.
const leastSeeds = 3

func (d *sweepData) moves() bool { return len(d.id.Seeds) >= leastSeeds }

// Stability is a table of the at most top sources with the largest mean shares over the seeds of the sweep of one target in a folder, at
// its largest budget: their least and largest share, and in how many seeds each has one of the five largest. It is empty of fewer than
// three seeds, of several targets, and where nothing is drawn.
func Stability(dir string, id *runs.Identity, s *runs.Summary, top int, f Format) (string, error) {
	if len(id.Targets) != 1 || len(id.Seeds) < leastSeeds {
		return "", nil
	}
	d, err := readSweep(dir, id, s)
	if err != nil || !d.anyDrawn() {
		return "", err
	}
	t := d.targets[0]
	strongest := t.strongest(top)
	table := Table{
		Title: fmt.Sprintf("the %d of %s with the largest mean shares (%s), over %s%s", len(strongest),
			text.Several(len(d.sources), "source"), d.methods[0], text.Several(t.seeds, "seed"), d.atBudget()),
		Header: []string{"source", "share", "least to largest", "in the first five", "samples"},
		Right:  []int{1, 2, 3, 4},
	}
	for _, m := range strongest {
		ends := fmt.Sprintf("%.1f to %s", 100*t.least[m], percent(t.most[m]))
		table.Rows = append(table.Rows, []string{d.sources[m], percent(t.shares[m]), ends, fmt.Sprintf("%.0f of %d", t.five[m], t.seeds),
			Count(t.samples[m])})
	}
	return table.Render(f), nil
}
