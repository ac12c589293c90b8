package runs

import (
	"cmp"
	"context"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset/table"
)

// TablePredictor predicts rows of a table that a program has in memory, such as the body of a request, from cells as a
// file has them: words, missing cells, and columns in any order. Any number of goroutines can use it.
type TablePredictor struct {
	// Columns says for each column of labels what its classes are called.
	Columns []OutputColumn
	// Filled and Unknown, if not nil, are called by Predict as those of [Prediction].
	Filled  func(column string, cells, rows int64)
	Unknown func(column, word string, rows int64)
	model   storedModel
}

// OpenTablePredictor uploads the model of one method of a finished run, or of a round of a study, from its folder: the
// recommended method where the name is empty. The caller closes the predictor before the queue. For rows of features
// there is [OpenPredictor], which is faster.
func OpenTablePredictor(q backend.Queue, dir, method string) (*TablePredictor, error) {
	m, err := openModel(q, dir, method, true)
	if err != nil {
		return nil, err
	}
	return &TablePredictor{Columns: m.columns, model: m}, nil
}

// Close frees what the predictor holds on the device.
func (p *TablePredictor) Close() { p.model.close() }

// Predict returns the predictions for rows, the content of a file of one of [table.Formats], for each of p.Columns. They
// are those that the function [Predict] writes for such a file. The rows have the columns of features of the run's data;
// Predict passes over others. There may be no rows.
func (p *TablePredictor) Predict(format string, rows []byte) ([]Predicted, error) {
	path := "rows." + format
	r := &predictor{Prediction: Prediction{Filled: p.Filled, Unknown: p.Unknown}, storedModel: p.model, model: p.model.predictor}
	r.gaps.filled = make([]int64, len(r.gaps.means))
	t, err := table.OpenContent(path, rows, format)
	if err == nil {
		t, err = r.derive(path, t)
	}
	if err != nil {
		return nil, err
	}
	q, err := r.query(path, t.Columns())
	q.Scalars = nil
	var y []float32
	n := int64(0)
	if err == nil {
		err = table.Scan(context.Background(), t, q, func(b *table.Batch) error {
			n += int64(b.Rows)
			err := r.checkWidth(b)
			if err == nil {
				err = r.predict(&b.Features, b.Rows)
			}
			y = append(y, r.y...)
			return err
		})
	}
	if w, is := t.(*table.WordTable); is {
		w.Unknown(r.addUnknown)
	}
	if err := cmp.Or(r.gaps.hint(err), t.Close()); err != nil {
		return nil, err
	}
	r.gaps.tell(r.Filled, n)
	r.tellUnknown()
	return predicted(y, p.Columns, p.model.predictor.C, p.model.predictor.Classifies()), nil
}
