package study

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where each ask has a budget of its own, an ask learns first once labels were replaced, even if rows are pending; otherwise it waits for
// these.
func TestAskLearnsFromReplacedLabels(t *testing.T) {
	for _, replace := range []bool{true, false} {
		// A label of a row that no round has learned from, first told wrongly, may be replaced without this.
		f := newFixture(t, testrand.New(t))
		a := must.Get(f.Ask(t.Context(), Request{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, "1.csv", a), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
		b := must.Get(f.Ask(t.Context(), Request{}))(t)
		wrong := b.Rows[0].ID + "," + map[string]string{"no": "yes", "yes": "no"}[f.labels[b.Rows[0].ID]]
		must.Get(f.Tell(t.Context(), f.answers(t, "wrong.csv", "id,label", wrong), TellOptions{}))(t)
		right := b.Rows[0].ID + "," + f.labels[b.Rows[0].ID]
		must.Get(f.Tell(t.Context(), f.answers(t, "right.csv", "id,label", right), TellOptions{Replace: true}))(t)
		id := a.Rows[0].ID
		line := id + "," + map[string]string{"no": "yes", "yes": "no"}[f.labels[id]]
		if !replace {
			line = id + "," + f.labels[id]
		}
		must.Get(f.Tell(t.Context(), f.answers(t, "2.csv", "id,label", line), TellOptions{Replace: true}))(t)
		must.Equal(t, must.Get(f.Status())(t).Outdated, replace, "the last round is outdated")
		learned := 0
		must.Get(f.Ask(t.Context(), Request{Learn: func(ctx context.Context) error {
			learned++
			return must.Err(f.Learn(ctx, openCPU))
		}}))(t)
		must.Equal(t, learned == 1, replace, "an ask learns after labels were replaced: %v", replace)
		must.Get(f.Verify(t.Context(), openNamed, nil))(t)
	}
}

// Whether a round has learned from a label that is replaced is decided for each column.
func TestReplacedInOneColumn(t *testing.T) {
	f := newColumns(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	const first, second, skip = "a0,yes,,", "a0,,no,", "a0,,,skip"
	for what, c := range map[string]struct {
		lines []string
		wrong bool
	}{
		"after the other was told":  {[]string{first, second}, true},
		"with the other":            {[]string{"a0,yes,no,"}, true},
		"withdrawn":                 {[]string{first, skip}, true},
		"told anew after that":      {[]string{skip, first}, true},
		"told alone":                {[]string{first}, false},
		"that no round has had":     {[]string{first, "a0,no,,"}, false},
		"that was never in a round": {[]string{"a20,yes,yes,", "a20,yes,no,", "a20,,,skip"}, false},
	} {
		twin := filepath.Join(t.TempDir(), "S")
		must.Do(t, os.CopyFS(twin, os.DirFS(f.Dir)))
		s := f.open(t, twin)
		for _, line := range c.lines {
			must.Get(s.Tell(t.Context(), f.answers(t, "1.csv", "id,label,second,status", line), TellOptions{Replace: true}))(t)
		}
		must.Equal(t, must.Get(s.Status())(t).Outdated, c.wrong, "a label %s: the last round is outdated", what)
	}
	for _, line := range []string{"a20,yes,,", "a20,,no,"} { // a row belongs to the round that had its first label
		must.Get(f.Tell(t.Context(), f.answers(t, "2.csv", "id,label,second,status", line), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	raw := string(must.Get(os.ReadFile(filepath.Join(f.RoundDir(3), "rows.csv")))(t))
	must.Hold(t, strings.Contains(raw, "\n2,a,a20,"), "row a20: expected round 2 in\n%s", raw)
}

// A label that is replaced while a round learns from it makes that round outdated.
func TestReplacedWhileLearning(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "1.csv", a), TellOptions{}))(t)
	id := a.Rows[0].ID
	line := id + "," + map[string]string{"no": "yes", "yes": "no"}[f.labels[id]]
	must.Get(f.Learn(t.Context(), func() (backend.Device, error) {
		must.Get(f.Tell(t.Context(), f.answers(t, "2.csv", "id,label", line), TellOptions{Replace: true}))(t)
		return openCPU()
	}))(t)
	must.Hold(t, must.Get(f.Status())(t).Outdated, "the round that had the label is not outdated")
	must.Equal(t, must.Get(f.Learn(t.Context(), openCPU))(t), 2, "the next round")
	must.Hold(t, !must.Get(f.Status())(t).Outdated, "the next round is outdated")
}

// A row that was replaced stays one of the round that had it first.
func TestReplacedRowsKeepTheirRound(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "1.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	id, late := a.Rows[0].ID, must.Get(f.Ask(t.Context(), Request{}))(t).Rows[0].ID
	other := map[string]string{"no": "yes", "yes": "no"}[f.labels[id]]
	must.Get(f.Tell(t.Context(), f.answers(t, "2.csv", "id,label", id+","+other, late+",yes"), TellOptions{Replace: true}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	raw := string(must.Get(os.ReadFile(filepath.Join(f.RoundDir(2), "rows.csv")))(t))
	for id, round := range map[string]string{id: "1", late: "2"} {
		must.Hold(t, strings.Contains(raw, "\n"+round+","+id[:1]+","+id+","), "row %s: expected round %s in\n%s", id, round, raw)
	}
}
