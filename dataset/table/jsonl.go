package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amtrl/amtrl/internal/text"
)

// jsonlTable is a file with a JSON object on each line, or with one list of objects. Single values are text, and missing where the key is
// absent or null; lists of numbers are vectors.
type jsonlTable struct {
	base
	list bool
	// seen maps each key to the index of its column, and known holds the keys of which some value was not null.
	seen  map[string]int
	known map[string]bool
	// nested has, for each column of kind Other, the error of its first value.
	nested map[string]error
}

// keyRows is the number of rows that are read first to find the names of the columns.
const keyRows = 1000

func openJSONL(b base) (*jsonlTable, error) {
	t := &jsonlTable{base: b, seen: map[string]int{}, known: map[string]bool{}, nested: map[string]error{}}
	rows, err := t.findKeys(keyRows, nil)
	return t, cmp.Or(err, t.turned(rows))
}

var errDone = errors.New("done")

// findKeys adds the keys of the first rows to the columns or, where rows is 0, reads on until all wanted keys are found. It returns the
// number of rows that it has seen.
func (t *jsonlTable) findKeys(rows int, wanted []string) (n int, err error) {
	var has []bool // by column: whether the row has it
	err = t.objects(func(line int, raw []byte, _ int64) error {
		if n++; n > rows && rows > 0 {
			return errDone
		}
		// A map has no order, so the keys are read one after the other.
		dec := json.NewDecoder(bytes.NewReader(raw))
		if open, err := dec.Token(); err != nil || open != json.Delim('{') {
			return t.fault(line, noObject(raw))
		}
		clear(has)
		for dec.More() {
			key, err := dec.Token()
			var value json.RawMessage
			if err == nil {
				err = dec.Decode(&value)
			}
			if err != nil {
				return t.fault(line, syntaxOf(raw))
			}
			if err := t.addKey(line, key.(string), value); err != nil {
				return err
			}
			at := t.seen[key.(string)]
			if has = append(has, make([]bool, len(t.columns)-len(has))...); has[at] {
				return t.fault(line, errTwice(strconv.Quote(key.(string))))
			}
			has[at] = true
		}
		if _, err := dec.Token(); err != nil { // the object goes on
			return t.fault(line, syntaxOf(raw))
		}
		if wanted != nil && !slices.ContainsFunc(wanted, t.unseen) {
			return errDone
		}
		return nil
	})
	if err == errDone {
		err = nil
	}
	return n, err
}

func (t *jsonlTable) unseen(key string) bool {
	_, seen := t.seen[key]
	return !seen
}

// addKey adds a column for a new key, whose kind follows from the first value that is not null. A column of text becomes one of vectors
// at the first list of numbers.
func (t *jsonlTable) addKey(line int, key string, value json.RawMessage) error {
	const most = 1 << 16
	kind := Text
	switch {
	case value[0] == '[' && !NoNumbers(string(value)):
		kind = Vector
	case value[0] == '[', value[0] == '{':
		kind = Other
	}
	at, seen := t.seen[key]
	if !seen {
		if len(t.columns) == most || !text.Printable(key) {
			return t.fault(line, fmt.Errorf("expected at most %d keys, without control characters, found %q", most,
				text.OneLine(key, maxQuoted)))
		}
		t.seen[key] = len(t.columns)
		t.columns = append(t.columns, Column{Name: key, Kind: kind})
		at = len(t.columns) - 1
	}
	if string(value) != "null" {
		if kind == Vector && t.columns[at].Kind == Text || !t.known[key] {
			t.columns[at].Kind = kind
		}
		if kind == Other && t.nested[key] == nil {
			t.nested[key] = t.fault(line, fmt.Errorf("column %s: expected a single value or a list of numbers, found %s",
				text.OneLine(key, maxQuoted), text.OneLine(string(value), maxQuoted)))
		}
		t.known[key] = true
	}
	return nil
}

