package study

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// newNumbers returns a fixture of ten sources and a target with labels near 20.
func newNumbers(t *testing.T) *fixture {
	rng := testrand.New(t)
	f := &fixture{folder: t.TempDir() + "/data", labels: map[string]string{}}
	rows := [][]string{{"id", "source", "label", "x0", "x1"}}
	for i := range 11 {
		source := string(rune('a' + i))
		if i == 10 {
			source = "t"
		}
		for r := range 40 {
			id, x, y, label := source+strconv.Itoa(r), rng.NormFloat64(), rng.NormFloat64(), ""
			f.labels[id] = fmt.Sprintf("%.2f", 20+2*max(-2.5, min(2.5, x))+max(-2.5, min(2.5, y)))
			if source == "t" {
				label = f.labels[id]
			}
			rows = append(rows, []string{id, source, label, fmt.Sprint(x), fmt.Sprint(y)})
		}
	}
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K = 2
	f.create(t, rows, "", "type: number", 300, cfg, pipeline.SettingK)
	return f
}

// What data check says of a table, a study says of answers: wrong units of a source, wrong numbers, however many, and zeros for no number.
// Right answers are not named, and neither are checked ones.
func TestOddAnswersAreNamed(t *testing.T) {
	times := func(by float64) func(string) string {
		return func(label string) string {
			return strconv.FormatFloat(by*must.Get(strconv.ParseFloat(label, 64))(t), 'g', 6, 64)
		}
	}
	for what, c := range map[string]struct {
		is    func(id string, k int) bool // row k of those of its source
		as    func(string) string
		units string
	}{
		"right":       {func(string, int) bool { return false }, nil, ""},
		"a source":    {func(id string, _ int) bool { return id[0] == 'c' }, times(1000), "c"},
		"in each":     {func(_ string, k int) bool { return k < 4 }, times(1000), ""},
		"a few":       {func(id string, k int) bool { return id[0] == 'd' && k < 7 }, times(100), ""},
		"most of one": {func(id string, k int) bool { return id[0] == 'd' && k < 17 }, times(1000), ""},
		"zeros":       {func(_ string, k int) bool { return k%15 == 0 }, func(string) string { return "0" }, ""},
	} {
		f := newNumbers(t)
		asked := must.Get(f.Ask(t.Context(), Request{}))(t)
		answers, odd, seen := []Answer(nil), []string(nil), map[string]int{}
		for _, r := range asked.Rows {
			label := f.labels[r.ID]
			if k := seen[r.Source]; c.is(r.ID, k) {
				label = c.as(label)
				if c.units == "" {
					odd = append(odd, r.ID)
				}
			}
			seen[r.Source]++
			answers = append(answers, Answer{ID: r.ID, Labels: map[string]string{"label": label}})
		}
		check := func(by string, far []FarLabel, names []string, units []OtherUnit) {
			var found []string
			for i, l := range far {
				found = append(found, l.ID)
				must.Hold(t, l.Source == l.ID[:1] && l.Column == "label" && names[i] == l.String(), "%s: %+v is called %q", what, l, names[i])
			}
			slices.Sort(found)
			slices.Sort(odd)
			missed := slices.DeleteFunc(slices.Clone(odd), func(id string) bool { return slices.Contains(found, id) })
			must.Hold(t, 10*len(missed) <= len(odd) && len(found) == len(odd)-len(missed), "%s: %s names %v, expected %v", what, by, found, odd)
			must.Equal(t, len(units), len(c.units), "%s: %s names units %v", what, by, units)
			for _, u := range units {
				must.Hold(t, u.Source == c.units && u.Column == "label" && u.Low > 500*u.UsualLow && u.High > u.Low, "%s: %+v", what, u)
				must.Hold(t, strings.HasPrefix(u.String(), "nine of ten labels of label in c are from "), "%s", u)
			}
		}
		told := must.Get(f.TellAnswers(t.Context(), answers, TellOptions{}))(t)
		check("tell", told.FarLabels, told.Far, told.OtherUnits)
		st := must.Get(f.Status())(t)
		check("status", st.FarLabels, st.Far, st.OtherUnits)
		must.Get(f.TellAnswers(t.Context(), answers, TellOptions{Checked: true}))(t)
		st = must.Get(f.Status())(t)
		must.Hold(t, len(st.Far)+len(st.OtherUnits) == 0, "%s: checked labels are named: %v %v", what, st.Far, st.OtherUnits)
	}
}

