package study

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
)

// Programs tell errors apart without reading them, and no error has words of the command line.
func TestErrorsOfStudies(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	_, none := Open(t.TempDir())
	_, learned := f.LatestRound()
	_, few := f.Learn(t.Context(), openCPU)
	out := filepath.Join(t.TempDir(), "out.csv")
	must.Get(f.Export(out))(t)
	_, there := f.Export(out)
	foreign := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(foreign, "notes"), nil, 0o644))
	settings := f.Settings
	settings.RoundBudget++
	_, unopened := f.Learn(t.Context(), nil)
	_, unopenedVerify := f.Verify(t.Context(), nil, nil)
	for what, c := range map[string]struct{ err, is error }{
		"no study":          {none, fs.ErrNotExist},
		"nothing learned":   {learned, ErrNothingLearned},
		"too few":           {few, ErrTooFew},
		"an export":         {there, fs.ErrExist},
		"a foreign folder":  {Create(foreign, f.Settings, f.folder, f.data), runs.ErrOtherSettings},
		"another study":     {Create(f.Dir, settings, f.folder, f.data), runs.ErrOtherSettings},
		"not attached":      {must.Err(must.Get(Open(f.Dir))(t).Status()), ErrNotAttached},
		"no data":           {Create(t.TempDir(), f.Settings, f.folder, nil), errNoData},
		"no device":         {unopened, errNoDevice},
		"no device, verify": {unopenedVerify, errNoDevice},
	} {
		must.Hold(t, errors.Is(c.err, c.is), "%s: %v is not %v", what, c.err, c.is)
		must.Hold(t, !strings.Contains(c.err.Error(), "amtrl") && !strings.Contains(c.err.Error(), "--"), "%s: %s", what, c.err)
	}
	must.Do(t, Create(f.Dir, f.Settings, f.folder, f.data))
}

// An ask that pays for more rows than there are says so.
func TestExhausted(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{Budget: 100}))(t)
	must.Hold(t, len(a.Rows) == 100 && !a.Exhausted, "%d of 120 rows, exhausted %v", len(a.Rows), a.Exhausted)
	a = must.Get(f.Ask(t.Context(), Request{Budget: 21, Key: "all"}))(t)
	must.Hold(t, len(a.Rows) == 20 && a.Exhausted, "%d of 20 rows, exhausted %v", len(a.Rows), a.Exhausted)
	a = must.Get(f.Ask(t.Context(), Request{TargetRows: 3}))(t)
	must.Hold(t, len(a.Rows) == 3 && !a.Exhausted, "%d rows of the target, exhausted %v", len(a.Rows), a.Exhausted)
	a = must.Get(f.Ask(t.Context(), Request{TargetRows: 50}))(t)
	must.Hold(t, len(a.Rows) < 50 && a.Exhausted, "%d rows of the target, exhausted %v", len(a.Rows), a.Exhausted)
	f = newFixture(t, testrand.New(t))
	a = must.Get(f.Ask(t.Context(), Request{Budget: 120}))(t)
	must.Hold(t, len(a.Rows) == 120 && !a.Exhausted, "%d of 120 rows, exhausted %v", len(a.Rows), a.Exhausted)
}

// A score of a round in which a bit has another value is refused by whoever goes by it, and not by what does not.
func TestChangedScore(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	path := filepath.Join(f.RoundDir(1), runs.ScoreFile)
	raw := must.Get(os.ReadFile(path))(t)
	at := bytes.Index(raw, []byte(`"value": 0.`)) + len(`"value": 0.`)
	raw[at] = '0' + (raw[at]-'0')%9 + 1
	must.Do(t, os.WriteFile(path, raw, 0o644))
	for what, read := range map[string]func() error{
		"status":  func() error { return must.Err(f.Status()) },
		"plan":    func() error { return must.Err(f.Plan(0)) },
		"learned": func() error { return must.Err(ReadLearned(f.Dir)) },
	} {
		must.Fail(t, what, read(), path+": expected sha256 ", "it was changed; restore it from a copy of the study")
	}
	must.Do(t, must.Err(f.Ask(t.Context(), Request{})))
}
