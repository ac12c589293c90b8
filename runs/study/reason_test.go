package study

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// The reason of a row says what the share of its source is due to.
func TestReason(t *testing.T) {
	for _, c := range []struct {
		by          string
		priced, all bool
		want        string
	}{
		{pipeline.ByRelevance, false, false, "relevance: share 12.5 %"},
		{pipeline.ByRelevance, false, true, "relevance: share 12.5 %, all rows left"},
		{pipeline.ByExploration, false, false, "exploration: share 12.5 %"},
		{pipeline.ByEven, false, false, "spread evenly: share 12.5 %"},
		{pipeline.ByRelevance, true, false, "relevance 0.30, share of the cost 12.5 %"},
		{pipeline.ByExploration, true, true, "exploration, share of the cost 12.5 %, all rows left"},
	} {
		got := reason(c.by, 0.3, 0.125, c.priced, c.all)
		must.Hold(t, got == c.want, "%q, expected %q", got, c.want)
	}
}
