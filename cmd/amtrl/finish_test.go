package main

import (
	"errors"
	"strings"
	"testing"
)

// An error is printed as one line, and control characters in it do not reach the terminal.
func TestFinishSaysOneLine(t *testing.T) {
	var said strings.Builder
	if code := finish(&said, errors.New("of \x1b[2J\u009b, ж\r\n\nand\tmore\a")); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if want := "amtrl: of ?[2J?, ж; and more?\n"; said.String() != want {
		t.Errorf("%q, expected %q", said.String(), want)
	}
}