var errObject = errors.New("expected a JSON object on each line, or a list of objects, such as " +
	`{"label": "good", "embedding": [0.5, 2]}`)

// errTwice is the error of a row with a key, in quotes, that is there before.
func errTwice(key string) error {
	return fmt.Errorf("expected each key once, found %s again", text.OneLine(key, maxQuoted))
}

// noObject is the error of a row that is no object.
func noObject(raw []byte) error {
	return fmt.Errorf("%w, found %q", errObject, text.OneLine(string(raw), maxQuoted))
}

// syntaxOf returns the error of a row that is not JSON, with the place in the row.
func syntaxOf(raw []byte) error {
	var all json.RawMessage
	s, is := errors.AsType[*json.SyntaxError](json.Unmarshal(raw, &all))
	if !is || s.Offset < 1 {
		return noObject(raw)
	}
	if strings.Contains(s.Error(), "unexpected end") {
		return fmt.Errorf("%w, found the end of the line within an object", errObject)
	}
	rest, advice := string(raw[s.Offset-1:]), ""
	if bytes.IndexByte(raw[:s.Offset-1], '\r') >= 0 {
		advice = ": save it with the line ends of Windows or Unix, not CR alone"
	}
	if strings.HasPrefix(rest, "NaN") || strings.HasPrefix(rest, "Infinity") {
		advice = ": write null for a number that is missing"
	}
	return fmt.Errorf("expected JSON, found %q at character %d%s", text.OneLine(rest, maxQuoted),
		1+utf8.RuneCount(raw[:s.Offset-1]), advice)
}

// fault adds the file and the line, or the row of a list, to an error.
func (t *jsonlTable) fault(line int, err error) error {
	if t.list {
		return fmt.Errorf("%s: row %d: %w", t.path, line, err)
	}
	return fmt.Errorf("%s: line %d: %w", t.path, line, err)
}

// objects calls f for each line that is not blank, or for each element of a list, all of which should be objects. f gets the line, counted
// from 1, or the row in the list, counted from 0, and the bytes of the file read so far.
// A row that is not UTF-8 is an error, since JSON must be and what reads it would replace other bytes.
func (t *jsonlTable) objects(take func(line int, raw []byte, read int64) error) error {
	in, count, err := t.reader()
	if err != nil {
		return err
	}
	defer in.Close()
	f := func(line int, raw []byte, read int64) error {
		if !utf8.Valid(raw) {
			return t.fault(line, fmt.Errorf("expected UTF-8, found %s: save the file in UTF-8, or name its encoding", notUTF8(string(raw))))
		}
		return take(line, raw, read)
	}
	r := bufio.NewReaderSize(in, 1<<16)
	if bom, _ := r.Peek(3); string(bom) == "\ufeff" {
		r.Discard(3)
	}
	const blanks = 256
	head, _ := r.Peek(blanks)
	if t.list = bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")); t.list {
		return t.elements(r, count, f)
	}
	return t.lines(r, count, f)
}

