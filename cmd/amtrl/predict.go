package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

type predictOptions struct {
	dir                   string
	files                 []string
	out, also             flags.Value[string]
	features, id, label   flags.Value[string]
	vectors, join, method flags.Value[string]
	encoding              flags.Value[string]
	embed                 flags.Value[bool]
	device                deviceOptions
	output
}

func (o *predictOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.features, "features",
		"`COLUMNS` of lists or of numbers, or patterns of them such as f*, separated by commas; a name that\n"+
			"holds one alone or in double quotes; by default those of the run", "")
	set.Text(&o.vectors, "vectors",
		"`FILES` of the features of the rows, .npy or .safetensors, one for each file of rows, separated by commas as\nfor --features", "")
	set.Text(&o.join, "join", "with --vectors: row, vectors in the order of the rows, or id, by their ids", table.JoinRow)
	set.Text(&o.id, "id", "`COLUMN` of the ids of rows; by default that of the run, or the number of the row", "")
	set.Text(&o.label, "label", "`COLUMN` of labels to compare with; by default that of the run, where the rows have it", "")
	addEncoding(set, &o.encoding)
	set.Group(groupModel)
	set.Text(&o.method, "method", "`METHOD` of the run whose model predicts, such as uniform or target; by default the recommended one", "")
	o.device.addFlags(set)
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FILE` to write, whose ending .parquet, .csv or .jsonl tells the format, or - for CSV on standard "+
		"output (required)", "")
	set.Text(&o.also, "also", "another `FILE` to write, such as one of another format", "")
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
	if _, err := table.NewWriter(o.also.V, nil); err != nil && o.also.V != "" {
		return flags.Misuse("--also: %s", err)
	}
	if o.also.V != "" && sameFile(o.also.V, o.out.V) {
		return flags.Misuse("--also %s is --out: expected another file", o.also.V)
	}
	return cmp.Or(checkEncoding(o.encoding), o.device.check(), flags.OneOf(o.join, table.JoinRow, table.JoinID), o.output.check())
}

// stdout is the name of standard output, and stdin that of standard input.
const stdout, stdin = "-", "-"

func (o *predictOptions) run(ctx context.Context) error {
	data := dataOf(o.dir)
	if study.Is(o.dir) {
		s, err := study.Open(o.dir)
		if err != nil {
			return err
		}
		data = s.Settings.Data.Path
		last, err := s.LatestRound()
		if err != nil {
			return learnedError(o.dir, err)
		}
		o.dir = last
	}
	files, input, err := readStandardInput(ctx, o.files)
	if err != nil {
		return err
	}
	defer input.remove()
	if files, err = expandFolders(files); err != nil {
		return input.fault(err)
	}
	features, err := columnNames(o.features, files[0], o.encoding.V)
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
		Dir: o.dir, Method: o.method.V, Files: files, Out: o.out.V, To: to, Also: o.also.V,
		Features: features, ID: o.id.V, Label: o.label.V, Embed: o.embed.V,
		Vectors: vectors, Join: o.join.V, Encoding: o.encoding.V,
		Filled: notes.addFilled, Far: notes.addFar, Scaled: notes.addScaled, Unknown: notes.addUnknown, Blank: notes.addBlank,
		Read: notes.addRead,
		Strangers: func(s runs.Strangers) {
			o.note("note: the model is for %s %q, and %s of %s rows are of others, the first of %q", text.OneLine(s.Column, 80),
				text.OneLine(s.Target, 80), report.Count(float64(s.Rows)), report.Count(float64(s.All)), text.OneLine(s.First, 80))
		},
	}, func(done, total int64) { p.step(done, total, "predicting") })
	p.meter.close()
	if err != nil {
		return input.fault(interruptedImport(err))
	}
	input.places(found, &notes.read)
	notes.print(&o.output)
	if own := ownFile(data, files); own != "" && len(found) > 0 {
		o.note("note: %s is a file of the run's own data: rows that the model has learned from are predicted better than new ones",
			text.OneLine(own, 200))
	}
	if o.also.V != "" {
		o.note("wrote %s", o.also.V)
	}
	var parts []string
	for _, e := range found {
		parts = append(parts, report.Evaluation(e, o.format))
	}
	if text := strings.Join(parts, "\n"); to == nil {
		o.note("wrote %s", o.out.V)
		return o.emitEither(found, wrapped(text))
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

// sameFile reports whether two paths are one place.
func sameFile(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return cmp.Or(errA, errB) == nil && a == b
}
