package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Prediction describes what to predict with the model of a run.
type Prediction struct {
	// Dir is the folder of the run, Files are the tables of rows, and Out is the file to write, which must not exist.
	Dir   string
	Files []string
	Out   string
	// To, if not nil, takes what is written, as CSV, in place of Out.
	To io.Writer
	// Also, if not empty, is another file to write, which must not exist. It may have another format.
	Also string
	// Method is the method of the run whose model predicts, the recommended one where it is empty.
	Method string
	// Vectors are the files that hold the features of Files: one for each, one for all, joined by id, or none. Join is
	// table.JoinRow or table.JoinID.
	Vectors []string
	Join    string
	// Encoding is that of files of text, by a name of the WHATWG Encoding Standard; UTF-8 where it is empty.
	Encoding string
	// Features and ID are columns, and Label is the column of a label to compare with. Where they are empty, the
	// columns are those that the run names. Features may be patterns, as in a manifest. Features of one byte are
	// pixels, v / 255, where the data of the run are in the layout of MNIST-C. They have the scale of the pools of
	// bytes, or 1, where a program made the set and named its outputs.
	Features  []string
	ID, Label string
	// Embed writes phi in place of predictions.
	Embed bool
	// Filled, if not nil, is called for each column of features with missing cells, with the number of these cells and
	// of all rows.
	Filled func(column string, cells, rows int64)
	// Far, if not nil, is called for each column of a table that has rows far outside the target's samples.
	Far func(FarColumn)
	// Scaled, if not nil, is called with the root mean square of the rows' vectors divided by that of the vectors that
	// the model was fitted to, where it is above 10 or below 1/10: the vectors are probably in other units.
	Scaled func(times float64)
	// Strangers, if not nil, is called where rows belong to a source other than the target.
	Strangers func(Strangers)
	// Unknown, if not nil, is called for each column of words in which rows have words that the data of the run do not
	// have, with the first of these words and the number of rows. All features of the column are 0 in these rows.
	Unknown func(column, word string, rows int64)
	// Blank, if not nil, is called for each column of words that has none in any row.
	Blank func(column string)
	// Read, if not nil, is called with the number of rows and what is odd about them. There may be no rows: what is
	// written then has the columns alone.
	Read func(RowsRead)
}

// predictor carries out a Prediction.
type predictor struct {
	Prediction
	storedModel
	model  *pipeline.Predictor
	found  []*Evaluation // by column of labels, nil where the rows have none
	writer table.Writer
	row    int64
	read   rowsRead

	y       []float32
	unknown []wordColumn  // the columns with unknown words
	blank   []wordColumn  // those with rows without a word
	named   []string      // the columns of all features in a file, where Features names those that are not words
	wide    table.Vectors // the features with those that are computed from them
	labels  []int         // the indices of the labels among the scalars of a batch, -1 for none
	id      int
	source  int
	written []table.Cells
}

// Predict reads rows and writes for each its id and, for each label, the predicted class and the scores of all classes,
// or the number; with Embed it writes phi of the row instead. Where rows have labels, it compares the predictions with
// them and returns an Evaluation for each column of labels. It holds a few thousand rows in memory, and a probability of
// each row with one of two labels. The file appears whole or not at all. progress, which may be nil, is called with the
// number of bytes read so far and in total.
func Predict(ctx context.Context, q backend.Queue, p Prediction, progress func(done, total int64)) ([]*Evaluation, error) {
	if len(p.Files) == 0 {
		return nil, errors.New("expected a file of rows at least, found none")
	}
	if len(p.Vectors) == 1 && p.Join == table.JoinID {
		p.Vectors = slices.Repeat(p.Vectors, len(p.Files))
	}
	if len(p.Vectors) > 0 && len(p.Vectors) != len(p.Files) {
		return nil, fmt.Errorf("expected a file of vectors for each of the %d files of rows, in the same order, found %d", len(p.Files),
			len(p.Vectors))
	}
	m, err := openModel(q, p.Dir, p.Method, true)
	if err != nil {
		return nil, err
	}
	defer m.close()
	r := &predictor{Prediction: p, storedModel: m, model: m.predictor, found: make([]*Evaluation, len(m.columns))}
	if err := r.write(func() error {
		if err := r.files(ctx, progress); err != nil || r.row > 0 {
			return err
		}
		return r.empty()
	}); err != nil {
		return nil, err
	}
	r.gaps.tell(r.Filled, r.row)
	r.tellUnknown()
	r.tellBlank()
	r.far.tell(r.storedModel.features, r.row, r.Far)
	r.scaled.tell(r.Scaled)
	if r.Strangers != nil && r.strangers.Rows > 0 {
		r.Strangers(r.strangers)
	}
	if r.Read != nil {
		r.Read(r.read.RowsRead)
	}
	found := slices.DeleteFunc(r.found, func(e *Evaluation) bool { return e == nil || e.Rows == 0 && e.Unknown == nil })
	for _, e := range found {
		e.finish()
	}
	return found, nil
}

