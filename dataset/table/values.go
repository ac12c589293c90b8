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

// Values is a column with at most one value per row. One of Text, Ints, Numbers and Bools is set, with an entry for each row.
type Values struct {
	// Missing says which rows have no value. It is empty where all rows have one.
	Missing []bool
	Text    []string
	Ints    []int64
	Numbers []float64
	Bools   []bool
	// DecimalComma says that numbers in Text have a decimal comma, as spreadsheets write them in many countries.
	DecimalComma bool
}

// IsMissing reports whether row i has no value.
func (v *Values) IsMissing(i int) bool { return len(v.Missing) > 0 && v.Missing[i] }

// Lacks reports whether row i has no value, or NaN.
func (v *Values) Lacks(i int) bool {
	return v.IsMissing(i) || v.Numbers != nil && math.IsNaN(v.Numbers[i])
}

// IsEmpty reports whether row i has no value, NaN, or a text of white space alone.
func (v *Values) IsEmpty(i int) bool { return v.Lacks(i) || v.Text != nil && v.Word(i) == "" }

// maxWhole bounds the whole numbers that are integers stored as float64, each of which it can tell from its neighbours.
const maxWhole = 1 << 53

// Name returns the value of row i as text: integers in decimal, booleans as true and false, numbers in the fewest digits that read back the
// same. Whole numbers up to 2^53 are written like integers, which programs store as numbers where cells are missing.
func (v *Values) Name(i int) string {
	switch {
	case v.Text != nil:
		return v.Text[i]
	case v.Ints != nil:
		return strconv.FormatInt(v.Ints[i], 10)
	case v.Bools != nil:
		return strconv.FormatBool(v.Bools[i])
	}
	if x := v.Numbers[i]; x == math.Trunc(x) && math.Abs(x) <= maxWhole {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(v.Numbers[i], 'g', -1, 64)
}

// Word returns [Values.Name] in the form of a class or source name: white space alone becomes empty, and a zero has no sign.
func (v *Values) Word(i int) string { return text.Word(v.Name(i)) }

// Category returns [Values.Word] as the name of a category. there is false where row i has none, by [text.NoWord].
func (v *Values) Category(i int) (word string, there bool) {
	if v.Lacks(i) {
		return "", false
	}
	word = v.Word(i)
	return word, word != "" && !text.NoWord(word)
}

// Plain returns [Values.Name] with a decimal point where it is a number with a decimal comma and DecimalComma is set. ok is then false for
// a number that has a point already, whose value would be a guess.
func (v *Values) Plain(i int) (name string, ok bool) {
	if name = v.Name(i); v.DecimalComma && v.Text != nil {
		return withPoint(name)
	}
	return name, true
}

// Number returns the value of row i as a number. ok is false for a text that is not a number.
func (v *Values) Number(i int) (x float64, ok bool) {
	switch {
	case v.Text != nil:
		plain, ok := v.Plain(i)
		x, err := text.ParseNumber(strings.TrimSpace(plain))
		return x, ok && err == nil
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

// parseFeature parses a number, or true as 1 and false as 0, in any capitalisation, since programs differ in it. A number beyond float64
// becomes infinite.
func parseFeature(word string) (x float64, ok bool) {
	x, err := text.ParseNumber(word)
	switch {
	case err == nil || errors.Is(err, strconv.ErrRange):
		return x, true
	case strings.EqualFold(word, "true"):
		return 1, true
	}
	return 0, strings.EqualFold(word, "false")
}

// Expected says, for an error message, what was expected in place of the value of row i, which is not a number.
func (v *Values) Expected(i int) string {
	if _, ok := v.Plain(i); !ok {
		return withoutPoint(v.Name(i))
	}
	return PlainNumber(v.Name(i))
}

// withoutPoint says what is expected in place of a number with a point in a file of numbers with decimal commas or points between
// thousands.
func withoutPoint(cell string) string {
	if group.MatchString(strings.TrimSpace(cell)) {
		return "a number without a point, which can be between thousands in this file"
	}
	return "a number with a decimal comma, as others in this file have"
}

// Take appends value i of from, a column of the same kind, to v.
func (v *Values) Take(from *Values, i int) {
	v.Missing, v.DecimalComma = append(v.Missing, from.IsMissing(i)), from.DecimalComma
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

// Vectors holds rows of Width elements each. One of U8, F16 (bit patterns) and F32 is set.
type Vectors struct {
	Width int
	U8    []uint8
	F16   []uint16
	F32   []float32
	lost  []float64 // rounding errors of the first elements of F32; all elements beyond them are exact
}

// Wide returns element i of F32 before it was rounded.
func (v *Vectors) Wide(i int) float64 {
	if i < len(v.lost) {
		return float64(v.F32[i]) + v.lost[i]
	}
	return float64(v.F32[i])
}

// Element returns element i, whatever its type. An element of F32 is that before rounding.
func (v *Vectors) Element(i int) float64 {
	switch {
	case len(v.U8) > 0:
		return float64(v.U8[i])
	case len(v.F16) > 0:
		return float64(float16.Frombits(v.F16[i]).Float32())
	}
	return v.Wide(i)
}

// Exact reports whether no element was rounded.
func (v *Vectors) Exact() bool { return len(v.lost) == 0 }

// Set sets element i of F32 to x.
func (v *Vectors) Set(i int, x float64) {
	v.F32[i] = float32(x)
	lost := x - float64(v.F32[i])
	if lost-lost != 0 {
		lost = 0 // x is not finite
	}
	if n := len(v.lost); lost != 0 && i >= n {
		v.lost = slices.Grow(v.lost, i+1-n)[:i+1]
		clear(v.lost[n:])
	}
	if i < len(v.lost) {
		v.lost[i] = lost
	}
}

// Centre subtracts the centre of each feature from it. All elements become float32.
func (v *Vectors) Centre(centre []float64) {
	v.widen()
	for i := range v.F32 {
		v.Set(i, v.Wide(i)-centre[i%v.Width])
	}
}

// widen makes all elements float32.
func (v *Vectors) widen() {
	for _, x := range v.U8 {
		v.F32 = append(v.F32, float32(x))
	}
	for _, x := range v.F16 {
		v.F32 = append(v.F32, float16.Frombits(x).Float32())
	}
	v.U8, v.F16 = nil, nil
}

// push appends x to F32.
func (v *Vectors) push(x float64) {
	v.F32 = append(v.F32, 0)
	v.Set(len(v.F32)-1, x)
}

// Len returns the number of elements.
func (v *Vectors) Len() int { return len(v.U8) + len(v.F16) + len(v.F32) }

func (v *Vectors) reset() { v.U8, v.F16, v.F32, v.lost = v.U8[:0], v.F16[:0], v.F32[:0], v.lost[:0] }

// MaxFeature is the largest magnitude of a feature, the same as in pools.
const MaxFeature = 1e18

// tooLarge returns an error where a feature exceeds MaxFeature in magnitude. word is how the file writes it.
func tooLarge(x float64, word string) error {
	if !(math.Abs(float64(float32(x))) > MaxFeature) {
		return nil
	}
	return fmt.Errorf("expected a finite number of at most 1e+18 in magnitude, found %q", text.OneLine(word, maxQuoted))
}

// check returns an error where an element is not finite or exceeds MaxFeature in magnitude. NaN is accepted where the query allows gaps,
// except in lists.
func (b *Batch) check(q *Query) error {
	v, features := &b.Features, q.names()
	lists := len(features) == 1 && v.Width > 1
	if lists && b.vectorless != nil {
		b.countNotFinite()
		return nil
	}
	fault := func(i int, x float32) error {
		what := fmt.Sprintf("column %s, element %d", features[0], i%v.Width)
		if !lists {
			what = "column " + features[i%v.Width]
		}
		if x != x && !lists && !q.inList(i%v.Width) {
			return fmt.Errorf("%s, %s: %w", b.Where(i/v.Width), what, &MissingError{"NaN"})
		}
		found := fmt.Sprintf("expected a finite number of at most 1e+18 in magnitude, found %v", x)
		if lists {
			return fmt.Errorf("%s, %s: %w", b.Where(i/v.Width), what, &VectorError{found})
		}
		return fmt.Errorf("%s, %s: %s", b.Where(i/v.Width), what, found)
	}
	for i, x := range v.F32 {
		if !(math.Abs(float64(x)) <= MaxFeature) && !(x != x && b.gaps && !lists && !q.inList(i%v.Width)) {
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

// grow gives v n elements of type e in place of those it has. Their content is undefined.
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

// resize returns a slice of n elements, in the memory of v where that is large enough. Their content is undefined.
func resize[E any](v []E, n int) []E {
	if cap(v) < n {
		return make([]E, n)
	}
	return v[:n]
}

// closeVector returns an error where the vector that begins at element before does not have the width of v. A width of 0 is set to the
// length of the vector.
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
