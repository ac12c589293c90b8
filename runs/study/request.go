package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/amtrl/amtrl/pipeline"
)

// Request says what to ask for.
type Request struct {
	// Budget is what the rows may cost, 0 for that of the study.
	Budget float64
	// Key makes the request one that can be repeated: the same key gives the same rows.
	Key string
	// Expires is after how long a row that has no answer may be asked for again, 0 for never.
	Expires time.Duration
	// StopBelow refuses to ask where the next round is expected to gain less, once something is expected: from two rounds on.
	StopBelow float64
	// Learn carries a round out that is due; nil where none is to be.
	Learn func(context.Context) error
}

// Asked are rows to label, the most wanted first.
type Asked struct {
	Number  int
	Expires string
	Rows    []AskedRow
	// Path is the table of the rows in the folder of the study.
	Path string
	// Repeated says that the request had been made before.
	Repeated bool
	// Pending are rows that still wait for an answer to earlier asks, and Unlearned says that labels came that no round has learned from
	// for it.
	Pending   int
	Unlearned bool
	// Unlabelled are sources without a label of which there are rows enough to learn from, where others have some, and the rows of a first
	// ask are spread evenly for it.
	Unlabelled []string
	// Unmeasured says that Request.StopBelow did not count, as no gain is known yet.
	Unmeasured bool
}

// AskedRow is a row to label.
type AskedRow struct {
	ID, Source, Reason string
	Cost               float64
	Priority           int
}

// Contradiction is the error of what is at odds with something told or asked before. Nothing was changed.
type Contradiction struct{ text string }

func (e *Contradiction) Error() string { return e.text }

// ErrAllAsked is the error of an ask where no row is left.
var ErrAllAsked = errors.New("nothing to ask for: every row is asked for or given up")

// Stop is the error of an ask that is not worth its cost.
type Stop struct {
	Gain  Gain
	Below float64
}

func (e *Stop) Error() string {
	return fmt.Sprintf("stop: the next round is expected to lower the %s of %s by %s, which is below %s; nothing was asked",
		e.Gain.Metric, pipeline.Active, e.Gain, e.Gain.amount(e.Below))
}

func (r Request) check() error {
	switch {
	case r.Expires < 0:
		return fmt.Errorf("expires after %s: expected a time to come, or 0 for never", r.Expires)
	case !(r.StopBelow >= 0):
		return fmt.Errorf("stop below %g: expected a number that is not negative", r.StopBelow)
	}
	return checkBudget(r.Budget)
}

// checkBudget takes 0, which is the study's own.
func checkBudget(budget float64) error {
	if budget != 0 && !(budget > 0 && budget <= math.MaxFloat64) {
		return fmt.Errorf("budget %g: expected a positive number", budget)
	}
	return nil
}
