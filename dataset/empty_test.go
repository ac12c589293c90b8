package dataset

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A set without pools, and no pool, are refused or have no warnings.
func TestNoPool(t *testing.T) {
	s := &Set{Name: "mine"}
	must.Fail(t, "classes", s.AddClasses(nil, "label", nil, nil), `mine: column "label": expected a pool, found nil`)
	must.Fail(t, "numbers", s.AddNumbers(nil, "label", nil, nil), `mine: column "label": expected a pool, found nil`)
	must.Equal(t, len(s.Warnings().Oddities(true)), 0, "findings")
}
