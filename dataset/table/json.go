package table

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// elements calls f for each element of a JSON list, with its row counted from 0 and the bytes of the file read so far. It keeps one element
// at a time in memory.
func (t *jsonlTable) elements(r io.Reader, count *counter, f func(row int, raw []byte, read int64) error) error {
	limit := &recordLimit{r: r, left: maxRecord}
	dec := json.NewDecoder(limit)
	_, err := dec.Token() // the bracket
	row, raw := 0, json.RawMessage(nil)
	for ; err == nil && dec.More(); row++ {
		limit.left = maxRecord
		if err = dec.Decode(&raw); err != nil {
			break
		}
		if err := f(row, raw, count.n); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("expected the rest of the list, found the end of the file")
	}
	if err != nil {
		return t.fault(row, err)
	}
	_, err = dec.Token()
	if _, is := errors.AsType[*json.SyntaxError](err); err == nil || is {
		err = errors.New("expected the end of the file behind the list, found more")
	}
	if err != io.EOF {
		return t.fault(row, err)
	}
	return nil
}

// turned refuses a file whose only row is an object of columns, as pandas writes by default.
func (t *jsonlTable) turned(rows int) error {
	if rows != 1 || t.list || len(t.columns) == 0 || slices.ContainsFunc(t.columns, func(c Column) bool { return c.Kind != Other }) {
		return nil
	}
	return t.fault(1, errors.New(`expected an object for each row, found one of columns: write it by to_json(orient="records")`))
}
