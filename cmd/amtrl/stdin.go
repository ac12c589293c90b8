package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/runs"
)

// standardInput is a temporary file with what standard input had, since rows are read more than once. It is nil where no file is "-".
type standardInput struct{ path string }

// readStandardInput copies standard input into a temporary file, where one of the files is "-", and returns the files with that one in its
// place.
func readStandardInput(ctx context.Context, files []string) ([]string, *standardInput, error) {
	at := slices.Index(files, stdin)
	switch {
	case at < 0:
		return files, nil, nil
	case slices.Contains(files[at+1:], stdin):
		return nil, nil, errors.New("expected - for standard input once, found it again")
	}
	dir, err := os.MkdirTemp("", "amtrl-")
	if err != nil {
		return nil, nil, err
	}
	s := &standardInput{filepath.Join(dir, "rows.csv")}
	_, err = unlessInterrupted(ctx, func() (struct{}, error) { return struct{}{}, s.copy(os.Stdin) })
	if err != nil {
		s.remove()
		return nil, nil, err
	}
	files = slices.Clone(files)
	files[at] = s.path
	return files, s, nil
}

// copy writes the file. Its ending tells the format that the first bytes show: that of a Parquet file, or of a list in JSON, or JSON in
// lines, or else CSV.
func (s *standardInput) copy(from io.Reader) error {
	in := bufio.NewReader(from)
	head, err := in.Peek(512)
	if err != nil && err != io.EOF {
		return fmt.Errorf("standard input: %w", err)
	}
	first := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	ending := table.CSV
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		ending = table.Parquet
	case bytes.HasPrefix(first, []byte("[")):
		ending = table.JSON
	case bytes.HasPrefix(first, []byte("{")):
		ending = table.JSONL
	}
	s.path = strings.TrimSuffix(s.path, table.CSV) + ending
	f, err := os.Create(s.path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}

// remove removes the file and its folder.
func (s *standardInput) remove() {
	if s != nil {
		os.RemoveAll(filepath.Dir(s.path))
	}
}

// name returns a text with "standard input" in place of the file.
func (s *standardInput) name(of string) string {
	if s == nil {
		return of
	}
	return strings.ReplaceAll(of, s.path, "standard input")
}

// fault returns an error that names standard input in place of the file.
func (s *standardInput) fault(err error) error {
	if s == nil || err == nil {
		return err
	}
	return &inputError{err, s.name(err.Error())}
}

// places names standard input in place of the file where rows are named.
func (s *standardInput) places(found []*runs.Evaluation, r *runs.RowsRead) {
	for _, e := range found {
		if e.Unknown != nil {
			e.Unknown.First = s.name(e.Unknown.First)
		}
	}
	r.FirstBlank, r.FirstNameless = s.name(r.FirstBlank), s.name(r.FirstNameless)
}

// inputError is an error with another text.
type inputError struct {
	err  error
	text string
}

func (e *inputError) Error() string { return e.text }

func (e *inputError) Unwrap() error { return e.err }
