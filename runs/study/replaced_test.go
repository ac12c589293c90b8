package study

import (
	"context"
	"testing"

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
