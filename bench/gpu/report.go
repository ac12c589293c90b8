//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
)

// row is one line of the table. Figures that were not measured are 0.
type row struct {
	Section string  `json:"section"`
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds,omitempty"`
	// Work is the work of one repetition.
	Work work `json:"work"`
	// GBs is the rate of Work.Bytes in GB/s, Share this rate as a fraction of the rate of copying on the same device,
	// Roof the time that the device's peak rates allow divided by Seconds.
	GBs   float64 `json:"gb_per_s,omitempty"`
	Share float64 `json:"share_of_copy,omitempty"`
	Roof  float64 `json:"share_of_roofline,omitempty"`
	// Ratio is Seconds divided by the seconds of amtrl's row in the section.
	Ratio       float64 `json:"time_over_amtrl,omitempty"`
	Evaluations float64 `json:"evaluations,omitempty"`
	// Note says how the row was measured, Failed why there are no figures.
	Note   string `json:"note,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// part is one measurement.
type part struct {
	Name    string  `json:"name"`
	Date    string  `json:"date"`
	Seconds float64 `json:"seconds"`
	// Before and After are the clocks, where nvidia-smi reports them.
	Before *clocks `json:"clocks_before,omitempty"`
	After  *clocks `json:"clocks_after,omitempty"`
	// Graphs counts the graphs of recorded programs, on a CUDA device.
	Graphs *cuda.Graphs `json:"graphs,omitempty"`
	Rows   []row        `json:"rows,omitempty"`
	// Failed says why the measurement did not finish; the rows before the failure stay.
	Failed string `json:"failed,omitempty"`
	// Repeat is a later attempt that did not finish, so that the rows of this one were kept.
	Repeat *repeat `json:"repeat,omitempty"`
}

type repeat struct {
	Date   string `json:"date"`
	Failed string `json:"failed"`
}

// notFinished is what Failed says while a measurement is under way.
const notFinished = "not finished"

// report is the table, and what it was measured on.
type report struct {
	Device  backend.Info `json:"device"`
	Machine *machine     `json:"machine,omitempty"` // of a CUDA device
	Threads int          `json:"threads"`
	Small   bool         `json:"small,omitempty"`
	// Bandwidth is the rate of copying on the device, in bytes per second.
	Bandwidth float64 `json:"copy_bytes_per_s,omitempty"`
	Parts     []part  `json:"parts"` // in the order of measurements
}

// put enters a measurement in place of an earlier one of the same name. If the new one failed, an earlier one that is
// complete is kept, and so is one that has rows where the new one has none.
func (p *report) put(m part) {
	if old := p.find(m.Name); old != nil && m.Failed != "" && len(old.Rows) > 0 && (old.Failed == "" || len(m.Rows) == 0) {
		old.Repeat = &repeat{m.Date, m.Failed}
		return
	}
	p.Parts = slices.DeleteFunc(p.Parts, func(o part) bool { return o.Name == m.Name })
	p.Parts = append(p.Parts, m)
	slices.SortStableFunc(p.Parts, func(a, b part) int { return slices.Index(measurements, a.Name) - slices.Index(measurements, b.Name) })
}

func (p *report) find(name string) *part {
	for i := range p.Parts {
		if p.Parts[i].Name == name {
			return &p.Parts[i]
		}
	}
	return nil
}

// ended records why a process ended that was to carry out a measurement; before is the part of that name in the report
// before the process started. It changes nothing, and returns false, where the process never came to measure, since the
// report may be of another device, and where the process recorded a failure itself.
func (p *report) ended(name string, before *part, cause error, seconds float64) (changed bool) {
	m := p.find(name)
	switch {
	case m == nil || reflect.DeepEqual(m, before):
		return false
	case m.Repeat != nil && m.Repeat.Failed == notFinished:
		m.Repeat.Failed = cause.Error()
	case m.Repeat == nil && (m.Failed == notFinished || m.Failed == ""):
		m.Failed, m.Seconds = cause.Error(), seconds
	default: // the process recorded its failure itself
		return false
	}
	return true
}

// maxReport bounds the size of a report that is read, in bytes.
const maxReport = 16 << 20

// readReport returns the report in a file, or nil where there is no file.
func readReport(path string) (*report, error) {
	if path == "" {
		return nil, nil
	}
	p := new(report)
	err := jsonfile.Read(path, maxReport, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return p, err
}

// follow takes over what earlier processes measured on the same device with the same driver. A report of another device
// or driver, or one that cannot be read, is set aside.
func (p *report) follow(o options) error {
	path := o.file(".json")
	old, err := readReport(path)
	if old == nil && err == nil {
		return nil
	}
	var is string
	switch {
	case err != nil:
		is = err.Error()
	case !p.same(old):
		is = fmt.Sprintf("%s is of %s, this is %s", path, old.identity(), p.identity())
	default:
		p.Bandwidth, p.Parts = old.Bandwidth, old.Parts
		if p.Machine != nil {
			p.Machine.DriverVersion = cmp.Or(p.Machine.DriverVersion, old.Machine.DriverVersion)
		}
		return nil
	}
	to, err := setAside(o)
	if err == nil {
		fmt.Fprintf(os.Stderr, "%s: it is now %s\n", is, to)
	}
	return err
}

// setAside renames the report to the first numbered name that is free.
func setAside(o options) (to string, err error) {
	stem := strings.TrimSuffix(o.file(".json"), ".json")
	for n := 1; ; n++ {
		as := fmt.Sprintf("%s-%d", stem, n)
		_, jsonErr := os.Lstat(as + ".json")
		_, markdownErr := os.Lstat(as + ".md")
		if !errors.Is(jsonErr, fs.ErrNotExist) || !errors.Is(markdownErr, fs.ErrNotExist) {
			continue
		}
		err := os.Rename(stem+".md", as+".md")
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return as + ".json", errors.Join(err, os.Rename(stem+".json", as+".json"))
	}
}

// same reports whether two reports are of one device and driver. A version that is not known, since nvidia-smi fails at
// times, matches any version for the same CUDA.
func (p *report) same(o *report) bool {
	a, b := p.Machine, o.Machine
	if p.name() != o.name() || (a == nil) != (b == nil) {
		return false
	}
	return a == nil || a.UUID == b.UUID && a.Driver == b.Driver &&
		(a.DriverVersion == b.DriverVersion || a.DriverVersion == "" || b.DriverVersion == "")
}

// identity names the device and driver of a report, by which it differs from others.
func (p *report) identity() string {
	s := p.name()
	if m := p.Machine; m != nil {
		s += fmt.Sprintf(", %s, driver %s", m.UUID, cmp.Or(m.DriverVersion, "of unknown version"))
	}
	return s
}

// name names the device of a report, and says whether it is small.
func (p *report) name() string {
	size := ""
	if p.Small {
		size = ", small"
	}
	return fmt.Sprintf("%s (%s, %s%s)", p.Device.Device, p.Device.Backend, p.Device.Detail, size)
}

// write writes the report as JSON and as Markdown, where a folder is given.
func (p *report) write(o options) error {
	if o.out == "" {
		return nil
	}
	if err := jsonfile.Write(o.file(".json"), p); err != nil {
		return err
	}
	return atomicfile.Write(o.file(".md"), []byte(p.text(table.Writer.RenderMarkdown)))
}

// add adds a row to the current part, with the figures that follow from its seconds and work, and writes the report.
func (w *bench) add(r row) {
	if r.Seconds > 0 {
		r.GBs = r.Work.Bytes / r.Seconds / 1e9
		if w.report.Bandwidth > 0 {
			r.Share = r.Work.Bytes / r.Seconds / w.report.Bandwidth
		}
		if m := w.report.Machine; m != nil {
			r.Roof = m.Peak.seconds(r.Work) / r.Seconds
		}
	}
	w.part.Rows = append(w.part.Rows, r)
	w.soFar()
}

// text returns the report as a table with a heading.
func (p *report) text(render func(table.Writer) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %d threads\n", p.name(), p.Device.Precision, p.Threads)
	if m := p.Machine; m != nil {
		fmt.Fprintf(&b, "Driver for CUDA %s; peak %.4g GB/s, %.4g TFLOP/s in float32, %.4g in float64, without tensor cores.\n",
			m.Driver, m.Peak.BytesPerSecond/1e9, m.Peak.Float32/1e12, m.Peak.Float64/1e12)
	}
	for _, m := range p.Parts {
		fmt.Fprintf(&b, "%s: %s, %.0f s", m.Name, m.Date, m.Seconds)
		for _, c := range []*clocks{m.Before, m.After} {
			if c != nil {
				fmt.Fprintf(&b, "; driver %s, clocks %s of %s and %s of %s, %s C, limit %s, throttled %s", c.Driver, c.SM, c.MaxSM, c.Memory,
					c.MaxMemory, c.Temperature, c.PowerLimit, c.Throttled)
			}
		}
		if m.Graphs != nil {
			fmt.Fprintf(&b, "; %v", *m.Graphs)
		}
		if m.Failed != "" {
			fmt.Fprintf(&b, "; failed: %s", m.Failed)
		}
		if m.Repeat != nil {
			fmt.Fprintf(&b, "; a repeat of %s failed: %s", m.Repeat.Date, m.Repeat.Failed)
		}
		b.WriteByte('\n')
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"", "time", "GB/s", "of copying", "of roofline", "evaluations", "time / amtrl", ""})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 8, WidthMax: 60}})
	section := ""
	for _, m := range p.Parts {
		for _, r := range m.Rows {
			if r.Section != section {
				if section != "" {
					t.AppendSeparator()
				}
				t.AppendRow(table.Row{r.Section})
				section = r.Section
			}
			if r.Failed != "" {
				t.AppendRow(table.Row{"  " + r.Name, "", "", "", "", "", "", r.Failed})
				continue
			}
			t.AppendRow(table.Row{
				"  " + r.Name, duration(r.Seconds), some(r.GBs, "%.4g"), some(100*r.Share, "%.3g %%"), some(100*r.Roof, "%.3g %%"),
				some(r.Evaluations, "%.4g"), some(r.Ratio, "%.3g"), r.Note,
			})
		}
	}
	b.WriteByte('\n')
	b.WriteString(render(t))
	b.WriteByte('\n')
	return b.String()
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
