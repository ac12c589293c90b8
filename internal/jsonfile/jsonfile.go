// Package jsonfile reads and writes files of one JSON value: strict in what it
// reads, whole and synced in what it writes.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// Encode returns v as JSON, indented by two spaces, with a newline at the end.
func Encode(v any) ([]byte, error) {
	js, err := json.MarshalIndent(v, "", "  ")
	return append(js, '\n'), err
}

// EncodeLines returns each value as a line of JSON.
func EncodeLines[T any](list []T) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// Decode reads one JSON value and nothing else into v, and refuses fields that v does not have. Its errors name the byte.
func Decode(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("byte %d: it ends early, expected one whole JSON object", len(raw))
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w", offset(dec, err), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("byte %d: expected the end of the file after one JSON object", dec.InputOffset())
	}
	return nil
}

// offset returns where the decoder met an error, which its own position does not say.
func offset(dec *json.Decoder, err error) int64 {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return max(e.Offset-1, 0) // it counts the byte that is wrong
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return e.Offset
	}
	return dec.InputOffset()
}

// Read decodes the regular file at path, of at most limit bytes, into v. The error names the path; it is
// [io/fs.ErrNotExist] if there is no file.
func Read(path string, limit int64, v any) error {
	raw, err := atomicfile.ReadFile(path, limit)
	if err != nil {
		return err
	}
	if err := Decode(raw, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Write replaces the file at path with v, as [atomicfile.Write] does.
func Write(path string, v any) error {
	js, err := Encode(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, js)
}

// Append adds v as a line to the file at path, as [atomicfile.Append] does.
func Append(path string, v any) error {
	js, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Append(path, js)
}

// ReadLines calls line with each JSON line of the regular file at path, of at most limit bytes, decoded as [Decode]
// does. A line that is not a whole JSON value was left by a killed writer and is skipped. A missing file has no lines.
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
