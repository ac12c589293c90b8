package pipeline

import (
	"cmp"
	"fmt"
	"math"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Check returns an error if epochs are not records that this problem can have left.
func (p *Problem) Check(epochs []Epoch) error {
	limit := p.Available()
	for i := range epochs {
		rec := &epochs[i]
		method, e := p.round(i)
		switch {
		case e == 0:
			return fmt.Errorf("expected at most %d epochs, found %d", i, len(epochs))
		case rec.Method != method || rec.Epoch != e:
			return fmt.Errorf("expected epoch %d of %s in place %d, found epoch %d of %s", e, method, i, rec.Epoch, rec.Method)
		case len(rec.Counts) != len(p.Sources) || len(rec.Nu) != len(p.Sources):
			return fmt.Errorf("epoch %d of %s: expected %d sources, found %d counts and %d nu",
				e, method, len(p.Sources), len(rec.Counts), len(rec.Nu))
		}
		if u := rec.Uncertainty; u != nil {
			for _, v := range [][]float64{u.NuLow, u.NuHigh, u.ShareLow, u.ShareHigh, u.TopFive} {
				if len(v) != len(p.Sources) {
					return fmt.Errorf("epoch %d of %s: expected intervals of %d sources, found %d", e, method, len(p.Sources), len(v))
				}
			}
		}
		if err := cmp.Or(rec.checkRelevance(), rec.checkLosses()); err != nil {
			return fmt.Errorf("epoch %d of %s: %w", e, method, err)
		}
		for m, n := range rec.Counts {
			if n < 0 || n > limit[m] {
				return fmt.Errorf("epoch %d of %s: source %d has %d samples, expected 0 to %d", e, method, m, n, limit[m])
			}
		}
	}
	return nil
}

// checkRelevance returns an error if the next round cannot be allocated by e.
func (e *Epoch) checkRelevance() error {
	for m, nu := range e.Nu {
		if !(math.Abs(nu) <= MaxNu) {
			return fmt.Errorf("nu of source %d is %g, expected a number from %g to %g", m, nu, -MaxNu, MaxNu)
		}
	}
	if n := len(e.Match); n != 0 && n != len(e.Nu) {
		return fmt.Errorf("expected match of %d sources, found %d", len(e.Nu), n)
	}
	for _, of := range []struct {
		what  string
		value float64
	}{{"own", e.Own}, {"match by chance", e.MatchByChance}} {
		if !(of.value >= 0 && of.value <= 1) {
			return fmt.Errorf("%s is %g, expected a number from 0 to 1", of.what, of.value)
		}
	}
	if !(e.NuByChance >= 0 && e.NuByChance <= math.MaxFloat64) {
		return fmt.Errorf("nu by chance is %g, expected a number that is not negative", e.NuByChance)
	}
	return finite("a match", e.Match)
}

// checkLosses returns an error if methods cannot be compared by the losses of e.
func (e *Epoch) checkLosses() error {
	if n, rates := len(e.NoisyLoss), len(regress.NoiseRates)-1; n != 0 && n != rates {
		return fmt.Errorf("expected the log-loss at %d rates of noise, found %d", rates, n)
	}
	switch l := e.Losses; {
	case l == nil:
	case l.Rows < 1 || l.Units < 0 || l.Groups < 0 || l.Squares < 0 || len(l.Sums) == 0:
		return fmt.Errorf("expected losses of rows, found %d losses, %d rows, %d groups and %d sums", l.Rows, l.Units, l.Groups, len(l.Sums))
	case (l.Groups > 0 || l.Each != nil) && len(l.Each) != len(l.Sums):
		return fmt.Errorf("expected the numbers of rows of %d sums of losses, found %d", len(l.Sums), len(l.Each))
	}
	return nil
}
