package main

import (
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amtrl/amtrl/internal/must"
)

// What takes five seconds or more is noted, once, and not what is done before, nor anything if quiet.
func TestNoteLate(t *testing.T) {
	for _, c := range []struct {
		took  time.Duration
		quiet bool
		want  string
	}{{4 * time.Second, false, ""}, {time.Minute, false, "reading rows.csv\n"}, {time.Minute, true, ""}} {
		stderr, r := os.Stderr, (*os.File)(nil)
		synctest.Test(t, func(t *testing.T) {
			r, os.Stderr = must.Get2(os.Pipe())(t)
			o := &output{}
			o.quiet.V = c.quiet
			done := o.noteLate("reading %s", "rows.csv")
			time.Sleep(c.took)
			done()
			time.Sleep(time.Minute)
			os.Stderr.Close()
		})
		os.Stderr = stderr
		must.Equal(t, string(must.Get(io.ReadAll(r))(t)), c.want, "what is noted of work of %v, quiet %v", c.took, c.quiet)
	}
}
