package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// csvTable is a CSV file with a header row. All cells are text.
type csvTable struct {
	base
	comma rune
	// decimalComma says for each column whether its numbers have decimal commas, or seem to have points between thousands.
	decimalComma []bool
}

// maxRecord bounds the bytes of a row in text formats.
const maxRecord = 64 << 20

func openCSV(b base, comma rune) (*csvTable, error) {
	t := &csvTable{base: b, comma: comma}
	in, err := t.records()
	if err != nil {
		return nil, err
	}
	defer in.close()
	for _, name := range in.header {
		t.columns = append(t.columns, Column{Name: name, Kind: Text})
	}
	t.decimalComma = decimalCommas(len(t.columns), in.head())
	if in.Comma == ';' && !slices.Contains(t.decimalComma, true) {
		t.decimalComma = pointsBetweenThousands(len(t.columns), in.head())
	}
	return t, nil
}

// head returns the first rows, as far as the next 64 KiB hold them whole. Nothing is consumed. A row must not be kept.
func (r *records) head() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		raw, err := r.in.Peek(r.in.Size())
		if err == nil { // there may be more of the last row
			raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
		}
		rows := csv.NewReader(bytes.NewReader(raw))
		rows.Comma, rows.ReuseRecord, rows.TrimLeadingSpace = r.Comma, true, r.TrimLeadingSpace
		for {
			if row, err := rows.Read(); err != nil || !yield(row) {
				return
			}
		}
	}
}

// records reads the rows of a CSV file after its header row.
type records struct {
	*csv.Reader
	in     *bufio.Reader // what Reader reads from
	path   string
	header []string
	count  *counter
	limit  *recordLimit
	close  func() error
	// before counts the lines before the header row and the lines that skip passed over.
	before int
}

// recordLimit is a reader that fails after left bytes. left is set anew before each row, so that an open quote cannot make one row of the
// rest of the file.
type recordLimit struct {
	r    io.Reader
	left int
	err  error // of the last Read: what reads a list asks again, and a damaged stream may then go on
}

var errLong = fmt.Errorf("expected a row of at most %d bytes, found more: is a quote open?", maxRecord)

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	if l.left -= n; l.left < 0 {
		n, err = 0, errLong
	}
	l.err = err
	return n, err
}

// records opens the file and reads the header row.
func (t *csvTable) records() (*records, error) {
	in, count, err := t.reader()
	if err != nil {
		return nil, err
	}
	limit := &recordLimit{r: in}
	buffered := bufio.NewReaderSize(limit, 1<<16)
	r := &records{Reader: csv.NewReader(buffered), in: buffered, path: t.path, count: count, limit: limit, close: in.Close}
	r.Comma, r.ReuseRecord = t.comma, true
	limit.left = maxRecord
	if bom, _ := buffered.Peek(3); string(bom) == "\ufeff" {
		buffered.Discard(3)
	}
	if said := separatorOf(buffered); said != 0 {
		r.Comma, r.before = said, 1
	} else if r.Comma == ',' {
		r.Comma = commaOf(buffered)
	}
	r.TrimLeadingSpace = isPadded(buffered, r.Comma)
	header, err := r.Read()
	if err != nil {
		in.Close()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: expected a header with the names of the columns, found an empty file", t.path)
		}
		return nil, r.fault(err, 0)
	}
	seen := map[string]bool{}
	for i, name := range header {
		switch {
		case strings.Contains(name, "\r"):
			in.Close()
			return nil, fmt.Errorf("%s: line %d: expected lines that end in LF or CR LF, found others, with CR in the name of column %d: save "+
				"it with the line ends of Windows or Unix", t.path, r.before+1, i+1)
		case name == "" && i == 0: // as pandas names the index
			name = "index"
		case notUTF8(name) != "" || strings.Contains(name, "\x00"):
			in.Close()
			return nil, fmt.Errorf("%s: line %d, column %d: expected UTF-8, found %s in %q: save it as CSV in UTF-8, or name its encoding",
				t.path, r.before+1, i+1, cmp.Or(notUTF8(name), "bytes 0x00, as UTF-16 has them,"), text.OneLine(name, maxQuoted))
		case name == "" || seen[name] || !text.Printable(name):
			in.Close()
			return nil, fmt.Errorf("%s: line %d: expected a name of its own for each column, found %q for column %d", t.path, r.before+1,
				text.OneLine(name, maxQuoted), i+1)
		}
		seen[name] = true
		r.header = append(r.header, name)
	}
	return r, nil
}

// skip passes over up to n rows and returns how many there were. A row ends at the first line break at which the number of its quotes is
// even; blank lines do not count.
func (r *records) skip(n int64) (passed int64, err error) {
	for quotes, length := 0, 0; passed < n; {
		if length == 0 {
			r.limit.left = maxRecord
		}
		part, err := r.in.ReadSlice('\n')
		quotes, length = quotes+bytes.Count(part, []byte{'"'}), length+len(part)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && err != io.EOF:
			return passed, fmt.Errorf("%s: %w", r.path, err)
		case err == io.EOF:
			return passed, nil
		}
		if r.before++; quotes%2 == 0 {
			if length > 2 || length == 2 && part[0] != '\r' {
				passed++
			}
			quotes, length = 0, 0
		}
	}
	return passed, nil
}