// lines calls f for each line that is not blank.
func (t *jsonlTable) lines(r *bufio.Reader, count *counter, f func(line int, raw []byte, read int64) error) error {
	var long []byte
	for line := 1; ; line++ {
		raw, err := r.ReadSlice('\n')
		for long = long[:0]; err == bufio.ErrBufferFull; raw, err = r.ReadSlice('\n') {
			if long = append(long, raw...); len(long) > maxRecord {
				return t.fault(line, fmt.Errorf("expected a row of at most %d bytes, found more", maxRecord))
			}
		}
		if len(long) > 0 {
			long = append(long, raw...)
			raw = long
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", t.path, err)
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 {
			if e := f(line, raw, count.n); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

func (t *jsonlTable) Scan(q Query, f func(*Batch) error) error {
	wanted := slices.Concat(q.Scalars, q.Features)
	if slices.ContainsFunc(wanted, t.unseen) {
		if _, err := t.findKeys(0, wanted); err != nil {
			return err
		}
	}
	for _, name := range wanted {
		if at, seen := t.seen[name]; seen && t.columns[at].Kind == Other && t.nested[name] != nil {
			return t.nested[name]
		}
	}
	found := q
	if q.Gaps { // a key that is absent in all rows is null in all, as it is in one
		found.Features = slices.DeleteFunc(slices.Clone(q.Features), t.unseen)
		if len(found.Features) == 0 {
			found.Features = q.Features
		}
	}
	b, _, _, err := t.resolve(found, true)
	if err != nil {
		return err
	}
	flush := func() error {
		if b.Rows == 0 {
			return nil
		}
		if err := b.check(&q); err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
		b.First += int64(b.Rows)
		b.reset()
		return nil
	}
	row := newObjectReader(wanted)
	scalars, features, vector := row.places(q.Scalars), row.places(q.Features), make([]json.RawMessage, len(q.Features))
	err = t.objects(func(line int, raw []byte, read int64) error {
		if b.Rows == batchRows(b.Features.Width, len(q.Features) > 0) || q.Next != nil {
			if err := flush(); err != nil {
				return err
			}
		}
		if q.Next != nil && q.Next(b.First) > b.First {
			b.First++
			return nil
		}
		if raw[0] != '{' {
			return t.fault(line, noObject(raw))
		}
		if !row.read(raw) {
			return t.fault(line, syntaxOf(raw))
		}
		if row.twice {
			return t.fault(line, errTwice(row.key))
		}
		if b.Read = read; !t.list {
			b.lines = append(b.lines, line)
		}
		for i, name := range q.Scalars {
			if err := addValue(&b.Scalars[i], row.values[scalars[i]]); err != nil {
				return t.fault(line, fmt.Errorf("column %s: %w", name, err))
			}
		}
		for i, at := range features {
			vector[i] = row.values[at]
		}
		before := len(b.Features.F32)
		if err := addVector(b, &q, vector); err != nil && !b.passes(err, before) {
			return t.fault(line, err)
		}
		b.Rows++
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// addValue appends a single value: a string without its quotes, a number or a boolean as it is written, or a missing value. A list or an
// object is an error.
func addValue(v *Values, raw json.RawMessage) error {
	missing, s := raw == nil || string(raw) == "null", ""
	switch {
	case missing:
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
	case raw[0] == '[' || raw[0] == '{':
		return fmt.Errorf("expected a single value, found %s", text.OneLine(string(raw), maxQuoted))
	default:
		s = string(raw)
	}
	v.Text, v.Missing = append(v.Text, s), append(v.Missing, missing)
	return nil
}

// addVector appends the vector of a row, from one list or from a number, or a list beside others, for each name. values holds the value of
// each name, nil for none.
func addVector(b *Batch, q *Query, values []json.RawMessage) error {
	names := q.Features
	if len(names) == 0 {
		return nil
	}
	v := &b.Features
	before := len(v.F32)
	for i, name := range names {
		raw := values[i]
		if q.list(i) > 0 && (raw == nil || raw[0] != '[') {
			return fmt.Errorf("column %s: expected a list, found %s", name, cmp.Or(text.OneLine(string(raw), maxQuoted), "none"))
		}
		if raw == nil || string(raw) == "null" || raw[0] == '"' && isMissing(string(raw[1:len(raw)-1])) {
			if err := b.gap(len(names), "none"); err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
			v.push(nan)
			continue
		}
		if raw[0] != '[' {
			x, ok := parseFeature(string(raw))
			if !ok {
				return fmt.Errorf("column %s: expected a number, found %s", name, text.OneLine(string(raw), maxQuoted))
			}
			if err := tooLarge(x, string(raw)); err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
			v.push(x)
			continue
		}
		if len(names) > 1 && q.list(i) == 0 {
			return fmt.Errorf("column %s: expected a number, found a list", name)
		}
		if err := v.pushList(string(raw), q.list(i)); err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	return v.closeVector(names[0], before)
}
