package manifest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Booleans, as pandas.get_dummies makes them, are features like numbers, and no sources.
func TestLookAtBooleans(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(int) string { return words[rng.IntN(len(words))] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"label", of("p", "q", "")}, columnOf{"small", of("True", "False")}, columnOf{"team", of("w", "x", "y")},
		columnOf{"age", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"old", of("TRUE", "FALSE")},
		columnOf{"gap", of("true", "false", "")})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Equal(t, g.Source, "team", "source")
	must.EqualSlices(t, g.Features, []string{"small", "age", "old"}, "features")
	must.Hold(t, len(g.Others) == 1 && g.Others[0] != "gap (text of 2 values)", "columns that are not used: %q", g.Others)
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"age"}}))(t)
	must.EqualSlices(t, g.Others[:2], []string{"small (booleans beside the features)", "old (booleans beside the features)"}, "not used")
}
