package columnar

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/text"
)

// outputClasses collects the classes of an output as they are found.
type outputClasses struct {
	manifest.Label
	index   map[string]int32
	missing map[string]bool
	digits  finite.Digits // of numbers
}

const maxClasses = 1000

// add records the class of row i, or checks its number.
func (o *outputClasses) add(b *table.Batch, v *table.Values, i int) error {
	if o.Type == manifest.Number {
		_, _, err := o.number(b, v, i)
		return err
	}
	name, there := o.class(v, i)
	if !there {
		return nil
	}
	if _, known := o.index[name]; known {
		return nil
	}
	if err := b.CheckUTF8(i, o.Column, name); err != nil {
		return err
	}
	class := text.IndexSame(o.Classes, name)
	switch {
	case class >= 0:
		o.index[strings.Clone(name)] = int32(class)
		return nil
	case len(o.Classes) > 0:
		return b.Fault(i, o.Column, "one of the classes %s of the manifest, found %q", text.OneLine(strings.Join(o.Classes, ", "), 200),
			text.OneLine(name, 80))
	case !text.Printable(name) || name == "":
		return b.Fault(i, o.Column, "a class without control characters, found %q", text.OneLine(name, 80))
	case o.Type == manifest.Binary && len(o.index) == 2:
		return b.Fault(i, o.Column, "two classes of a binary label, found a third, %q: type: classes takes more", text.OneLine(name, 80))
	case len(o.index) == maxClasses:
		return b.Fault(i, o.Column, "at most %d classes, found more: is it a number? (type: number)", maxClasses)
	}
	o.index[strings.Clone(name)] = int32(len(o.index))
	return nil
}

// class returns the class of row i. there is false where it has none.
func (o *outputClasses) class(v *table.Values, i int) (name string, there bool) {
	if v.Lacks(i) {
		return "", false
	}
	name = v.Word(i)
	return name, !o.missing[name]
}

// number returns the number of row i. there is false where it has none.
func (o *outputClasses) number(b *table.Batch, v *table.Values, i int) (x float32, there bool, err error) {
	if _, there := o.class(v, i); !there {
		return 0, false, nil
	}
	wide, ok := v.Number(i)
	if math.IsNaN(wide) {
		return 0, false, nil
	}
	x = float32(wide) + 0 // -0 is 0
	if !ok || !(math.Abs(float64(x)) <= table.MaxFeature) || o.Logarithm().Refuses(float64(x)) != "" {
		name := v.Name(i)
		expected := v.Expected(i)
		switch {
		case ok && math.Abs(float64(x)) <= table.MaxFeature:
			expected = o.Logarithm().Refuses(float64(x))
		case ok || math.IsInf(wide, 0): // also of a text that is beyond float64
			expected = "a number of at most 1e+18 in magnitude"
		}
		return 0, false, b.Fault(i, o.Column, "%s, found %q", expected, text.OneLine(name, 80))
	}
	o.digits.Add(wide)
	return x, true, nil
}

// sortedClasses returns the names sorted, by value where all are numbers.
func sortedClasses(index map[string]int32) []string {
	names := slices.Sorted(maps.Keys(index))
	numbers := map[string]float64{}
	for _, n := range names {
		x, err := text.ParseNumber(n)
		if err != nil {
			return names
		}
		numbers[n] = x
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	return names
}
