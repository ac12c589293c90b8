package study

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Label Studio imports what an ask writes, and its export can be told: the last annotation counts, and a cancelled one skips the row.
func TestLabelStudio(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	raw := must.Get(a.LabelStudio())(t)
	var tasks []labelStudioTask
	must.Do(t, json.Unmarshal(raw, &tasks))
	if len(tasks) != len(a.Rows) || tasks[0].Data["id"] != a.Rows[0].ID {
		t.Fatalf("it imports %s", raw)
	}
	id := func(i int) string { return a.Rows[i].ID }
	export := `[
 {"id": 1, "data": {"id": "` + id(0) + `", "source": "` + a.Rows[0].Source + `"}, "annotations": [
  {"id": 7, "was_cancelled": false, "result": [{"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": ["no"]}}]},
  {"id": 8, "was_cancelled": false, "result": [{"from_name": "kind", "to_name": "text", "type": "choices",
	"value": {"choices": ["yes"]}}]}]},
 {"id": 2, "data": {"id": "` + id(1) + `"}, "annotations": [{"was_cancelled": true, "result": []}]},
 {"id": 3, "data": {"id": "` + id(2) + `"}, "annotations": []}]`
	told := must.Get(f.Tell(t.Context(), f.answers(t, "export.json", export), TellOptions{}))(t)
	if told.Labels != 1 || told.Skipped != 1 || told.Pending != len(a.Rows)-2 {
		t.Errorf("it told %+v", told)
	}
	_, _, st, err := f.load()
	must.Do(t, err)
	pool := f.places[a.Rows[0].Source]
	found := false
	for _, r := range st.rows[pool] {
		found = found || r.status == answered && f.labelText(r.values) == "yes"
	}
	if !found {
		t.Error("the last annotation is not the label")
	}
	for _, test := range []struct{ text, want string }{
		{`{}`, "expected a list of rows, or of tasks as Label Studio exports them"},
		{``, "expected a list of rows, or of tasks as Label Studio exports them"},
		{`[] []`, "expected a list of rows, or of tasks as Label Studio exports them: byte 4: more after the list"},
		{`[{"data": {}}]`, "task 0, data.id: expected the id of a row"},
		{`[{"data": {"id": "` + id(3) + `"}, "annotations": [{"result": [{"from_name": "kind", "value": {"choices": ["maybe"]}}]}]}]`,
			"task 0, kind: expected one of the classes no, yes, found \"maybe\""},
		{`[{"data": {"id": "` + id(3) + `"}, "annotations": [{"result": [{"from_name": "kind", "value": {"choices": ["no", "yes"]}}]}]}]`,
			"expected one choice, found 2"},
	} {
		_, err := f.Tell(t.Context(), f.answers(t, "wrong.json", test.text), TellOptions{})
		must.Fail(t, test.text, err, test.want)
	}
	_, err = f.Tell(t.Context(), f.answers(t, "again.json", export), TellOptions{Checked: true})
	must.Fail(t, "checked classes", err, "expected labels that are numbers", "found classes")
}

// Of several annotations only one counts, as a whole: an earlier one adds no label of another column.
func TestLastAnnotationCounts(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	outputs := []columnar.Output{
		{Name: "kind", Type: "class", Classes: []string{"no", "yes"}}, {Name: "price", Type: "class", Classes: []string{"low", "high"}},
	}
	kind, price := `{"from_name": "kind", "value": {"choices": ["no"]}}`, `{"from_name": "price", "value": {"choices": ["high"]}}`
	export := `[
 {"data": {"id": "a1"}, "annotations": [{"result": [` + kind + `, ` + price + `]}, {"result": [` + kind + `]}, {"was_cancelled": true}]},
 {"data": {"id": "a2"}, "annotations": [{"result": [` + kind + `]}, {"result": [` + price + `]}]},
 {"data": {"id": "a3"}, "annotations": [{"result": [` + kind + `]}, {"result": []}]}]`
	got, unlabelled, err := f.readLabelStudio(f.answers(t, "export.json", export), outputs)
	must.Do(t, err)
	must.Hold(t, len(got) == 2 && unlabelled == 1, "%d rows with a label and %d without", len(got), unlabelled)
	none := float32(math.NaN())
	for i, want := range [][]float32{{0, none}, {none, 1}} {
		must.Hold(t, sameValues(got[i].values, want) && !got[i].skip, "%s has %v, want %v", got[i].id, got[i].values, want)
	}
}