// fault adds the file and the line to an error of a row, which has this number of cells.
func (r *records) fault(err error, cells int) error {
	e, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	expected, found := `a cell that begins with " to end with one, and each within to be doubled`, "text after the one that ends it"
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		expected, found = text.Several(r.FieldsPerRecord, "column"), strconv.Itoa(cells)
	case errors.Is(err, csv.ErrBareQuote):
		expected, found = `a cell with a " in it to begin and end with one, and that within to be doubled`, "a cell that does not begin with one"
	case e.Line > e.StartLine:
		found = fmt.Sprintf("a cell that goes on to line %d", r.before+e.Line)
	}
	return fmt.Errorf("%s: line %d: expected %s, found %s", r.path, r.before+e.StartLine, expected, found)
}

func (t *csvTable) Scan(q Query, f func(*Batch) error) error {
	b, scalars, features, err := t.resolve(q, true)
	if err != nil {
		return err
	}
	r, err := t.records()
	if err != nil {
		return err
	}
	defer r.close()
	for i := range b.Scalars {
		b.Scalars[i].DecimalComma = t.decimalComma[scalars[i]]
	}
	for {
		b.reset()
		rows := batchRows(b.Features.Width, len(features) > 0)
		if q.Next != nil {
			passed, err := r.skip(q.Next(b.First) - b.First)
			if err != nil {
				return err
			}
			b.First, rows = b.First+passed, 1
		}
		for ; b.Rows < rows; b.Rows++ {
			r.limit.left = maxRecord
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				return r.fault(err, len(record))
			}
			line, _ := r.FieldPos(0)
			line += r.before
			b.lines = append(b.lines, line)
			for i, c := range scalars {
				b.Scalars[i].Text = append(b.Scalars[i].Text, strings.Clone(record[c]))
			}
			before := len(b.Features.F32)
			if err := t.features(b, &q, record, features); err != nil && !b.passes(err, before) {
				return fmt.Errorf("%s: line %d, %w", t.path, line, err)
			}
		}
		if b.Rows == 0 {
			return nil
		}
		if err := b.check(&q); err != nil {
			return err
		}
		b.Read = r.count.n
		if err := f(b); err != nil {
			return err
		}
		b.First += int64(b.Rows)
	}
}

// features appends the vector of a record to the batch, from one cell that holds a list or from one cell for each element, or for a list
// beside others.
func (t *csvTable) features(b *Batch, q *Query, record []string, features []int) error {
	v := &b.Features
	before := len(v.F32)
	for i, c := range features {
		cell := strings.TrimSpace(record[c])
		if q.list(i) > 0 && !isList(cell) {
			return fmt.Errorf("column %s: expected a list, found %q", t.columns[c].Name, text.OneLine(cell, maxQuoted))
		}
		if isList(cell) && (len(features) == 1 || q.list(i) > 0) {
			if err := v.pushList(cell, q.list(i)); err != nil {
				return fmt.Errorf("column %s: %w", t.columns[c].Name, err)
			}
			continue
		}
		plain, ok := cell, true
		if t.decimalComma[c] {
			plain, ok = withPoint(cell)
		}
		if !ok {
			return fmt.Errorf("column %s: expected %s, found %q", t.columns[c].Name, withoutPoint(cell), text.OneLine(cell, maxQuoted))
		}
		x, ok := parseFeature(plain)
		switch {
		case !ok && isMissing(cell):
			if err := b.gap(len(features), strconv.Quote(cell)); err != nil {
				return fmt.Errorf("column %s: %w", t.columns[c].Name, err)
			}
			x = nan
		case !ok:
			return fmt.Errorf("column %s: expected %s, found %q", t.columns[c].Name, PlainNumber(cell), text.OneLine(cell, maxQuoted))
		}
		if err := tooLarge(x, cell); err != nil {
			return fmt.Errorf("column %s: %w", t.columns[c].Name, err)
		}
		v.push(x)
	}
	if len(features) == 0 {
		return nil
	}
	return v.closeVector(t.columns[features[0]].Name, before)
}

// NoNumbers reports whether the list in a cell begins with something other than a number, such as a text.
func NoNumbers(cell string) bool {
	first := strings.TrimLeft(cell[1:], " \t\r\n")
	return first != "" && strings.IndexByte("\"'[{(", first[0]) >= 0
}

// pushList appends the numbers of a list in a cell, such as "[0.1, 0.2]" or, as NumPy prints it, "[0.1 0.2]". It must have width numbers,
// where width is not 0.
func (v *Vectors) pushList(cell string, width int) error {
	inner := strings.TrimRight(cell[1:], " \n])}")
	i := 0
	for word := range strings.FieldsFuncSeq(inner,
		func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' || r == ';' }) {
		x, ok := parseFeature(word)
		switch {
		case !ok && strings.Contains(word, ".."):
			return errors.New("expected a whole list, found one that was shortened to ...: write the column as a list of numbers (.tolist())")
		case !ok && width == 0 && isMissing(word):
			return fmt.Errorf("element %d: %w", i, &VectorError{fmt.Sprintf("expected a number, found %q", text.OneLine(word, maxQuoted))})
		case !ok:
			return fmt.Errorf("element %d: expected a number, found %q", i, text.OneLine(word, maxQuoted))
		case i == maxWidth:
			return fmt.Errorf("expected at most %d elements, found more", maxWidth)
		}
		if err := tooLarge(x, word); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		v.push(x)
		i++
	}
	if width > 0 && i != width {
		return fmt.Errorf("expected %d elements, found %d", width, i)
	}
	return nil
}
