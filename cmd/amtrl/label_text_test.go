package main

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
)

// Where other columns could be the label too, the output says how to name one of them, and that several can be named.
func TestLabelTextOfSeveral(t *testing.T) {
	g := &manifest.Guess{Manifest: new(manifest.Manifest), Classes: []map[string]int{{"no": 9, "yes": 9}}}
	g.Labels = []manifest.Label{{Column: "D", Type: manifest.Binary}}
	must.Hold(t, !strings.Contains(labelText(g), "--label"), "one column alone: %s", labelText(g))
	g.Maybe = []string{"A", "B"}
	said := labelText(g)
	must.Hold(t, strings.HasSuffix(said, ", or is it A or B? --label NAME says which, --label NAME,NAME takes several"), "%s", said)
}
