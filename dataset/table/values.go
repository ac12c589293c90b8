package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/text"
)

// Values is a column of single values. One of Text, Ints, Numbers and Bools is
// set, with an entry for each row.
type Values struct {
	// Missing tells which rows have no value. It is empty where all have one.
	Missing []bool
	Text    []string
	Ints    []int64
	Numbers []float64
	Bools   []bool
}

// IsMissing tells whether row i has no value.
func (v *Values) IsMissing(i int) bool { return len(v.Missing) > 0 && v.Missing[i] }

// Lacks tells whether row i has no value, or a number that is none.
func (v *Values) Lacks(i int) bool {
	return v.IsMissing(i) || v.Numbers != nil && math.IsNaN(v.Numbers[i])
}

// IsEmpty tells whether row i has no value, a number that is none, or a text of blanks alone.
func (v *Values) IsEmpty(i int) bool { return v.Lacks(i) || v.Text != nil && v.Word(i) == "" }

// Name is the value of row i as text: integers in decimal, booleans as true and
// false, numbers in the fewest digits that read back the same.
func (v *Values) Name(i int) string {
	switch {
	case v.Text != nil:
		return v.Text[i]
	case v.Ints != nil:
		return strconv.FormatInt(v.Ints[i], 10)
	case v.Bools != nil:
		return strconv.FormatBool(v.Bools[i])
	}
	return strconv.FormatFloat(v.Numbers[i], 'g', -1, 64)
}

// Word is [Values.Name] as the name of a class or a source: nothing for white space alone, and a zero without a sign.
func (v *Values) Word(i int) string { return text.Word(v.Name(i)) }

// Category is [Values.Word] as the name of a category; there says whether there is one, as [text.NoWord] has it.
func (v *Values) Category(i int) (word string, there bool) {
	if v.Lacks(i) {
		return "", false
	}
	word = v.Word(i)
	return word, word != "" && !text.NoWord(word)
}

// Number is the value of row i as a number; ok says whether it is one.
func (v *Values) Number(i int) (x float64, ok bool) {
	switch {
	case v.Text != nil:
		x, err := strconv.ParseFloat(v.Text[i], 64)
		return x, err == nil
	case v.Ints != nil:
		return float64(v.Ints[i]), true
	case v.Bools != nil:
		if v.Bools[i] {
			return 1, true
		}
		return 0, true
	}
	return v.Numbers[i], true
}

// parseFeature reads a number, or 1 for true and 0 for false, which programs capitalise
// each in its own way. What float64 cannot hold is infinite.
func parseFeature(word string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(word, 64)
	switch {
	case err == nil || errors.Is(err, strconv.ErrRange):
		return x, true
	case strings.EqualFold(word, "true"):
		return 1, true
	}
	return 0, strings.EqualFold(word, "false")
}

// Take appends value i of a column of the same kind.
func (v *Values) Take(from *Values, i int) {
	v.Missing = append(v.Missing, from.IsMissing(i))
	switch {
	case from.Text != nil:
		v.Text = append(v.Text, from.Text[i])
	case from.Ints != nil:
		v.Ints = append(v.Ints, from.Ints[i])
	case from.Bools != nil:
		v.Bools = append(v.Bools, from.Bools[i])
	default:
		v.Numbers = append(v.Numbers, from.Numbers[i])
	}
}

// reset empties the column and keeps its memory.
func (v *Values) reset() {
	v.Missing, v.Text, v.Ints, v.Numbers, v.Bools = v.Missing[:0], v.Text[:0], v.Ints[:0], v.Numbers[:0], v.Bools[:0]
}

// Vectors are rows of Width elements each. One of U8, F16 (bit patterns) and F32
// is set.
type Vectors struct {
	Width int
	U8    []uint8
	F16   []uint16
	F32   []float32
	lost  []float64 // what was rounded away of the first of F32; of those behind them nothing was
}

// Wide is element i of F32 before it was rounded.
func (v *Vectors) Wide(i int) float64 {
	if i < len(v.lost) {
		return float64(v.F32[i]) + v.lost[i]
	}
	return float64(v.F32[i])
}

