package study

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/text"
)

// mostListed is the largest number of names, rows or labels in a message.
const mostListed = 5

// Told counts what a file of answers changed.
type Told struct {
	// Labels counts the rows with a new label, Replaced the rows whose label changed, Skipped the rows that were given up, Withdrawn those
	// of them that had a label, Unasked those among all of these that nobody had asked for, and Known the rows whose answer had been told
	// before.
	Labels    int `json:"labels"`
	Replaced  int `json:"replaced"`
	Skipped   int `json:"skipped"`
	Withdrawn int `json:"withdrawn,omitempty"`
	Unasked   int `json:"unasked"`
	Known     int `json:"known"`
	// Checked counts the rows that were marked as looked at, whose labels are right.
	Checked int `json:"checked,omitempty"`
	// Unlabelled counts the answers that neither have a label nor give their row up. They change nothing.
	Unlabelled int `json:"unlabelled,omitempty"`
	// NoColumn lists the columns of labels that the file does not have, which its rows get no label of.
	NoColumn []string `json:"no_column,omitempty"`
	Pending  int      `json:"pending"`
	// OddLabels are those among these labels, with the sources of these labels.
	OddLabels
}

// TellOptions says what answers may do besides adding labels.
type TellOptions struct {
	// Replace lets a label take the place of one that was told or is in the data, and lets a row with a label be given up. Without it
	// either is a [Contradiction].
	Replace bool
	// Checked says that the labels of the file were looked at and are right, including those that were told before: these rows are not
	// named as far from the others until their label changes. Only numbers are named so, and a study of classes refuses Checked.
	Checked bool
	// Encoding is that of the file, where it is text, by a name of the WHATWG Encoding Standard; UTF-8 where it is empty.
	Encoding string
}

// Answer is what somebody says of one row.
type Answer struct {
	// ID is the id of the row, which must be one of the data, whatever the answer says.
	ID string
	// Source, if it is not empty, must be the source that has the row.
	Source string
	// Labels holds the label of each column, as it would stand in a file: a class, or a number in the units of the column. Columns that are
	// missing say nothing, nor do empty labels and words for none, such as NaN and those that the manifest lists as missing. An answer
	// without a label that does not skip the row changes nothing, and is counted by [Told.Unlabelled].
	Labels map[string]string
	// Skip gives the row up: it is not asked for again, and a label that it has does not count. The answer has no labels then.
	Skip bool
}

// AnswerError is the error of an answer that cannot be taken, such as that of an unknown row, or with a word that is no
// label. What contradicts another answer is a [Contradiction] instead.
type AnswerError struct {
	// Index is the index of the answer in a call of TellAnswers, -1 in a file, whose place Err names.
	Index int
	Err   error
}

func (e *AnswerError) Error() string { return e.Err.Error() }

func (e *AnswerError) Unwrap() error { return e.Err }

// TellAnswers takes answers, all of them or none. The error for an answer that cannot be taken is an [AnswerError] or a
// [Contradiction].
func (s *Study) TellAnswers(ctx context.Context, answers []Answer, how TellOptions) (Told, error) {
	return s.tell(ctx, how, func(outputs []columnar.Output) ([]answer, int, error) {
		var out []answer
		for i := range answers {
			a, err := s.takeAnswer(&answers[i], outputs)
			if err != nil {
				return nil, 0, &AnswerError{i, fmt.Errorf("answer %d: %w", i, err)}
			}
			a.where, a.index = fmt.Sprintf("answer %d", i), i
			out = append(out, *a)
		}
		return out, 0, nil
	})
}

// Tell takes the answers of a file, all of them or none. Its errors are those of TellAnswers, and those of reading the file.
func (s *Study) Tell(ctx context.Context, path string, how TellOptions) (Told, error) {
	var lacks []string
	told, err := s.tell(ctx, how, func(outputs []columnar.Output) (out []answer, unlabelled int, err error) {
		out, unlabelled, lacks, err = s.readAnswers(path, how.Encoding, outputs)
		return out, unlabelled, err
	})
	if err == nil {
		told.NoColumn = lacks
	}
	return told, err
}

// tell takes the answers that from returns, with the number of others that say nothing.
func (s *Study) tell(ctx context.Context, how TellOptions, from func(outputs []columnar.Output) ([]answer, int, error)) (Told, error) {
	var told Told
	if s.data == nil {
		return told, ErrNotAttached
	}
	numbers := slices.ContainsFunc(s.data.Outputs, func(o columnar.Output) bool { return o.Type == manifest.Number })
	if how.Checked && !numbers {
		return told, errors.New("checked: expected labels that are numbers, of which some may be named as far from others, found classes")
	}
	read := s.outputs()
	answers, unlabelled, err := from(read)
	if err != nil {
		return told, err
	}
	held, err := s.lock(ctx, s.Dir)
	if err != nil {
		return told, err
	}
	defer held.Release()
	s, j, st, err := s.load()
	if err != nil {
		return told, err
	}
	if err := cmp.Or(s.restoreTable(st), s.expire(held, j, st)); err != nil {
		return told, err
	}
	more, err := s.admit(answers, read)
	if err != nil {
		return told, err
	}
	rows, err := s.placed(st, answers)
	if err != nil {
		return told, err
	}
	changed := newChanges(st, how)
	for _, a := range rows {
		changed.take(a)
	}
	changed.told.Unlabelled = unlabelled + len(answers) - labelled(answers)
	e, err := changed.event()
	if err != nil {
		return told, err
	}
	told, e.Classes = changed.told, more
	if err := ctx.Err(); err != nil {
		return Told{}, err
	}
	if len(e.Rows)+len(e.Skips)+len(e.Checked) > 0 {
		if err := s.write(held, j, Event{Tell: e}); err != nil {
			return Told{}, err
		}
		if err := st.apply(&j.events[len(j.events)-1]); err != nil {
			return Told{}, err
		}
		if odd, err := st.slipsOf(e); err == nil { // the answers are taken, whether or not their ids can be read
			told.OddLabels = odd
		}
	}
	told.Pending = st.pending()
	return told, nil
}

