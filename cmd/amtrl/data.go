package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
)

// makeOptions holds the options that the commands which write a data set share.
type makeOptions struct {
	threads flags.Value[int]
	out     flags.Value[string]
	output
}

func (o *makeOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FOLDER` to write (required)", "")
	o.addQuiet(set)
	set.Group(groupDevice)
	set.Int(&o.threads, "threads", "threads to generate with, 0 for all processors; the data do not depend on it", 0)
}

func (o *makeOptions) check() error {
	return cmp.Or(flags.Required(o.out, "the folder to write"), flags.Between(o.threads, 0, maxThreads))
}

func (o *makeOptions) write(names []string, images [][]uint8, labels []uint8) error {
	if err := dataset.WriteLayout(o.out.V, names, images, labels); err != nil {
		return err
	}
	o.note("wrote %s under %s to %s", text.Several(len(labels), "image"), text.Several(len(names), "corruption"), o.out.V)
	return nil
}

type digitsOptions struct {
	digits flags.Value[int]
	seed   flags.Value[uint64]
	makeOptions
}

func (o *digitsOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Int(&o.digits, "digits", "number of base images", defaultDigits).Aliases = []string{"n"}
	set.Seed(&o.seed, "data-seed", "what to generate them from")
	o.makeOptions.addFlags(set)
}

func (o *digitsOptions) check() error {
	return cmp.Or(o.makeOptions.check(), checkDigits(o.digits))
}

func (o *digitsOptions) run(ctx context.Context) error {
	set, err := unlessInterrupted(ctx, func() (*dataset.Set, error) {
		return dataset.Digits(o.seed.V, o.digits.V, processors(o.threads.V))
	})
	if err != nil {
		return err
	}
	labels, err := dataset.DigitLabels(o.digits.V, o.seed.V)
	if err != nil {
		return err
	}
	var names []string
	var images [][]uint8
	for _, p := range set.Pools {
		names, images = append(names, p.Name), append(images, p.U8)
	}
	return o.write(names, images, labels)
}

type infoOptions struct {
	data dataOptions
	output
}

func (o *infoOptions) addFlags(set *flags.Set) {
	o.data.addFlags(set)
	o.addGroup(set, "the description", o.addQuiet, o.addFormat)
}

func (o *infoOptions) readArguments(c *cli.Context) error {
	switch dir := c.Args().First(); {
	case c.NArg() > 1:
		return flags.Misuse("expected at most one folder, found %d arguments", c.NArg())
	case c.NArg() == 0:
	case o.data.data.Given:
		return flags.Misuse("--data and the folder %q exclude each other", dir)
	case dir == dataDigits || isSynthetic(dir):
		o.data.data.V = "." + string(filepath.Separator) + dir
	default:
		o.data.data.V = dir
	}
	return nil
}

func (o *infoOptions) check() error { return cmp.Or(o.data.check(), o.output.check()) }

func (o *infoOptions) run(ctx context.Context) error {
	o.data.verify = true
	set, err := o.data.open(ctx, 0, &o.output)
	if err != nil {
		return err
	}
	done := o.noteLate("computing the hash of the data")
	d, err := unlessInterrupted(ctx, func() (dataset.Description, error) { return set.Describe(), nil })
	done()
	if err != nil {
		return err
	}
	if o.json.V {
		return o.emitJSON(d)
	}
	var tasks []string
	for _, t := range d.Tasks {
		tasks = append(tasks, t.Name)
	}
	facts := report.Table{Header: []string{"data", d.Name}, Rows: [][]string{
		{"sha256", d.SHA256},
		{"labels", d.Labels},
		{"width of a row", strconv.Itoa(d.Cols)},
		{"size", fmt.Sprintf("%.1f MiB", float64(d.Bytes)/(1<<20))},
		{"tasks", fmt.Sprintf("%s: %s", text.Count(len(d.Tasks)), text.List(tasks, mostListed))},
	}}
	if len(d.Filled) > 0 {
		facts.Rows = append(facts.Rows, []string{"filled", "missing cells, with the mean of the column: " + filledText(d.Filled)})
	}
	if c := set.Columns; c != nil && len(c.Centre) > 0 {
		facts.Rows = append(facts.Rows, []string{"features", featureFacts(c)})
	}
	pools := poolTable(d)
	if slices.ContainsFunc(d.Tasks, func(t dataset.TaskDescription) bool { return t.Output != "" }) {
		pools = sourceTable(d)
	}
	return o.emit(facts.Render(o.format) + "\n" + pools.Render(o.format))
}

// poolTable returns the table of the pools, for data whose rows all have labels.
func poolTable(d dataset.Description) report.Table {
	pools := report.Table{Header: []string{"pool", "rows", "type", "image", "tasks", "train", "test"}, Right: []int{1, 4, 5, 6}}
	for _, p := range d.Pools {
		image := "-"
		if p.Height > 0 {
			sides := []int{p.Height, p.Width}
			if p.Channels > 1 {
				sides = append(sides, p.Channels)
			}
			image = table.Sides(sides)
		}
		pools.Rows = append(pools.Rows, []string{p.Name, text.Count(p.Rows), p.Type, image, text.Count(p.Tasks),
			text.Count(p.Train), text.Count(p.Test)})
	}
	return pools
}

// sourceTable returns the table of the sources of a user's own data: for each source the number of labelled rows, and
// of rows in each class or the range of its numbers.
func sourceTable(d dataset.Description) report.Table {
	t := report.Table{Header: []string{"source", "rows", "labelled", "train", "test", "cost", "labels"}, Right: []int{1, 2, 3, 4, 5}}
	grouped := slices.ContainsFunc(d.Pools, func(p dataset.PoolDescription) bool { return p.Groups > 0 })
	if grouped {
		t.Header, t.Right = slices.Insert(t.Header, 3, "in groups"), append(t.Right, 6)
	}
	for _, p := range d.Pools {
		name := p.Name
		if p.Target {
			name += " (target)"
		}
		var labels, columns []string
		for _, task := range d.Tasks {
			if task.Pool == p.Name && !slices.Contains(columns, task.Output) {
				columns = append(columns, task.Output)
			}
		}
		for _, task := range d.Tasks {
			switch {
			case task.Pool != p.Name:
			case task.Numbers != nil:
				n := task.Numbers
				labels = append(labels, fmt.Sprintf("%s %s to %s, mean %s", task.Output, text.Digits(n.Low), text.Digits(n.High), text.Digits(n.Mean)))
			case task.Class == "":
				labels = append(labels, task.Output)
			case len(columns) > 1:
				labels = append(labels, task.Output+": "+task.Class+" "+text.Count(task.Positive))
			default:
				labels = append(labels, task.Class+" "+text.Count(task.Positive))
			}
		}
		t.Rows = append(t.Rows, []string{name, text.Count(p.Rows), text.Count(p.Labelled), text.Count(p.Train), text.Count(p.Test),
			text.Number(p.Cost), text.List(labels, mostListed)})
		if last := &t.Rows[len(t.Rows)-1]; grouped {
			*last = slices.Insert(*last, 3, text.Count(p.Groups))
		}
	}
	return t
}

// filledText lists the columns that had missing cells, each with their number.
func filledText(columns []dataset.FilledColumn) string {
	var parts []string
	for _, c := range columns {
		parts = append(parts, c.Column+" "+text.Count(c.Cells))
	}
	return text.List(parts, mostListed)
}

// featureFacts describes the features of a table whose columns have units of their own: how many columns, logarithms, knots, products,
// words and indicators of missing cells there are.
func featureFacts(c *dataset.Columns) string {
	knots, words, missing := c.Derived.Knots.Count(), table.CountWords(c.Words), 0
	products := c.Derived.Products()
	for _, w := range c.Words {
		if w.OfMissing() {
			words, missing = words-1, missing+1
		}
	}
	facts := text.Several(len(c.Centre)-c.Derived.Count()-words-missing-len(c.Logs), "column")
	if n := len(c.Logs); n > 0 {
		facts += " and " + text.Several(n, "logarithm")
	}
	facts += ", each brought to mean 0 and spread 1"
	if knots > 0 {
		facts += ", whose effects bend at " + text.Several(knots, "knot")
	}
	if products > 0 {
		facts += ", with " + text.Several(products, "product") + " of two columns"
	}
	if words > 0 {
		facts += "; " + text.Several(words, "word")
	}
	if missing > 0 {
		facts += "; " + text.Several(missing, "feature") + " of what is missing"
	}
	return facts
}
