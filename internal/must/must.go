// Package must ends a test where what it needs cannot be had.
package must

import (
	"os"
	"strings"
	"testing"
)

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is v without the error, which ends the test: must.Get(os.ReadFile(path))(t).
func Get[A any](v A, err error) func(testing.TB) A {
	return func(t testing.TB) A {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Get2 is Get for two values.
func Get2[A, B any](v A, w B, err error) func(testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		Do(t, err)
		return v, w
	}
}

// Err is the error that a call returns last, beside values that are of no use.
func Err(values ...any) error {
	err, _ := values[len(values)-1].(error)
	return err
}

// Fail reports where an error is not there, is of more than one line, or lacks a part.
func Fail(t testing.TB, what string, err error, parts ...string) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, expected an error of one line", what, err)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v, expected a line with %q", what, err, p)
		}
	}
}

// Absent reports a file or folder that is there.
func Absent(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s is there, expected none", path)
	}
}
