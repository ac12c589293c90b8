package study

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// campaign asks, tells and learns twice, and returns the lines of the journal.
func (f *fixture) campaign(t *testing.T) []string {
	t.Helper()
	for range 2 {
		asked := must.Get(f.Ask(t.Context(), Request{}))(t)
		lines := []string{"id,label"}
		for _, r := range asked.Rows {
			lines = append(lines, r.ID+","+f.labels[r.ID])
		}
		must.Get(f.Tell(t.Context(), f.answers(t, "a.csv", lines...), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	return strings.SplitAfter(strings.TrimSpace(string(must.Get(os.ReadFile(filepath.Join(f.Dir, journalFile)))(t))), "\n")
}

// A journal that was lost, or replaced by an older copy, is refused where asks or rounds are left that it does not have. A round whose line
// alone is missing is one of a killed process, and is learned again.
func TestLostJournal(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	lines := f.campaign(t)
	must.Equal(t, len(lines), 6, "lines")
	path := filepath.Join(f.Dir, journalFile)
	whole := foldertest.Read(t, f.Dir)
	answers := f.answers(t, "b.csv", "id,label", "a0,no")
	for n, file := range []string{"asks/0002.csv", "asks/0002.csv", "asks/0002.csv", "asks/0002.csv", "rounds/0002", ""} {
		must.Do(t, os.WriteFile(path, []byte(strings.Join(lines[:n], "")), 0o644))
		if n == 0 {
			must.Do(t, os.Remove(path))
		}
		before := foldertest.Read(t, f.Dir)
		calls := map[string]func() error{
			"status": func() error { return must.Err(f.Status()) },
			"verify": func() error {
				return must.Err(f.Verify(t.Context(), openNamed, nil))
			},
			"latest": func() error { return must.Err(f.LatestRound()) },
			"ask":    func() error { return must.Err(f.Ask(t.Context(), Request{Budget: 5})) },
			"tell":   func() error { return must.Err(f.Tell(t.Context(), answers, TellOptions{})) },
			"learn":  func() error { return must.Err(f.Learn(t.Context(), openCPU)) },
		}
		for what, call := range calls {
			switch {
			case file != "":
				must.Fail(t, what, call(), filepath.Join(f.Dir, filepath.FromSlash(file))+": expected no more than", "older copy")
				foldertest.Equal(t, what, foldertest.Read(t, f.Dir), before)
			case what == "status" || what == "verify":
				must.Do(t, call())
			}
		}
	}
	must.Get(f.Learn(t.Context(), openCPU))(t)
	foldertest.Equal(t, "learned again", foldertest.Read(t, f.Dir), whole)
}

// A process that is killed between any two writes leaves what the next command goes on from.
func TestKilledBetweenWrites(t *testing.T) {
	for _, c := range []struct {
		what, fails string
		lines       int // of the journal after the failure
	}{
		{"before the line of an ask", journalFile, 0},
		{"between the line of an ask and its table", "0001.csv", 1},
		{"in the middle of a round", "score.json", 2},
		{"between a round and its line", journalFile, 2},
	} {
		f := newFixture(t, testrand.New(t))
		at := filepath.Join(f.Dir, asksDir, "0001.csv")
		fail := func(op atomicfile.Op, path string) error {
			if filepath.Base(path) == c.fails && (op == atomicfile.OpRename || op != atomicfile.OpRead && c.fails == journalFile) {
				return syscall.EIO
			}
			return nil
		}
		ask := func(ctx context.Context) error { return must.Err(f.Ask(ctx, Request{Key: "k"})) }
		tell := func() error {
			return must.Err(f.Tell(t.Context(), f.answers(t, "a.csv", "id,label", "a0,no", "a1,yes", "b0,no", "b1,yes"), TellOptions{}))
		}
		if c.lines > 0 && c.fails != "0001.csv" {
			must.Do(t, ask(t.Context()))
			must.Do(t, tell())
		}
		t.Run(c.what, func(t *testing.T) {
			atomicfile.Intercept(t, fail)
			if c.lines == 2 {
				must.Is(t, must.Err(f.Learn(t.Context(), openCPU)), syscall.EIO, "%s", c.what)
			} else {
				must.Is(t, ask(t.Context()), syscall.EIO, "%s", c.what)
			}
		})
		must.Equal(t, must.Get(f.Status())(t).Events, c.lines, "%s", c.what)
		verify := func() {
			t.Helper()
			must.Get(f.Verify(t.Context(), openNamed, nil))(t)
		}
		verify()
		if c.lines < 2 {
			must.Absent(t, at)
			if c.lines == 0 {
				must.Do(t, ask(t.Context()))
			}
			must.Do(t, tell())
		}
		must.Do(t, must.Err(os.Stat(at)))
		must.Get(f.Learn(t.Context(), openCPU))(t)
		verify()
	}
}