// A checked number is named again once another replaces it, which nobody has looked at.
func TestCheckedUntilReplaced(t *testing.T) {
	f := newNumbers(t)
	asked := must.Get(f.Ask(t.Context(), Request{}))(t)
	var answers []Answer
	for _, r := range asked.Rows {
		answers = append(answers, Answer{ID: r.ID, Labels: map[string]string{"label": f.labels[r.ID]}})
	}
	far := func(how TellOptions) int {
		t.Helper()
		must.Get(f.TellAnswers(t.Context(), answers, how))(t)
		return len(must.Get(f.Status())(t).Far)
	}
	answers[0].Labels["label"] = "20000"
	must.Equal(t, far(TellOptions{}), 1, "far numbers")
	must.Equal(t, far(TellOptions{Checked: true}), 0, "far numbers that were checked")
	must.Equal(t, far(TellOptions{}), 0, "far numbers that were told again as they are")
	answers[0].Labels["label"] = "30000"
	must.Equal(t, far(TellOptions{Replace: true}), 1, "far numbers that were replaced")
}

// A contradiction has the rows, with the earlier and the later label.
func TestContradictedRows(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	asked := must.Get(f.Ask(t.Context(), Request{}))(t)
	first, second := asked.Rows[0].ID, asked.Rows[1].ID
	of := func(id, label string) Answer {
		return Answer{ID: id, Labels: map[string]string{"label": label}, Skip: label == ""}
	}
	must.Get(f.TellAnswers(t.Context(), []Answer{of(first, "yes"), of(second, "no")}, TellOptions{}))(t)
	for what, c := range map[string]struct {
		answers []Answer
		want    []Contradicted
		among   bool
	}{
		"labels": {[]Answer{of(first, "no"), of(second, "yes")}, []Contradicted{
			{first, "label", "yes", "no"}, {second, "label", "no", "yes"}}, false},
		"a skip":  {[]Answer{of(first, "")}, []Contradicted{{first, "", "yes", ""}}, false},
		"twice":   {[]Answer{of("a39", "no"), of("a39", "yes")}, []Contradicted{{"a39", "label", "no", "yes"}}, true},
		"skipped": {[]Answer{of("a39", ""), of("a39", "yes")}, []Contradicted{{"a39", "", "", "yes"}}, true},
	} {
		_, err := f.TellAnswers(t.Context(), c.answers, TellOptions{})
		is, ok := errors.AsType[*Contradiction](err)
		must.Hold(t, ok && slices.Equal(is.Rows, c.want) && is.Among == c.among, "%s: %v has %+v, expected %+v", what, err, is, c.want)
		must.Hold(t, !strings.Contains(err.Error(), "--"), "%s: %s", what, err)
	}
}

// Blanks around the names of columns, a status or a source are ignored, as spreadsheets leave them.
func TestBlanksInAnswers(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	asked := must.Get(f.Ask(t.Context(), Request{}))(t)
	first, second := asked.Rows[0], asked.Rows[1]
	told := must.Get(f.Tell(t.Context(), f.answers(t, "blanks.csv", " ID ,Label , source , status", first.ID+",yes,"+first.Source+" ,",
		second.ID+",, "+second.Source+",\" skip \"", asked.Rows[2].ID+",?,,", asked.Rows[3].ID+",,,", ",,,"), TellOptions{}))(t)
	must.Hold(t, told.Labels == 1 && told.Skipped == 1 && told.Unlabelled == 2, "it told %+v", told)
}

// Of a sheet with decimal commas, the one row with a point is refused, and named alone.
func TestPointAmongCommas(t *testing.T) {
	f := newNumbers(t)
	asked := must.Get(f.Ask(t.Context(), Request{}))(t)
	lines := []string{"label;id"}
	for i, r := range asked.Rows {
		label := strings.Replace(f.labels[r.ID], ".", ",", 1)
		if i == 5 {
			label = "17.25"
		}
		lines = append(lines, label+";"+r.ID)
	}
	err := must.Err(f.Tell(t.Context(), f.answers(t, "sheet.csv", lines...), TellOptions{}))
	must.Fail(t, "a point", err, "sheet.csv: line 7, column label: expected a number with a decimal comma", `found "17.25"`)
	must.Hold(t, !strings.Contains(err.Error(), "not right either"), "it blames others too: %v", err)
	lines[6] = "17,25;" + asked.Rows[5].ID
	must.Equal(t, must.Get(f.Tell(t.Context(), f.answers(t, "mended.csv", lines...), TellOptions{}))(t).Labels, len(asked.Rows), "labels")
}
