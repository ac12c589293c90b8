//go:build linux

package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
)

// row is one line of the table. Figures that were not measured are 0.
type row struct {
	Section string  `json:"section"`
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds,omitempty"`
	// Bytes are those that one repetition moves.
	Bytes float64 `json:"bytes,omitempty"`
	// GBs is Bytes per second in units of 10^9, Share that as a fraction of what
	// copying reaches on the same device in the same run.
	GBs   float64 `json:"gb_per_s,omitempty"`
	Share float64 `json:"share_of_copy,omitempty"`
	// Ratio is Seconds over those of amtrl's row of the section.
	Ratio       float64 `json:"time_over_amtrl,omitempty"`
	Evaluations float64 `json:"evaluations,omitempty"`
	// Note says how, Failed why there are no figures.
	Note   string `json:"note,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// report is the table and what it was measured on.
type report struct {
	Date    string       `json:"date"`
	Device  backend.Info `json:"device"`
	Threads int          `json:"threads"`
	Rows    []row        `json:"rows"`
}

// add appends a row with the figures that follow from the others.
func (w *bench) add(r row) {
	if r.Bytes > 0 && r.Seconds > 0 {
		r.GBs = r.Bytes / r.Seconds / 1e9
		if w.bandwidth > 0 {
			r.Share = r.Bytes / r.Seconds / w.bandwidth
		}
	}
	w.report.Rows = append(w.report.Rows, r)
}

func (p *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s, %s (%s), %s, %d threads\n", p.Date, p.Device.Device, p.Device.Backend, p.Device.Detail, p.Threads)
	t := compare.NewTable("", "time", "GB/s", "of copying", "evaluations", "time / amtrl", "")
	t.SetOutputMirror(out)
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 7, WidthMax: 60}})
	section := ""
	for _, r := range p.Rows {
		if r.Section != section {
			if section != "" {
				t.AppendSeparator()
			}
			t.AppendRow(table.Row{r.Section})
			section = r.Section
		}
		if r.Failed != "" {
			t.AppendRow(table.Row{"  " + r.Name, "", "", "", "", "", r.Failed})
			continue
		}
		t.AppendRow(table.Row{
			"  " + r.Name, duration(r.Seconds), some(r.GBs, "%.4g"), some(100*r.Share, "%.3g %%"),
			some(r.Evaluations, "%.4g"), some(r.Ratio, "%.3g"), r.Note,
		})
	}
	t.Render()
}

// some formats v, or nothing where it is 0.
func some(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

func duration(s float64) string {
	switch {
	case s == 0:
		return ""
	case s < 1e-3:
		return fmt.Sprintf("%.4g us", 1e6*s)
	case s < 1:
		return fmt.Sprintf("%.4g ms", 1e3*s)
	}
	return fmt.Sprintf("%.4g s", s)
}