// placed is an answer with the place of its row.
type placed struct {
	*answer
	place
}

// placed returns the answers that say something with the places of their rows, each row once. An unknown id is an error, and different
// answers for one row are a [Contradiction].
func (s *Study) placed(st *state, answers []answer) ([]placed, error) {
	places, err := s.find(st, answers)
	if err == nil && mendUnknown(answers, places) {
		places, err = s.find(st, answers)
	}
	if err != nil {
		return nil, err
	}
	var out []placed
	before := make(map[place]*answer, len(answers))
	for i := range answers {
		a := &answers[i]
		at := places[a.id]
		if at.pool < 0 {
			return nil, s.unknownID(a, unknown(answers, places))
		}
		if name := s.data.Set.Pools[at.pool].Name; a.source != "" && a.source != name && strings.TrimSpace(a.source) != name {
			return nil, &AnswerError{a.index, fmt.Errorf("%s, column source: expected %s, which has the row %s, found %q", a.where, name,
				text.OneLine(a.id, 80), text.OneLine(a.source, 80))}
		}
		switch first := before[at]; {
		case a.empty:
		case first == nil:
			before[at], out = a, append(out, placed{a, at})
		case first.skip != a.skip || !sameValues(first.values, a.values):
			return nil, &Contradiction{Rows: s.contradicted(a, first.skip, first.values, true), Among: true, text: fmt.Sprintf(
				"%s: row %s is there twice with different answers, also at %s; nothing was changed", a.where, text.OneLine(a.id, 80), first.where)}
		}
	}
	return out, nil
}

// unknownID returns the error of an answer whose id no row has. several is the number of answers with an unknown id.
func (s *Study) unknownID(a *answer, several int) error {
	why := ""
	if several > 1 {
		why = fmt.Sprintf(", and %s of the file have no id of the data", text.Several(several, "row"))
	}
	padded, err := s.padded(a.id)
	if err != nil {
		return err
	}
	if padded != "" {
		why = fmt.Sprintf(", where the data have %s: leading zeros were lost, as spreadsheets do%s", text.OneLine(padded, 80), why)
	}
	return &AnswerError{a.index, fmt.Errorf("%s, column id: expected the id of a row of the data, found %q%s", a.where,
		text.OneLine(a.id, 80), why)}
}

// mendUnknown takes from ids that no row has the white space that people type and what programs add to whole numbers, as in 7.0 and
// 2.5e+07, and reports whether there was any.
func mendUnknown(answers []answer, places map[string]place) (some bool) {
	for i := range answers {
		a := &answers[i]
		if mended := mendedID(a.id); places[a.id].pool < 0 && mended != a.id && mended != "" {
			a.id, some = mended, true
		}
	}
	return some
}

func mendedID(id string) string {
	const exact = 1 << 53 // the whole numbers up to it that float64 tells apart
	id = strings.TrimSpace(id)
	if x, err := text.ParseNumber(id); err == nil && strings.ContainsAny(id, ".eE") && x == math.Trunc(x) && math.Abs(x) <= exact {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return id
}

// padded returns an id of the data that equals id apart from leading zeros, or "" where there is none.
func (s *Study) padded(id string) (found string, err error) {
	err = s.data.ScanIDs(func(_, _ int, of []byte) bool {
		if trimmed := bytes.TrimLeft(of, "0"); len(trimmed) < len(of) && cmp.Or(string(trimmed), "0") == id && string(of) != id {
			found = string(of)
		}
		return found == ""
	})
	return found, err
}

// unknown returns the number of answers whose id no row has.
func unknown(answers []answer, places map[string]place) (n int) {
	for _, a := range answers {
		if places[a.id].pool < 0 {
			n++
		}
	}
	return n
}

// labelled returns the number of answers that say something.
func labelled(answers []answer) (n int) {
	for i := range answers {
		if !answers[i].empty {
			n++
		}
	}
	return n
}

// sameValues reports whether the labels of two answers are equal, where NaN, which is no label, equals NaN.
func sameValues(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x == y || x != x && y != y })
}

func (s *Study) labelText(values []float32) string {
	var list []string
	for c, o := range s.data.Outputs {
		if word := textOf(o, values[c]); word != "" {
			list = append(list, text.OneLine(word, 80))
		}
	}
	return text.List(list, mostListed)
}
