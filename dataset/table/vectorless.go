package table

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/amtrl/amtrl/internal/text"
)

// VectorError is the error of a row without a vector, or with one that has missing elements or elements that are not finite.
type VectorError struct{ text string }

func (e *VectorError) Error() string { return e.text }

// Scan calls t.Scan. Where a row has no whole vector, it reads the rest of the file too, and adds to the error how many other rows have
// none.
func Scan(ctx context.Context, t Table, q Query, f func(*Batch) error) error {
	err := t.Scan(q, f)
	if _, is := errors.AsType[*VectorError](err); !is {
		return err
	}
	n := 0
	q.vectorless = &n
	counted := t.Scan(q, func(*Batch) error { return ctx.Err() })
	if n--; counted != nil || n < 1 {
		return fmt.Errorf("%w: take the row out of the file, or make its vector", err)
	}
	return fmt.Errorf("%w; %s of the file %s no whole vector either: take these rows out of the file, or make their vectors", err,
		text.Several(n, "other row"), text.Form(n, "has", "have"))
}

// passes reports whether err says that a row has no whole vector, and such rows are only counted: the row is, and the elements of it that
// follow the first before elements are removed. A batch then has fewer vectors than rows.
func (b *Batch) passes(err error, before int) bool {
	if _, is := errors.AsType[*VectorError](err); !is || b.vectorless == nil {
		return false
	}
	*b.vectorless++
	b.Features.truncate(before)
	return true
}

// truncate keeps the first n elements.
func (v *Vectors) truncate(n int) {
	v.U8, v.F16, v.F32 = v.U8[:min(n, len(v.U8))], v.F16[:min(n, len(v.F16))], v.F32[:min(n, len(v.F32))]
}

// countNotFinite adds the vectors with an element that is not finite to those that are counted.
func (b *Batch) countNotFinite() {
	v := &b.Features
	for i, last := 0, -1; i < v.Len(); i++ {
		if x := v.Element(i); !(math.Abs(float64(x)) <= MaxFeature) && i/v.Width != last {
			last = i / v.Width
			*b.vectorless++
		}
	}
}
