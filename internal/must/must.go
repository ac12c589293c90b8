// Package must ends a test where what it needs cannot be had.
package must

import "testing"

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
