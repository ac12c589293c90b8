package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

const (
	reportHTML     = "html"
	reportMarkdown = "markdown"
	reportJSON     = "json"
	reportCSV      = "csv"
)

type reportOptions struct {
	dir                  string
	out, figures, format flags.Value[string]
	output
}

func (o *reportOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FILE` to write; - is standard output", "").DefaultText =
		"report.html in the folder, standard output for other formats"
	set.Text(&o.format, "format", "html, or the same as text: markdown, json, or csv with a line for each cell of its tables", reportHTML)
	set.Text(&o.figures, "figures", "also write each figure as SVG and PNG, and its numbers as CSV, into this `FOLDER`", "")
	o.addQuiet(set)
}

func (o *reportOptions) readArguments(c *cli.Context) error {
	return takeArguments(c, "expected one argument, the folder of a run, a sweep or a study, found %d", &o.dir)
}

func (o *reportOptions) check() error {
	if o.format.V == string(report.Text) && !o.format.Given {
		o.format.V = reportHTML // AMTRL_FORMAT is meant for tables
	}
	return flags.OneOf(o.format, reportHTML, reportMarkdown, reportJSON, reportCSV)
}

func (o *reportOptions) run(context.Context) error {
	page, err := readPage(o.dir)
	if err != nil {
		return err
	}
	if o.figures.V != "" {
		if err := page.WriteFigures(o.figures.V); err != nil {
			return err
		}
		o.note("wrote the figures to %s", o.figures.V)
	}
	content, err := writePage(page, o.format.V)
	if err != nil {
		return err
	}
	out := o.out.V
	if out == "" {
		if out = stdout; o.format.V == reportHTML {
			out = filepath.Join(o.dir, "report.html")
		}
	}
	if out == stdout {
		return o.emit(string(content))
	}
	if err := atomicfile.WriteThrough(out, content); err != nil {
		return err
	}
	o.note("wrote %s", out)
	return nil
}

func readPage(dir string) (*report.Page, error) {
	kind, err := runs.KindOf(dir)
	if err != nil && batch.IsRun(dir) {
		sweep := filepath.Join(dir, batch.SweepDir)
		if _, err := runs.KindOf(sweep); err == nil {
			return nil, fmt.Errorf("%s is a run folder of batch jobs: expected its sweep: amtrl report %s", dir, text.ShellQuote(sweep))
		}
		return nil, fmt.Errorf("%s is a run folder of batch jobs: expected its sweep, %s, which amtrl collect %s writes", dir, sweep,
			text.ShellQuote(dir))
	}
	if err != nil {
		return nil, err
	}
	switch kind {
	case runs.KindStudy:
		l, err := study.ReadLearned(dir)
		if err != nil {
			return nil, learnedError(dir, err)
		}
		return report.StudyPage(l, "amtrl study verify "+text.ShellQuote(dir)), nil
	case runs.KindSweep:
		id, s, err := runs.ReadSweep(dir)
		if err != nil {
			return nil, err
		}
		words, err := runs.ReadFlags(dir)
		if err != nil {
			return nil, err
		}
		return report.SweepPage(dir, &id, s, repeatCommand("sweep", &id, words))
	}
	f, err := runs.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	words, err := runs.ReadFlags(dir)
	if err != nil {
		return nil, err
	}
	return report.RunPage(f, repeatCommand("run", &f.Identity, words)), nil
}

func writePage(p *report.Page, format string) ([]byte, error) {
	switch format {
	case reportMarkdown:
		return []byte(p.Markdown()), nil
	case reportJSON:
		return p.JSON()
	case reportCSV:
		return p.CSV()
	}
	return p.HTML()
}

// folderLines returns a line with a folder, of what kind is, and one with the command that makes a page of it.
func folderLines(kind, dir string, format report.Format) string {
	return report.Lines(format, kind+" folder: "+dir, "to look at it: amtrl report "+text.ShellQuote(dir))
}
