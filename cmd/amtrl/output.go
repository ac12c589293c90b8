package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/report"
)

const maxTop = 1 << 30

// terminalWidth returns the width of a terminal in columns, 0 if f is none.
func terminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// leastWidth is the number of columns below which nothing is wrapped.
const leastWidth = 20

// wrapped returns tables and sentences with the sentences in lines that are no wider than standard output, where that is a terminal.
func wrapped(out string) string { return wrapSentences(out, terminalWidth(os.Stdout)) }

// wrapSentences breaks the lines of a text at blanks where they are wider than width, and indents what follows in the
// next lines. Lines of tables, which blank lines set apart from sentences, stay as they are, and so do lines with a
// word as wide, such as a path to be copied. A width of 0 is no limit.
func wrapSentences(out string, width int) string {
	if width < leastWidth {
		return out
	}
	blocks := strings.Split(out, "\n\n")
	for i, block := range blocks {
		if strings.Contains(block, "\n──") || strings.HasPrefix(block, "|") {
			continue
		}
		lines := strings.Split(block, "\n")
		for j, line := range lines {
			lines[j] = wrapLine(line, width)
		}
		blocks[i] = strings.Join(lines, "\n")
	}
	return strings.Join(blocks, "\n\n")
}

func wrapLine(line string, width int) string {
	const indent = "  "
	width -= len(indent)
	wide := func(word string) bool { return text.StringWidth(word) > width }
	if text.StringWidth(line) <= width+len(indent) || slices.ContainsFunc(strings.Fields(line), wide) {
		return line
	}
	parts := strings.Split(text.WrapSoft(line, width), "\n")
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], " ")
	}
	return strings.Join(parts, "\n"+indent)
}

// output holds the options by which a command prints its results. A command adds the flags that it needs; the others
// keep their zero values.
type output struct {
	json, quiet flags.Value[bool]
	top         flags.Value[int]
	formatName  flags.Value[string]

	// format is the value of --format, parsed by check.
	format report.Format
}

func (o *output) addTop(set *flags.Set) { set.Int(&o.top, "top", "number of sources to list", 10) }

func (o *output) addFormat(set *flags.Set) {
	set.Text(&o.formatName, "format", "how tables are written: table or markdown", "table")
}

func (o *output) addJSON(set *flags.Set, what string) {
	set.Bool(&o.json, "json", "print "+what+" as JSON on standard output, and nothing else there")
}

// addGroup adds the group of output flags: --json, then the others.
func (o *output) addGroup(set *flags.Set, json string, others ...func(*flags.Set)) {
	set.Group(groupOutput)
	o.addJSON(set, json)
	for _, add := range others {
		add(set)
	}
}

func (o *output) addQuiet(set *flags.Set) {
	set.Bool(&o.quiet, "quiet", "print only errors on standard error")
}

func (o *output) check() (err error) {
	if o.formatName.Name != "" {
		if o.format, err = report.ParseFormat(o.formatName.V); err != nil {
			return flags.Misuse("--format: %s", err)
		}
	}
	return flags.Between(o.top, 0, maxTop)
}

// lines renders sentences, a line each, as [report.Lines] does.
func (o *output) lines(sentences string) string {
	return report.Lines(o.format, strings.Split(strings.TrimSuffix(sentences, "\n"), "\n")...)
}

func (o *output) emit(text string) error {
	_, err := io.WriteString(os.Stdout, text)
	return err
}

func (o *output) emitJSON(v any) error {
	js, err := jsonfile.Encode(v)
	if err != nil {
		return err
	}
	return o.emit(string(js))
}

// emitEither prints v as JSON if --json is set, and the text otherwise.
func (o *output) emitEither(v any, text string) error {
	if o.json.V {
		return o.emitJSON(v)
	}
	return o.emit(text)
}

func emitLine(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// noteLate notes what is being done when it has taken five seconds, so that nobody takes a long silence for a fault. done ends that.
func (o *output) noteLate(format string, args ...any) (done func()) {
	late := time.AfterFunc(5*time.Second, func() { o.note(format, args...) })
	return func() { late.Stop() }
}

func (o *output) note(format string, args ...any) {
	if !o.quiet.V {
		fmt.Fprintln(os.Stderr, wrapSentences(fmt.Sprintf(format, args...), terminalWidth(os.Stderr)))
	}
}
