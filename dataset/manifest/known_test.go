package manifest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// What is said is not guessed beside: a column that would have been guessed stays one of the features.
func TestLookGuessesNothingBesideTheKnown(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"wage", number}, columnOf{"part", of("train", "test")}, columnOf{"school", of("8", "12", "16")},
		columnOf{"fold", of("train", "train", "test")}, columnOf{"price", of("1", "2", "3", "4")}, columnOf{"fee", of("1", "2", "3", "4")},
		columnOf{"industry", of("mining", "trade", "finance", "media")}, columnOf{"nr", func(i int) string { return fmt.Sprint("r", i) }},
		columnOf{"id", func(i int) string { return fmt.Sprint(i * i) }}, columnOf{"shift", of("early", "late", "night")})
	known := Known{ID: "nr", Source: "industry", Split: "fold", Cost: "fee", Labels: []string{"wage"}, Target: "media"}
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
	must.EqualSlices(t, g.Features, []string{"school", "price", "id"}, "features")
	must.EqualSlices(t, g.Others, []string{"part (text of 2 values)", "shift (text of 3 values)"}, "columns that are not used")
}
