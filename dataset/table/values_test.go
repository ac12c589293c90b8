package table

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A whole number has the same name in a column of float64 as in one of integers, wherever float64 holds all integers; any other number has
// one that reads back the same.
func TestNamesOfWholeNumbers(t *testing.T) {
	rng := testrand.New(t)
	for range 1000 {
		n := rng.Int64N(1<<53+1) >> rng.IntN(54)
		if rng.IntN(2) == 0 {
			n = -n
		}
		ints, floats := Values{Ints: []int64{n}}, Values{Numbers: []float64{float64(n)}}
		must.Equal(t, floats.Name(0), ints.Name(0), "the name of %d", n)
		x := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(80)-40))
		floats.Numbers[0] = x
		must.Equal(t, must.Get(strconv.ParseFloat(floats.Name(0), 64))(t), x, "the number of its name")
	}
	minus := Values{Numbers: []float64{math.Copysign(0, -1)}}
	must.Equal(t, minus.Word(0), "0", "a zero")
	for _, x := range []float64{math.Inf(1), math.Inf(-1), 1e300} {
		must.Equal(t, (&Values{Numbers: []float64{x}}).Name(0), strconv.FormatFloat(x, 'g', -1, 64), "the name of a large number")
	}
}

// Cells that a programming language takes for numbers and people take for codes are no numbers: neither as features, nor in lists, nor as
// single values, nor beside numbers with decimal commas.
func TestCodesAreNoNumbers(t *testing.T) {
	dir := t.TempDir()
	for _, code := range []string{"4_15", "1_2.5", "0x1p-2", "0X1P3", "1_2,5"} {
		for name, text := range map[string]string{
			"cell.csv":  "x\ty\n1.5\t2\n" + code + "\t3\n",
			"list.csv":  "x\ty\n[1.5]\t2\n[" + code + "]\t3\n",
			"comma.csv": "x\ty\n" + strings.Repeat("1,5\t2\n", 20) + code + "\t3\n",
		} {
			path := filepath.Join(dir, name)
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
			if name == "list.csv" && strings.Contains(code, ",") { // two elements
				continue
			}
			tab := must.Get(Open(path, CSV))(t)
			must.Fail(t, code, tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil }), name+": line ", ", column x",
				"expected a number", strconv.Quote(code))
			must.Do(t, tab.Scan(Query{Scalars: []string{"x"}}, func(b *Batch) error {
				_, is := b.Scalars[0].Number(b.Rows - 1)
				must.Hold(t, !is, "%s is a number", code)
				return nil
			}))
			must.Do(t, tab.Close())
		}
	}
}
