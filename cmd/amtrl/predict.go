package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

type predictOptions struct {
	dir                      string
	files                    []string
	out, features, id, label flags.Value[string]
	vectors, join, method    flags.Value[string]
	embed                    flags.Value[bool]
	device                   deviceOptions
	output
}

func (o *predictOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.features, "features",
		"`COLUMN` of lists, or columns of numbers or patterns of them such as f*, separated by commas; a name that\n"+
			"holds one alone or in double quotes; by default those of the run", "")
	set.Text(&o.vectors, "vectors",
		"`FILES` of the features of the rows, .npy or .safetensors, one for each file of rows, separated by commas as\nfor --features", "")
	set.Text(&o.join, "join", "with --vectors: row, vectors in the order of the rows, or id, by their ids", table.JoinRow)
	set.Text(&o.id, "id", "`COLUMN` of the ids of rows; by default that of the run, or the number of the row", "")
	set.Text(&o.label, "label", "`COLUMN` of labels to compare with; by default that of the run, where the rows have it", "")
	set.Group(groupModel)
	set.Text(&o.method, "method", "`METHOD` of the run whose model predicts, such as uniform or target; by default the recommended one", "")
	o.device.addFlags(set)
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FILE` to write, whose ending .parquet, .csv or .jsonl tells the format, or - for CSV on standard "+
		"output (required)", "")
	set.Bool(&o.embed, "embed", "write phi, the representation of each row, in place of predictions")
	o.addJSON(set, "how predictions compare with labels")
	o.addQuiet(set)
	o.addFormat(set)
}

func (o *predictOptions) readArguments(c *cli.Context) error {
	if c.NArg() < 2 {
		return flags.Misuse("expected the folder of a run and files of rows, found %d arguments", c.NArg())
	}
	o.dir, o.files = c.Args().First(), c.Args().Tail()
	return nil
}

func (o *predictOptions) check() error {
	switch {
	case o.out.V == "":
		return flags.Required(o.out, "the file to write")
	case o.embed.V && o.label.Given:
		return flags.Misuse("--label does nothing with --embed")
	case o.vectors.V == "" && o.join.Given:
		return flags.Misuse("--join does nothing without --vectors")
	case o.out.V == stdout && o.json.V:
		return flags.Misuse("--json and --out - both print on standard output: name a file with --out")
	}
	if _, err := table.NewWriter(o.out.V, nil); err != nil && o.out.V != stdout {
		return flags.Misuse("--out: %s", err)
	}
	return cmp.Or(o.device.check(), flags.OneOf(o.join, table.JoinRow, table.JoinID), o.output.check())
}

// stdout is the name of standard output.
const stdout = "-"

func (o *predictOptions) run(ctx context.Context) error {
	data := dataOf(o.dir)
	if study.Is(o.dir) {
		s, err := study.Open(o.dir)
		if err != nil {
			return err
		}
		data = s.Settings.Data.Path
		if o.dir, err = s.LatestRound(); err != nil {
			return err
		}
	}
	files, err := expandFolders(o.files)
	if err != nil {
		return err
	}
	features, err := columnNames(o.features, files[0])
	if err != nil {
		return err
	}
	vectors, err := fileNames(o.vectors)
	if err != nil {
		return err
	}
	choice, err := o.device.open(o.device.threads.V, &o.output)
	if err != nil {
		return err
	}
	defer choice.Device.Close()
	q, err := choice.Device.NewQueue()
	if err != nil {
		return err
	}
	defer q.Close()
	p, notes := &importProgress{out: &o.output}, predictNotes{}
	var to io.Writer
	if o.out.V == stdout {
		to = os.Stdout
	}
	found, err := runs.Predict(ctx, q, runs.Prediction{
		Dir: o.dir, Method: o.method.V, Files: files, Out: o.out.V, To: to,
		Features: features, ID: o.id.V, Label: o.label.V, Embed: o.embed.V,
		Vectors: vectors, Join: o.join.V,
		Filled: notes.addFilled, Far: notes.addFar, Scaled: notes.addScaled, Unknown: notes.addUnknown,
		Strangers: func(s runs.Strangers) {
			o.note("note: the model is for %s %q, and %s of %s rows are of others, the first of %q", text.OneLine(s.Column, 80),
				text.OneLine(s.Target, 80), report.Count(float64(s.Rows)), report.Count(float64(s.All)), text.OneLine(s.First, 80))
		},
	}, func(done, total int64) { p.step(done, total, "predicting") })
	p.meter.close()
	if err != nil {
		return interruptedImport(err)
	}
	notes.print(&o.output)
	if own := ownFile(data, files); own != "" && len(found) > 0 {
		o.note("note: %s is a file of the run's own data: rows that the model has learned from are predicted better than new ones",
			text.OneLine(own, 200))
	}
	var parts []string
	for _, e := range found {
		parts = append(parts, report.Evaluation(e, o.format))
	}
	if text := strings.Join(parts, "\n"); to == nil {
		o.note("wrote %s", o.out.V)
		return o.emitEither(found, text)
	} else if text != "" {
		o.note("%s", strings.TrimSuffix(text, "\n"))
	}
	return nil
}

// dataOf returns the data of a run as they were given, or an empty string where its folder does not say.
func dataOf(dir string) string {
	words, _ := runs.ReadFlags(dir)
	for _, w := range words {
		if data, is := strings.CutPrefix(w, "--data="); is {
			return data
		}
	}
	return ""
}

// ownFile returns the first of the files that is among those of a manifest, or an empty string where none is, or the manifest cannot be
// read.
func ownFile(data string, files []string) string {
	m, err := manifest.Read(data)
	if err != nil {
		return ""
	}
	inputs, err := m.Inputs()
	if err != nil {
		return ""
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		for _, in := range inputs {
			if of, err := os.Stat(in.Path); err == nil && os.SameFile(info, of) {
				return file
			}
		}
	}
	return ""
}

// predictNotes collects what is odd about the predicted rows, by column.
type predictNotes struct {
	filled                         []dataset.FilledColumn
	unknown, far, outside, lacking []string
	scaled                         float64 // how many times as large the vectors are as the run's; 0 if about the same size
}

func (n *predictNotes) addFilled(column string, cells, rows int64) {
	if n.filled = append(n.filled, dataset.FilledColumn{Column: column, Cells: cells}); cells == rows {
		n.lacking = append(n.lacking, text.OneLine(column, 80))
	}
}

func (n *predictNotes) addFar(c runs.FarColumn) {
	name, low, high := text.OneLine(c.Name, 80), text.Digits(c.Low), text.Digits(c.High)
	if c.Rows > 0 {
		n.far = append(n.far, fmt.Sprintf("%s (%s, the first %s; the samples have %s to %s)", name, text.Several(int(c.Rows), "row"),
			text.Digits(c.First), low, high))
	}
	if c.Outside > 0 {
		n.outside = append(n.outside, fmt.Sprintf("%s (%s, outside of %s to %s)", name, text.Several(int(c.Outside), "row"), low, high))
	}
}

func (n *predictNotes) addScaled(times float64) { n.scaled = times }

func (n *predictNotes) addUnknown(column, word string, rows int64) {
	n.unknown = append(n.unknown, fmt.Sprintf("%s (%s, such as %q)", column, text.Several(int(rows), "row"), text.OneLine(word, 80)))
}

func (n *predictNotes) print(to *output) {
	if len(n.filled) > 0 {
		to.note("filled missing cells with the means of the run: %s", filledText(n.filled))
	}
	if len(n.lacking) > 0 {
		to.note("all rows lack what some rows of the data of the run have: %s", strings.Join(n.lacking, ", "))
	}
	if len(n.unknown) > 0 {
		to.note("words that the data of the run have not, which count as none: %s", strings.Join(n.unknown, ", "))
	}
	if n.scaled > 0 {
		to.note("the vectors of these rows are %s times as large as those that the model learned from: expected the same units",
			text.Digits(n.scaled))
	}
	if len(n.far) > 0 {
		to.note("far outside of the target's samples, so that predictions are a guess there: %s", text.List(n.far, mostListed))
	}
	if len(n.outside) > 0 {
		to.note("many rows lie outside of the target's samples; the error that the run states is not of such rows: %s",
			text.List(n.outside, mostListed))
	}
}
