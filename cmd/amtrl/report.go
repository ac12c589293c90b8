package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/pipeline"
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
	set.Text(&o.format, "format", "html, or the same as text: markdown, json, or csv with a line for each number", reportHTML)
	set.Text(&o.figures, "figures", "also write each figure as SVG and PNG, and its numbers as CSV, into this `FOLDER`", "")
	o.addQuiet(set)
}

func (o *reportOptions) readArguments(c *cli.Context) error {
	return takeArguments(c, "expected one argument, the folder of a run, a sweep or a study, found %d", &o.dir)
}

func (o *reportOptions) check() error {
	if o.format.V == string(report.Text) && !o.format.Given {
		o.format.V = reportHTML // AMTRL_FORMAT speaks of tables
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
		if out = "-"; o.format.V == reportHTML {
			out = filepath.Join(o.dir, "report.html")
		}
	}
	if out == "-" {
		return o.emit(string(content))
	}
	if err := atomicfile.Write(out, content); err != nil {
		return err
	}
	o.note("wrote %s", out)
	return nil
}

func readPage(dir string) (*report.Page, error) {
	kind, err := runs.KindOf(dir)
	if err != nil {
		return nil, err
	}
	switch kind {
	case runs.KindStudy:
		l, err := study.ReadLearned(dir)
		if err != nil {
			return nil, err
		}
		return report.StudyPage(l, "amtrl study verify "+batch.ShellQuote(dir)), nil
	case runs.KindSweep:
		id, s, err := runs.ReadSweep(dir)
		if err != nil {
			return nil, err
		}
		return report.SweepPage(dir, &id, s, repeatCommand("sweep", &id))
	}
	f, err := runs.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	return report.RunPage(f, repeatCommand("run", &f.Identity)), nil
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

// reportHint names the command that makes a page of a folder.
func reportHint(dir string) string {
	return fmt.Sprintf("to look at it: amtrl report %s\n", batch.ShellQuote(dir))
}

// repeatCommand is the command of a folder's work: every setting that differs from the preset's. The data have their
// name, which is not always the path that leads to them; files of costs and of relevance are not known.
func repeatCommand(command string, id *runs.Identity) string {
	words := []string{"amtrl", command}
	if command == "run" {
		words = append(words, "--target", id.Targets[0], "--seed", fmt.Sprint(id.Seeds[0]))
	} else {
		all := id.Data.Tasks
		if id.Config.Sources == pipeline.SourcesPools {
			all = id.Data.Pools
		}
		if len(id.Targets) < all {
			words = append(words, "--targets", strings.Join(id.Targets, ","))
		}
		words = append(words, "--seeds", strings.Join(texts(id.Seeds), ","))
		if len(id.Budgets) > 0 {
			words = append(words, "--budgets", strings.Join(texts(id.Budgets), ","))
		}
	}
	if id.Data.Name != embeddedDigits {
		words = append(words, "--data", id.Data.Name)
	}
	cfg := id.Config.Complete(nil)
	preset, err := pipeline.NewConfig(cmp.Or(cfg.Preset, pipeline.PresetDefault))
	if err != nil {
		return batch.ShellCommand(words)
	}
	preset = preset.Complete(nil)
	if cfg.Preset != pipeline.PresetDefault {
		words = append(words, "--preset", cfg.Preset)
	}
	if cfg.Sources != "" {
		words = append(words, "--sources", cfg.Sources)
	}
	for _, s := range allSettings() {
		if command == "sweep" && (s == &budgetSetting || s == &scheduleSetting && len(id.Budgets) > 0) {
			continue
		}
		if !s.active(&cfg) || s.active(&preset) && s.show(&cfg) == s.show(&preset) {
			continue
		}
		words = append(words, "--"+s.name+"="+s.show(&cfg))
	}
	if id.Backend.Backend != "" {
		words = append(words, "--backend", id.Backend.Backend)
	}
	return batch.ShellCommand(words)
}

const embeddedDigits = "embedded digits"
