package table

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// plusName matches the name of a logarithm of a column with a number added.
var plusName = regexp.MustCompile(`^log \((.+) \+ ([0-9.e+-]+)\)$`)

// LogOf returns the column and the logarithm that a name stands for, in the form of [Log.Name]: "log income", or "log (visits + 1)".
func LogOf(name string) (column string, l Log, is bool) {
	if m := plusName.FindStringSubmatch(name); m != nil {
		if plus, err := strconv.ParseFloat(m[2], 64); err == nil && plus > 0 && plus <= MaxFeature {
			return m[1], Log{plus}, true
		}
	}
	column, is = strings.CutPrefix(name, "log ")
	return column, Log{}, is && column != ""
}

// HasLog reports whether the logarithm of a column is among logs, which are names of logarithms.
func HasLog(logs []string, column string) bool {
	return slices.ContainsFunc(logs, func(name string) bool {
		of, _, is := LogOf(name)
		return is && of == column
	})
}

// ColumnsRead returns for each feature the column that it is read from: its own, or for one of logs that of which it is the logarithm.
func ColumnsRead(features, logs []string) []string {
	read := slices.Clone(features)
	for j, name := range read {
		if slices.Contains(logs, name) {
			read[j], _, _ = LogOf(name)
		}
	}
	return read
}

// logTable is a table with the logarithms of some columns as further columns.
type logTable struct {
	Table
	names []string
}

// WithLogs returns t with a further column for each of logs, which are names of logarithms by [LogOf], in place of a column of that name.
// They can be read as features alone. Closing the returned table closes t.
func WithLogs(t Table, logs []string) Table {
	if len(logs) == 0 {
		return t
	}
	return &logTable{t, logs}
}

// LogsAmong returns those of the names that are logarithms of columns, and no columns themselves.
func LogsAmong(columns []Column, names []string) (logs []string) {
	for _, c := range LogColumns(columns, names)[len(columns):] {
		logs = append(logs, c.Name)
	}
	return logs
}

func hasColumn(columns []Column, name string) bool {
	return slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name })
}

// LogColumns returns columns, followed by one for each of the names that is the logarithm of one of them and not a column itself.
func LogColumns(columns []Column, names []string) []Column {
	all := slices.Clone(columns)
	for _, name := range names {
		column, _, is := LogOf(name)
		if is && !hasColumn(all, name) && slices.ContainsFunc(columns, func(c Column) bool { return c.Name == column && c.Kind.Scalar() }) {
			all = append(all, Column{Name: name, Kind: Number, LogOf: column})
		}
	}
	return all
}

func (t *logTable) Columns() []Column {
	columns := slices.DeleteFunc(slices.Clone(t.Table.Columns()), func(c Column) bool { return slices.Contains(t.names, c.Name) })
	return LogColumns(columns, t.names)
}

// Scan reads logarithms as float32. A number that has none is an error; a missing one stays missing.
func (t *logTable) Scan(q Query, f func(*Batch) error) error {
	of, logs, some := slices.Clone(q.Features), make([]*Log, len(q.Features)), false
	for j, name := range q.Features {
		if column, l, is := LogOf(name); is && slices.Contains(t.names, name) {
			of[j], logs[j], some = column, &l, true
		}
	}
	names := q.Features
	if q.Features = of; !some {
		return t.Table.Scan(q, f)
	}
	return t.Table.Scan(q, func(b *Batch) error {
		v := &b.Features
		v.widen()
		for j, l := range logs {
			if l == nil {
				continue
			}
			for i := range b.Rows {
				x := v.Element(i*v.Width + j)
				if expected := l.refuses(x); expected != "" {
					return b.Fault(i, names[j], "%s, found %s", expected, text.Digits(x))
				}
				v.Set(i*v.Width+j, l.Of(x)) // NaN stays NaN
			}
		}
		return f(b)
	})
}

// refuses says what was expected of a feature that has no logarithm. It is empty for others.
func (l *Log) refuses(x float64) string {
	switch {
	case x > -l.Plus || x != x:
		return ""
	case l.Plus == 0:
		return "a number above 0, which has a logarithm"
	}
	return "a number above -" + strconv.FormatFloat(l.Plus, 'g', -1, 64) + ", which has a logarithm then"
}
