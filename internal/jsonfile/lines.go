package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// Append adds v as a line to the file at path, as [atomicfile.Append] does.
func Append(path string, v any) error {
	js, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Append(path, js)
}

// ReadLines calls line with each JSON line of the regular file at path, of at
// most limit bytes, decoded as [Decode] does. What is no whole JSON value was
// left by a killed writer and is passed over. A file that is not there has no
// lines.
func ReadLines[T any](path string, limit int64, line func(T) error) error {
	raw, err := atomicfile.ReadFile(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := 0
	for text := range bytes.Lines(raw) {
		n++
		if !json.Valid(text) {
			continue
		}
		var v T
		err := Decode(text, &v)
		if err == nil {
			err = line(v)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", path, n, err)
		}
	}
	return nil
}
