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
	// Budget is what the rows may cost, or 0 for the budget of the study.
	Budget float64
	// TargetRows is the number of rows of the target to ask for in place of rows of sources, which no budget pays for; 0 asks for rows of
	// sources. They become samples of the target beside those of the settings. No round is learned before.
	TargetRows int
	// Key makes the request repeatable: the same key gives the same rows.
	Key string
	// Expires is the time after which a row without an answer may be asked for again, 0 for never.
	Expires time.Duration
	// StopBelow is the gain below which nothing is asked for, in the unit of the score: 0.005 is half a point of an error. It does not count
	// until a gain can be expected, from two rounds on.
	StopBelow float64
	// Learn carries out a round that is due. Where it is nil, Ask does not learn.
	Learn func(context.Context) error
}

// Asked are rows to label, the most wanted first.
type Asked struct {
	Number  int
	Expires string
	Rows    []AskedRow
	// Path is the table of the rows in the folder of the study.
	Path string
	// Repeated says that the request was made before.
	Repeated bool
	// Pending is the number of rows that still wait for an answer to earlier asks. Unlearned says that, because of these, there are labels
	// that no round has learned from. Round is the number of the round that the ask is for: its rows go by the round before, and are spread
	// evenly in the first.
	Pending   int
	Unlearned bool
	Round     int
	// Unlabelled are the sources without labels that have enough rows to learn from, where other sources have labels. Because of them the
	// rows of a first ask are spread evenly.
	Unlabelled []string
	// Exhausted says that no row of a source is left, though the budget pays for more; for [Request.TargetRows], that no more rows of the
	// target can be asked for.
	Exhausted bool
	// Unmeasured says why no gain can be expected yet, so that Request.StopBelow did not count. It is empty where it did, or is 0.
	Unmeasured string
}

// AskedRow is a row to label.
type AskedRow struct {
	ID, Source, Reason string
	Cost               float64
	Priority           int
}

// Contradiction is the error of a request or an answer that is at odds with an earlier one. Nothing was changed.
type Contradiction struct {
	// Rows are the rows whose answers contradict earlier ones, with an element for each column that does. It is empty for requests.
	Rows []Contradicted
	// Among says that the earlier answer is one of the same call, so that [TellOptions.Replace] does not help.
	Among bool
	text  string
}

// Contradicted is the label of a row that is at odds with an earlier answer.
type Contradicted struct {
	ID string
	// Column is the column of the label. It is empty where one of the answers gives the row up: then Have or Got is empty, and the other has
	// the labels of all columns, separated by commas.
	Column string
	// Have is the earlier label and Got the later one, as they stand in a file.
	Have, Got string
}

func (e *Contradiction) Error() string { return e.text }

// ErrAllAsked is the error of an ask where no row is left.
var ErrAllAsked = errors.New("nothing to ask for: every row is asked for or given up")

// ErrScheduleOver is wrapped by the error of an ask without a budget after the last round of the study's schedule.
var ErrScheduleOver = errors.New("the schedule of the study is over")

// Stop is the error of an ask that is not worth its cost.
type Stop struct {
	Gain  Gain
	Below float64
}

func (e *Stop) Error() string {
	return fmt.Sprintf("stop: the next round is expected to lower the %s of %s by %s, which is below %s; nothing was asked",
		pipeline.MetricTitle(e.Gain.Metric), pipeline.Active, e.Gain, e.Gain.amount(e.Below))
}

func (r Request) check() error {
	switch {
	case r.Expires < 0:
		return fmt.Errorf("expires after %s: expected a time to come, or 0 for never", r.Expires)
	case !(r.StopBelow >= 0):
		return fmt.Errorf("stop below %g: expected a number that is not negative", r.StopBelow)
	case r.TargetRows < 0:
		return fmt.Errorf("%d rows of the target: expected a number that is not negative", r.TargetRows)
	case r.TargetRows > 0 && (r.Budget != 0 || r.StopBelow > 0):
		return errors.New("rows of the target: expected neither a budget nor a gain to stop below, which are for rows of sources")
	}
	return checkBudget(r.Budget)
}

// checkBudget accepts a positive budget, and 0, which stands for that of the study.
func checkBudget(budget float64) error {
	if budget != 0 && !(budget > 0 && budget <= math.MaxFloat64) {
		return fmt.Errorf("budget %g: expected a positive number", budget)
	}
	return nil
}
