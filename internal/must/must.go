// Package must checks results in tests, and ends a test that cannot get what it needs.
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

// Get returns v, and ends the test if err is not nil: must.Get(os.ReadFile(path))(t).
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

// Err returns the last of the values that a call returns, which is its error.
func Err(values ...any) error {
	err, _ := values[len(values)-1].(error)
	return err
}

// Fail fails the test unless err is an error of one line that contains all parts.
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

// Absent fails the test if there is a file or folder at path.
func Absent(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s is there, expected none", path)
	}
}