// write sets the writer that rows writes to.
func (r *predictor) write(rows func() error) error {
	to := func(w table.Writer) error {
		r.writer = w
		return rows()
	}
	if one := to; r.Also != "" {
		to = func(w table.Writer) error {
			if err := atomicfile.MkdirAll(filepath.Dir(r.Also)); err != nil {
				return err
			}
			return WriteTable(r.Also, func(also table.Writer) error { return one(bothWriters{w, also}) })
		}
	}
	if r.To != nil {
		return writeTable("."+table.CSV, r.To, to)
	}
	if err := atomicfile.MkdirAll(filepath.Dir(r.Out)); err != nil {
		return err
	}
	return WriteTable(r.Out, to)
}

// bothWriters writes a table twice. Whoever made the writers closes them.
type bothWriters [2]table.Writer

func (w bothWriters) Write(rows int, columns []table.Cells) error {
	return cmp.Or(w[0].Write(rows, columns), w[1].Write(rows, columns))
}

func (bothWriters) Close() error { return nil }

func (r *predictor) files(ctx context.Context, progress func(done, total int64)) error {
	var sizes []int64
	done, total := int64(0), int64(0)
	for i, path := range r.Files {
		size := int64(0)
		paths := []string{path}
		if len(r.Vectors) > 0 {
			paths = append(paths, r.Vectors[i])
		}
		for _, p := range paths {
			info, err := os.Stat(p)
			if err != nil {
				return err
			}
			size += info.Size()
		}
		sizes, total = append(sizes, size), total+size
	}
	for i, path := range r.Files {
		t, err := r.open(i)
		if err != nil {
			return err
		}
		var q table.Query
		if q, err = r.query(path, t.Columns()); err == nil {
			err = r.image.check(path, t.Columns(), q)
		}
		if err == nil {
			err = table.Scan(ctx, t, q, func(b *table.Batch) error {
				if progress != nil {
					progress(done+min(b.Read, sizes[i]), total)
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				return r.batch(b)
			})
			err = r.gaps.hint(err)
		}
		if w, is := t.(*table.WordTable); is {
			w.Unknown(r.addUnknown)
			w.Blank(r.addBlank)
		}
		if err := cmp.Or(err, t.Close()); err != nil {
			return err
		}
		done += sizes[i]
	}
	return nil
}

// open opens file i, joined with its vectors where there are any.
func (r *predictor) open(i int) (table.Table, error) {
	path := r.Files[i]
	format := table.Encoded(table.FormatOf(path), r.Encoding)
	if len(r.Vectors) == 0 {
		t, err := table.Open(path, format)
		if err != nil {
			return nil, err
		}
		return r.derive(path, t)
	}
	v := table.VectorFile{Path: r.Vectors[i], Format: table.FormatOf(r.Vectors[i]), Join: r.Join, ID: cmp.Or(r.ID, r.storedModel.id)}
	if names := r.names(); len(names) == 1 && v.Format != table.NPY {
		v.Column = names[0]
	}
	if r.Join == table.JoinID && v.ID == "" {
		return nil, fmt.Errorf("%s: the run names no column of ids to join by: say which with --id", path)
	}
	t, err := table.OpenJoined(path, format, v)
	if err != nil {
		return nil, err
	}
	return table.WithCodes(t, r.missingCodes), nil
}

// query returns what to read from a file, and sets the places of the id, the source and the labels among the scalars.
func (r *predictor) query(path string, columns []table.Column) (q table.Query, err error) {
	has := func(name string) bool {
		return name != "" && slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == name })
	}
	add := func(name string) int {
		q.Scalars = append(q.Scalars, name)
		return len(q.Scalars) - 1
	}
	if r.id = -1; r.ID != "" || has(r.storedModel.id) {
		r.id = add(cmp.Or(r.ID, r.storedModel.id))
	}
	ofSource := func(c table.Column) bool { return c.Name == r.strangers.Column && c.Kind.Scalar() }
	if r.source = -1; r.strangers.Column != "" && slices.ContainsFunc(columns, ofSource) { // a note must not stop a prediction
		r.source = add(r.strangers.Column)
	}
	r.labels = nil
	for i := range r.columns {
		at, name := -1, r.labelColumn(i)
		if has(name) || i == 0 && r.Label != "" {
			at = add(name)
		}
		r.labels = append(r.labels, at)
	}
	q.Width = r.width()
	if table.FormatOf(path) == table.NPY || len(r.Vectors) > 0 { // no other column can hold the features
		q.Features = []string{columns[len(columns)-1].Name}
		return q, nil
	}
	if q.Features = r.names(); len(q.Features) == 0 {
		return q, fmt.Errorf("%s: the run names no columns of features: say which with --features", path)
	}
	if len(r.named) > 0 {
		q.Features = r.named
	} else if len(r.Features) > 0 {
		if q.Features, err = r.selected(path, columns); err != nil {
			return q, err
		}
	}
	if len(q.Features) == 1 && q.Features[0] == table.VectorColumn && !has(table.VectorColumn) { // of a file of their own
		return q, fmt.Errorf("%s: expected a column %q, or the file of its vectors with --vectors, found neither", path, table.VectorColumn)
	}
	if len(q.Features) > 1 && len(q.Features) != q.Width {
		return q, r.wrongCount(path, q.Width, q.Features)
	}
	r.gaps.allow(&q)
	return q, nil
}

