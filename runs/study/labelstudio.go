package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
)

const maxLabelStudio = 1 << 30

// labelStudioTask is a task of Label Studio's JSON, as it is imported and exported.
type labelStudioTask struct {
	Data        map[string]any          `json:"data"`
	Annotations []labelStudioAnnotation `json:"annotations,omitempty"`
}

type labelStudioAnnotation struct {
	Cancelled bool                `json:"was_cancelled"`
	Result    []labelStudioResult `json:"result"`
}

type labelStudioResult struct {
	From  string `json:"from_name"`
	Type  string `json:"type"`
	Value struct {
		Choices []string `json:"choices"`
		Number  *float64 `json:"number"`
		Rating  *float64 `json:"rating"`
		Text    []string `json:"text"`
	} `json:"value"`
}

// LabelStudio returns the JSON that Label Studio imports, with a task for each row.
func (a *Asked) LabelStudio() ([]byte, error) {
	tasks := make([]labelStudioTask, len(a.Rows))
	for i, r := range a.Rows {
		tasks[i].Data = map[string]any{"id": r.ID, "source": r.Source, "priority": r.Priority, "ask": a.Number}
	}
	return jsonfile.Encode(tasks)
}

// isLabelStudio reports whether a JSON list with these columns is one of tasks, or empty, rather than one of rows.
func isLabelStudio(columns []table.Column) bool {
	return len(columns) == 0 || slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == "data" && c.Kind == table.Other })
}

// readLabelStudio reads the JSON that Label Studio exports. The label of a column comes from the control of that name, or from any control
// where there is only one column. Of several annotations of a task the last one that is not cancelled counts; a task whose annotations are
// all cancelled is a skipped row. readLabelStudio leaves out the other tasks without a label, and returns their number.
func (s *Study) readLabelStudio(path string, outputs []columnar.Output) (out []answer, unlabelled int, err error) {
	raw, err := atomicfile.ReadFile(path, maxLabelStudio)
	if err != nil {
		return nil, 0, err
	}
	tasks, err := decodeLabelStudio(raw)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: expected a list of rows, or of tasks as Label Studio exports them: %w", path, err)
	}
	for n, t := range tasks {
		a := answer{where: fmt.Sprintf("%s: task %d", path, n), index: -1}
		switch id := t.Data["id"].(type) {
		case string:
			a.id = id
		case json.Number:
			a.id = id.String()
			if v, err := id.Float64(); err == nil && strings.ContainsAny(a.id, ".eE") { // such as 7.0, as some write 7
				a.id = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		if a.id == "" {
			return nil, 0, &AnswerError{-1, fmt.Errorf("%s, data.id: expected the id of a row, found %v", a.where, t.Data["id"])}
		}
		a.source, _ = t.Data["source"].(string)
		a.values = slices.Repeat([]float32{float32(math.NaN())}, len(outputs))
		labelled := false
		last := len(t.Annotations) - 1
		for last >= 0 && t.Annotations[last].Cancelled {
			last--
		}
		if last >= 0 {
			for _, r := range t.Annotations[last].Result {
				if err := s.readResult(&a, outputs, r); err != nil {
					return nil, 0, &AnswerError{-1, fmt.Errorf("%s, %s: %w", a.where, text.OneLine(r.From, 80), err)}
				}
			}
		}
		for _, v := range a.values {
			labelled = labelled || v == v
		}
		a.skip = last < 0 && len(t.Annotations) > 0
		if a.skip || labelled {
			out = append(out, a)
		} else {
			unlabelled++
		}
	}
	return out, unlabelled, nil
}

// decodeLabelStudio keeps numbers as they are written, since float64 does not hold all whole numbers above 2^53.
func decodeLabelStudio(raw []byte) (tasks []labelStudioTask, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tasks); err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("byte %d: more after the list", dec.InputOffset())
	}
	return tasks, nil
}

func (s *Study) readResult(a *answer, outputs []columnar.Output, r labelStudioResult) error {
	for c, o := range outputs {
		if o.Name != r.From && len(outputs) > 1 {
			continue
		}
		word := ""
		switch v := r.Value; {
		case len(v.Choices) > 1:
			return fmt.Errorf("expected one choice, found %d", len(v.Choices))
		case len(v.Choices) == 1:
			word = v.Choices[0]
		case v.Number != nil:
			word = text.Number(*v.Number)
		case v.Rating != nil:
			word = text.Number(*v.Rating)
		case len(v.Text) == 1:
			word = v.Text[0]
		}
		value, err := s.readLabel(o, word)
		if err != nil {
			return err
		}
		if value == value {
			a.values[c] = value
		}
	}
	return nil
}