// Element is element i, whatever its type.
func (v *Vectors) Element(i int) float64 {
	switch {
	case len(v.U8) > 0:
		return float64(v.U8[i])
	case len(v.F16) > 0:
		return float64(float16.Frombits(v.F16[i]).Float32())
	}
	return v.Wide(i)
}

// Exact tells whether nothing was rounded away.
func (v *Vectors) Exact() bool { return len(v.lost) == 0 }

// Set makes x element i of F32.
func (v *Vectors) Set(i int, x float64) {
	v.F32[i] = float32(x)
	lost := x - float64(v.F32[i])
	if lost-lost != 0 {
		lost = 0 // of what is not finite
	}
	if n := len(v.lost); lost != 0 && i >= n {
		v.lost = slices.Grow(v.lost, i+1-n)[:i+1]
		clear(v.lost[n:])
	}
	if i < len(v.lost) {
		v.lost[i] = lost
	}
}

// Centre takes the centre of each feature from it, and makes all float32.
func (v *Vectors) Centre(centre []float64) {
	for _, x := range v.U8 {
		v.F32 = append(v.F32, float32(x))
	}
	for _, x := range v.F16 {
		v.F32 = append(v.F32, float16.Frombits(x).Float32())
	}
	v.U8, v.F16 = nil, nil
	for i := range v.F32 {
		v.Set(i, v.Wide(i)-centre[i%v.Width])
	}
}

// push appends x to F32.
func (v *Vectors) push(x float64) {
	v.F32 = append(v.F32, 0)
	v.Set(len(v.F32)-1, x)
}

// Len is the number of elements.
func (v *Vectors) Len() int { return len(v.U8) + len(v.F16) + len(v.F32) }

func (v *Vectors) reset() { v.U8, v.F16, v.F32, v.lost = v.U8[:0], v.F16[:0], v.F32[:0], v.lost[:0] }

// MaxFeature is the largest feature in magnitude, that of pools.
const MaxFeature = 1e18

// tooLarge refuses a feature beyond MaxFeature, which the file has as that word.
func tooLarge(x float64, word string) error {
	if !(math.Abs(float64(float32(x))) > MaxFeature) {
		return nil
	}
	return fmt.Errorf("expected a finite number of at most 1e+18 in magnitude, found %q", text.OneLine(word, maxQuoted))
}

// check refuses elements that are not finite, but for gaps, or beyond MaxFeature.
func (b *Batch) check(features []string) error {
	v := &b.Features
	lists := len(features) == 1 && v.Width > 1
	fault := func(i int, x float32) error {
		what := fmt.Sprintf("column %s, element %d", features[0], i%v.Width)
		if !lists {
			what = "column " + features[i%v.Width]
		}
		if x != x && !lists {
			return fmt.Errorf("%s, %s: %w", b.Where(i/v.Width), what, &MissingError{"NaN"})
		}
		return fmt.Errorf("%s, %s: expected a finite number of at most 1e+18 in magnitude, found %v", b.Where(i/v.Width), what, x)
	}
	for i, x := range v.F32 {
		if !(math.Abs(float64(x)) <= MaxFeature) && !(x != x && b.gaps && !lists) {
			return fault(i, x)
		}
	}
	for i, x := range v.F16 {
		if x&0x7c00 == 0x7c00 {
			return fault(i, float16.Frombits(x).Float32())
		}
	}
	return nil
}

// grow makes room for n elements, in the place of those that are there.
func (v *Vectors) grow(e Element, n int) {
	v.reset()
	switch e {
	case Uint8:
		v.U8 = resize(v.U8, n)
	case Float16:
		v.F16 = resize(v.F16, n)
	default:
		v.F32 = resize(v.F32, n)
	}
}

// resize is v with n elements, whatever they hold.
func resize[E any](v []E, n int) []E {
	if cap(v) < n {
		return make([]E, n)
	}
	return v[:n]
}

// closeVector holds the length of the vector that begins at element before against
// the width, or makes it the width.
func (v *Vectors) closeVector(column string, before int) error {
	width := len(v.F32) - before
	if v.Width == 0 {
		v.Width = width
	}
	if width != v.Width || width == 0 {
		return fmt.Errorf("column %s: expected %d elements, found %d", column, v.Width, width)
	}
	return nil
}