func (r *predictor) batch(b *table.Batch) error {
	if err := r.checkWidth(b); err != nil {
		return err
	}
	r.far.add(&b.Features)
	r.scaled.add(&b.Features)
	ids, err := r.ids(b)
	if err != nil {
		return err
	}
	r.read.add(b, r.words, ids.missing)
	if r.source >= 0 {
		r.strangers.add(&b.Scalars[r.source], b.Rows)
	}
	if err := r.predict(&b.Features, b.Rows); err != nil {
		return err
	}
	return r.put(b, ids.names)
}

func (r *predictor) checkWidth(b *table.Batch) error {
	if n := b.Features.Len(); n != b.Rows*r.width() {
		return fmt.Errorf("%s: expected %s, those of the run, found %d", b.Where(0), text.Several(r.width(), "feature"), n/b.Rows)
	}
	return nil
}

// predict sets r.y to the outputs of the model, or phi, for n rows of features, which it changes.
func (r *predictor) predict(v *table.Vectors, n int) error {
	if r.derived.Count() > 0 {
		r.derived.Expand(&r.wide, v)
		v = &r.wide
	}
	r.gaps.fill(v)
	if len(r.centre) > 0 {
		v.Centre(r.centre)
	}
	rows := &dataset.Pool{Rows: n, Cols: r.model.D, U8: v.U8, F16: v.F16, F32: v.F32, Scale: 1}
	if v.U8 != nil {
		rows.Scale = r.scale
	}
	predict, outputs := r.model.Predict, r.model.C
	if r.Embed {
		predict, outputs = r.model.Embed, r.model.K
	}
	r.y = slices.Grow(r.y[:0], n*outputs)[:n*outputs]
	return predict(rows, r.y)
}

// empty writes the columns alone.
func (r *predictor) empty() error {
	r.y, r.labels = nil, slices.Repeat([]int{-1}, len(r.columns))
	return r.put(&table.Batch{}, []string{})
}

// put writes the ids of rows with what is predicted for them, and compares it with their labels.
func (r *predictor) put(b *table.Batch, ids []string) error {
	r.written = append(r.written[:0], table.Cells{Name: "id", Text: ids})
	if r.Embed {
		r.written = append(r.written, table.Cells{Name: "phi", Numbers: r.y, Width: r.model.K})
		return r.writer.Write(b.Rows, r.written)
	}
	for i, p := range predicted(r.y, r.columns, r.model.C, r.model.Classifies()) {
		r.output(b, i, p)
	}
	return r.writer.Write(b.Rows, r.written)
}

// output adds the cells for column i of labels, and compares the predictions with the labels of the rows.
func (r *predictor) output(b *table.Batch, i int, p Predicted) {
	c, prefix := r.columns[i], ""
	if len(r.columns) > 1 {
		prefix = cmp.Or(c.LogOf, c.Column, strconv.Itoa(i)) + "_"
	}
	if p.Numbers != nil {
		r.written = append(r.written, table.Cells{Name: prefix + "number", Numbers: c.inUnits(p.Numbers)})
		p.Scores, p.Class = [][]float32{p.Numbers}, make([]int, b.Rows)
	} else {
		names := make([]string, b.Rows)
		for row, k := range p.Class {
			names[row] = c.Classes[k]
		}
		r.written = append(r.written, table.Cells{Name: prefix + "label", Text: names})
		for k, name := range c.Classes {
			r.written = append(r.written, table.Cells{Name: prefix + "score_" + name, Numbers: p.Scores[k]})
		}
	}
	if r.labels[i] < 0 {
		return
	}
	if r.found[i] == nil {
		r.found[i] = newEvaluation(c)
		if p.Numbers == nil && r.model.Classifies() {
			r.found[i].weighProbabilities()
		}
	}
	e, v := r.found[i], &b.Scalars[r.labels[i]]
	scores := make([]float32, len(p.Scores))
	for row := range b.Rows {
		if err := e.add(v, row, p.Class[row], scoresOf(scores, p.Scores, row)); err != nil {
			if e.Unknown == nil {
				e.Unknown = &UnknownLabels{First: fmt.Sprintf("%s, column %s: %s", b.Where(row), r.labelColumn(i), err)}
			}
			e.Unknown.Rows++
		}
	}
}

// labelColumn returns the name of the column that the predictions for column i of labels are compared with.
func (r *predictor) labelColumn(i int) string {
	if i == 0 && r.Label != "" {
		return r.Label
	}
	return cmp.Or(r.columns[i].LogOf, r.columns[i].Column)
}
