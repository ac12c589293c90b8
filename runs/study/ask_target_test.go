package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Whatever comes before, an ask for rows of the target has as many as are left of those without a label that are neither held out, nor of a
// group with held-out rows, nor pending, skipped or samples of the settings. Told, they are samples, and a replay chooses the same rows.
func TestAskTargetRows(t *testing.T) {
	rng := testrand.New(t)
	for _, c := range []struct {
		name, columns string
		is            func(source string, i int) (labelled, held bool)
	}{
		{"labelled samples", "", func(source string, i int) (bool, bool) { return source == "t" && i < 12, false }},
		{"samples that are asked for", "", func(source string, i int) (bool, bool) { return source == "t" && i < 4, false }},
		{"held-out rows", "", func(source string, i int) (bool, bool) { return source == "t" && (i < 12 || i > 30), i > 25 }},
		{"groups", ", group: who", func(source string, i int) (bool, bool) { return source == "t" && i < 15, false }},
	} {
		for range 4 {
			f := newFixtureIn(t, rng, c.columns, 9, c.is)
			for step := range 16 {
				f.step(t, rng, c.name, step)
			}
			must.Get(f.Verify(t.Context(), openNamed, nil))(t)
			p := must.Get(f.problem(1))(t)
			_, _, st, err := f.load()
			must.Do(t, err)
			samples := slices.Sorted(slices.Values(st.samples(p, 1).Target.Rows))
			must.Equal(t, len(slices.Compact(slices.Clone(samples))), len(samples), "%s: different samples", c.name)
			for _, e := range st.asks {
				for _, i := range e.Rows[0].Rows {
					if e.TargetRows > 0 && st.marks(p.Target.Pool)[i] == answered {
						must.Hold(t, slices.Contains(samples, i), "%s: row %d was asked for and answered, and is no sample", c.name, i)
					}
				}
			}
		}
	}
}

// step asks for rows of the target or of sources, or answers or gives up some rows that are pending, or lets time pass.
func (f *fixture) step(t *testing.T, rng *rand.Rand, name string, step int) {
	t.Helper()
	_, _, st, err := f.load()
	must.Do(t, err)
	must.Do(t, st.apply(&Event{Expire: &ExpireEvent{st.late(f.clock)}}))
	p := must.Get(f.problem(1))(t)
	pool := p.Target.Pool
	switch rng.IntN(4) {
	case 0:
		var left []int32
		marks, test := st.marks(pool), st.samples(p, 1).Test.Rows
		_, order, _ := p.Order()
		for i, mark := range marks {
			row := int32(i)
			one := len(p.Apart([]int32{row}, test)) == 1 && slices.Contains(f.data.TargetRows, row)
			if one && mark == free && !slices.Contains(st.firstTargetRows(p, order), row) {
				left = append(left, row)
			}
		}
		n := 1 + rng.IntN(8)
		a, err := f.Ask(t.Context(), Request{TargetRows: n, Expires: time.Hour, Key: fmt.Sprint(step)})
		if len(left) == 0 {
			must.Is(t, err, ErrAllAsked, "%s: no row is left", name)
			return
		}
		must.Do(t, err)
		must.Equal(t, len(a.Rows), min(n, len(left)), "%s: rows asked for of %d", name, len(left))
		for i, r := range a.Rows {
			at := slices.IndexFunc(left, func(row int32) bool { return must.Get(f.idOf(pool, row))(t) == r.ID })
			must.Hold(t, at >= 0 && r.Source == "t", "%s: asked for %+v", name, r)
			all := strings.HasSuffix(r.Reason, ", all rows left")
			must.Equal(t, all, n >= len(left)+i, "%s: %d rows of %d, reason %s", name, n, len(left)+i, r.Reason)
			left = slices.Delete(left, at, at+1)
		}
		again := must.Get(f.Ask(t.Context(), Request{TargetRows: n, Key: fmt.Sprint(step)}))(t)
		must.EqualSlices(t, again.Rows, a.Rows, "%s: the rows of the same request", name)
		_, err = f.Ask(t.Context(), Request{TargetRows: n + 1, Key: fmt.Sprint(step)})
		_, is := errors.AsType[*Contradiction](err)
		must.Hold(t, is, "%s: another request with its key: %v", name, err)
	case 1:
		if _, err := f.Ask(t.Context(), Request{Expires: time.Hour}); !errors.Is(err, ErrAllAsked) {
			must.Do(t, err)
		}
	case 2:
		lines := []string{"id,label,status"}
		for i, rows := range st.rows {
			for row, r := range rows {
				id := must.Get(f.idOf(i, row))(t)
				switch {
				case r.status != pending || rng.IntN(3) == 0:
				case rng.IntN(4) == 0:
					lines = append(lines, id+",,skip")
				default:
					lines = append(lines, id+","+f.labels[id]+",")
				}
			}
		}
		slices.Sort(lines[1:])
		must.Get(f.Tell(t.Context(), f.answers(t, fmt.Sprintf("%d.csv", step), lines...), TellOptions{}))(t)
	case 3:
		f.clock = f.clock.Add(time.Duration(rng.IntN(90)) * time.Minute)
	}
}

// The first ask for rows of sources, after one for rows of the target that were given up, is what it would have been without that one.
func TestTargetRowsFirst(t *testing.T) {
	for _, labelled := range []int{0, 5} { // rows of each source with a label in the data, which the first ask learns from
		seed := testrand.New(t).Uint64()
		asked := func(before bool) []AskedRow {
			f := newFixtureOf(t, rand.New(rand.NewPCG(seed, 0)), 9, func(source string, i int) (bool, bool) {
				return source == "t" && i < 12 || source != "t" && i < labelled, false
			})
			if before {
				lines := []string{"id,status"}
				for _, r := range must.Get(f.Ask(t.Context(), Request{TargetRows: 3}))(t).Rows {
					lines = append(lines, r.ID+",skip")
				}
				must.Get(f.Tell(t.Context(), f.answers(t, "skips.csv", lines...), TellOptions{}))(t)
			}
			a := must.Get(f.Ask(t.Context(), Request{Learn: func(ctx context.Context) error { return must.Err(f.Learn(ctx, openCPU)) }}))(t)
			must.Equal(t, strings.Contains(a.Rows[0].Reason, ": share "), labelled > 0, "reason %s", a.Rows[0].Reason)
			return a.Rows
		}
		must.EqualSlices(t, asked(true), asked(false), "the first ask for rows of sources, after one for the target")
	}
}
