package study

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Answers from memory leave the bytes that the same answers in a file leave, and those that are refused change nothing.
func TestTellAnswers(t *testing.T) {
	rng := testrand.New(t)
	f := newFixture(t, rng)
	asked := must.Get(f.Ask(t.Context(), Request{}))(t)
	twin := filepath.Join(t.TempDir(), "S")
	must.Do(t, os.CopyFS(twin, os.DirFS(f.Dir)))
	other := f.open(t, twin)

	lines, answers := []string{"id,source,label,status"}, []Answer{}
	for i, r := range asked.Rows {
		a := Answer{ID: r.ID, Labels: map[string]string{"label": f.labels[r.ID]}}
		status := ""
		switch {
		case i == 0:
			a.Skip, a.Labels, status = true, nil, "skip"
		case i == 1:
			a.Labels["label"] = "" // says nothing
		case rng.IntN(2) == 0:
			a.Source = r.Source
		}
		lines, answers = append(lines, r.ID+","+a.Source+","+a.Labels["label"]+","+status), append(answers, a)
	}
	before := foldertest.Read(t, other.Dir)
	right := answers[2]
	for what, c := range map[string]struct {
		is   Answer
		want string
	}{
		"column": {Answer{ID: right.ID, Labels: map[string]string{"Label": "yes"}}, `answer 1: expected labels of label, found one of "Label"`},
		"class": {Answer{ID: right.ID, Labels: map[string]string{"label": "maybe"}},
			"answer 1: row " + right.ID + `, column label: expected one of the classes no, yes, found "maybe"`},
		"both":           {Answer{ID: right.ID, Labels: right.Labels, Skip: true}, "answer 1: expected labels or Skip, found both"},
		"no id":          {Answer{Labels: right.Labels}, "answer 1: expected the id of a row, found none"},
		"id":             {Answer{ID: "nobody", Labels: right.Labels}, "answer 1"},
		"id of no label": {Answer{ID: "nobody"}, "answer 1"},
		"nothing":        {Answer{}, "answer 1: expected the id of a row, found none"},
		"source":         {Answer{ID: right.ID, Source: "elsewhere", Labels: right.Labels}, "answer 1, column source: expected "},
		"twice": {Answer{ID: right.ID, Skip: true}, "answer 1: row " + right.ID +
			" is there twice with different answers, also at answer 0"},
	} {
		err := must.Err(other.TellAnswers(t.Context(), []Answer{right, c.is}, TellOptions{}))
		must.Fail(t, what, err, c.want)
		of, is := errors.AsType[*AnswerError](err)
		must.Hold(t, is == (what != "twice") && (!is || of.Index == 1), "%s: %T, expected the error of answer 1", what, err)
		if what == "class" || what == "id" || what == "source" {
			file := f.answers(t, what+".csv", "id,source,label", c.is.ID+","+c.is.Source+","+c.is.Labels["label"])
			of, is := errors.AsType[*AnswerError](must.Err(other.Tell(t.Context(), file, TellOptions{})))
			must.Hold(t, is && of.Index == -1, "%s in a file: %v, expected the error of an answer", what, of)
		}
	}
	_, is := errors.AsType[*AnswerError](must.Err(other.Tell(t.Context(), "missing.csv", TellOptions{})))
	must.Hold(t, !is, "a missing file is the error of an answer")
	foldertest.Equal(t, "answers that were refused", foldertest.Read(t, other.Dir), before)

	want := must.Get(f.Tell(t.Context(), f.answers(t, "all.csv", lines...), TellOptions{}))(t)
	got := must.Get(other.TellAnswers(t.Context(), answers, TellOptions{}))(t)
	must.Hold(t, got.Labels == want.Labels && got.Skipped == 1 && got.Pending == 1 && want.Pending == 1, "%+v, expected %+v", got, want)
	must.Hold(t, got.Unlabelled == 1 && want.Unlabelled == 1, "%d and %d rows have no label, expected 1", got.Unlabelled, want.Unlabelled)
	got = must.Get(other.TellAnswers(t.Context(), []Answer{right, {ID: right.ID}, {ID: right.ID, Labels: map[string]string{"label": "NaN"}}},
		TellOptions{}))(t)
	must.Hold(t, got.Known == 1 && got.Unlabelled == 2, "a label and two answers that say nothing: %+v", got)
	foldertest.Equal(t, "answers from memory", foldertest.Read(t, other.Dir), foldertest.Read(t, f.Dir))
}

// Unasked counts the rows that something new is told of and nobody asked for, whatever was told of them before.
func TestUnasked(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	asked := must.Get(f.Ask(t.Context(), Request{}))(t).Rows[0].ID
	for _, c := range []struct {
		line    string
		unasked int
	}{
		{asked + ",yes,", 0}, {asked + ",no,", 0}, {asked + ",,skip", 0},
		{"t30,yes,", 1}, {"t30,no,", 1}, {"t30,no,", 0}, {"t30,,skip", 1}, {"t30,,skip", 0}, {"t30,yes,", 1},
		{"t0,no,", 0}, {"t0,yes,", 1}, // has the label no in the data
	} {
		told := must.Get(f.Tell(t.Context(), f.answers(t, "1.csv", "id,label,status", c.line), TellOptions{Replace: true}))(t)
		must.Equal(t, told.Unasked, c.unasked, "%s: rows that nobody asked for", c.line)
	}
}

// A file that lacks one of several columns of labels is taken, and the column is named.
func TestNoColumn(t *testing.T) {
	f := newColumns(t)
	for _, c := range []struct {
		header, row string
		lacks       []string
	}{
		{"id,label,second", "a20,no,no", nil},
		{"id,second,my label", "a21,no,no", []string{"label"}},
		{"id,LABEL", "a22,no", []string{"second"}},
	} {
		told := must.Get(f.Tell(t.Context(), f.answers(t, "some.csv", c.header, c.row), TellOptions{}))(t)
		must.Equal(t, told.Labels, 1, "%s", c.header)
		must.EqualSlices(t, told.NoColumn, c.lacks, "%s", c.header)
	}
}
