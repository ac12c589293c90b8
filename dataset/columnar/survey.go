package columnar

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/text"
)

// Progress is called with the number of bytes read, the number of bytes in all, and what is being done.
type Progress func(done, total int64, doing string)

// survey is what the first pass over the files finds: everything that the second pass needs to put each row in its place. Its memory grows
// with the sources and the classes, and by 8 bytes for each row that has an id.
type survey struct {
	ctx      context.Context
	manifest *manifest.Manifest
	inputs   []manifest.Input
	progress Progress
	total    int64 // bytes of both passes

	features []string // the columns of features in the first file
	logs     []string // those of features that are logarithms of columns
	inList   []bool   // by feature: whether it is an element of a list
	element  table.Element
	image    [2]int   // the height and the width where the vectors of all files are images of one size, else 0
	shape    []int    // the shape of the vectors of the first file that has one
	shaped   string   // the path of that file
	checked  bool     // whether features, logs and element are known
	present  []string // of the columns that files may lack, those that some file has
	files    []inputFile
	sources  map[string]*sourceRows
	outputs  []*outputClasses
	seed     maphash.Seed
	ids      []uint64

	categories []*category
	codes      []table.Codes // the numbers that stand for a missing value, of the columns of features that have any
	none       [][]float64   // the same by column of features
	missing    []int64       // by column of features: the number of rows that lack it
	sample     *rowSample    // nil where no feature is computed from others, and once it is known how
	derived    table.Derived
	settled    bool // whether it is known how features are computed from others
	expanded   table.Vectors
}

// sourceRows is what the first pass finds about a source.
type sourceRows struct {
	name    string
	rows    int64
	idBytes int64
	cost    float64 // NaN as long as no row gives it
	index   int     // index among the sources that take part, -1 for others
}

func newSurvey(ctx context.Context, m *manifest.Manifest, progress Progress) (*survey, error) {
	inputs, err := m.Inputs()
	if err != nil {
		return nil, err
	}
	s := &survey{ctx: ctx, manifest: m, inputs: inputs, progress: progress, sources: map[string]*sourceRows{}, seed: maphash.MakeSeed()}
	for _, in := range inputs {
		s.total += 2 * in.Bytes()
		s.files = append(s.files, inputFile{Path: in.Path, Size: in.Size})
	}
	for _, l := range m.Labels {
		o := &outputClasses{Label: l, index: map[string]int32{}, missing: map[string]bool{}, digits: finite.NewDigits()}
		for i, c := range l.Classes {
			o.index[c] = int32(i)
		}
		for _, v := range l.Missing {
			o.missing[text.Word(v)] = true
		}
		s.outputs = append(s.outputs, o)
	}
	for _, name := range m.Categories {
		s.categories = append(s.categories, &category{column: name, index: map[string]int32{}})
	}
	if m.Derives() {
		s.sample = newRowSample()
	}
	return s, nil
}

// scan reads the files one after the other and passes their batches to f. The second pass reads all features, and expects vectors of the
// width that the first one has. The first pass reads only features that are columns, where those computed from others or missing indicators
// need them.
func (s *survey) scan(second bool, f func(file int, b *table.Batch, c columns) error) error {
	done, doing := int64(0), "finding sources and classes"
	width := 0
	if second {
		done, doing = s.total/2, "copying rows"
	}
	for i, in := range s.inputs {
		c, scalars := s.columns(in.Path, !second)
		t, err := s.manifest.Open(in)
		if err != nil {
			return err
		}
		if t.Rows() == 0 { // where lists have no length
			done += in.Bytes()
			t.Close()
			continue
		}
		s.noteColumns(t.Columns())
		q := table.Query{Scalars: scalars, Width: width}
		t, err = s.withLists(in.Path, t)
		err = cmp.Or(err, s.checkFeatures(in.Path, table.LogColumns(t.Columns(), s.manifest.Features)))
		t = table.WithLogs(table.WithCodes(t, s.none), s.logs) // codes are numbers of the columns
		if second {
			q.Features = s.readFeatures()
		} else if s.sample != nil || s.manifest.Fill == manifest.FillIndicator {
			q.Features = s.features
		}
		q.Gaps = len(q.Features) > 0 && s.manifest.Fill != ""
		if second && err == nil && len(s.categories) > 0 {
			var words *table.WordTable
			if words, err = table.WithWords(t, in.Path, s.words()); err == nil {
				t = words
			}
		}
		if err == nil {
			err = table.Scan(s.ctx, t, q, func(b *table.Batch) error {
				width = b.Features.Width
				if s.progress != nil {
					s.progress(done+min(b.Read, in.Bytes()), s.total, doing)
				}
				if err := s.ctx.Err(); err != nil {
					return err
				}
				return f(i, s.expand(b), c)
			})
		}
		if err := cmp.Or(err, t.Close()); err != nil {
			return err
		}
		done += in.Bytes()
	}
	return s.checkAbsent()
}

// sourceOf returns the source of row i of a batch, which is added where it is new.
func (s *survey) sourceOf(b *table.Batch, c columns, i int) (*sourceRows, error) {
	name := c.fileSource
	if c.source >= 0 {
		v := &b.Scalars[c.source]
		if v.IsEmpty(i) {
			return nil, b.Fault(i, s.manifest.Source, "the name of a source, found none")
		}
		name = v.Word(i)
	}
	if r, ok := s.sources[name]; ok {
		return r, nil
	}
	if err := b.CheckUTF8(i, s.manifest.Source, name); err != nil {
		return nil, err
	}
	if name == "" || !text.Printable(name) {
		return nil, b.Fault(i, s.manifest.Source, "the name of a source, without control characters, found %q", text.OneLine(name, 80))
	}
	if len(s.sources) == maxSources {
		return nil, b.Fault(i, s.manifest.Source, "at most %d sources, found more: is it the right column?", maxSources)
	}
	r := &sourceRows{name: strings.Clone(name), cost: math.NaN()}
	if !s.manifest.Takes(name) {
		r.index = -1
	}
	s.sources[r.name] = r
	return r, nil
}

// run makes the first pass.
func (s *survey) run() error {
	row := int64(0)
	err := s.scan(false, func(file int, b *table.Batch, c columns) error {
		for i := range b.Rows {
			r, err := s.sourceOf(b, c, i)
			if err != nil {
				return err
			}
			row++
			s.files[file].Rows++
			if r.index < 0 {
				continue
			}
			if r.rows++; r.rows > math.MaxInt32 {
				return fmt.Errorf("%s: expected at most %d rows of source %s, found more", b.Where(i), math.MaxInt32, r.name)
			}
			_, err = s.isTest(b, c, i)
			if err := cmp.Or(s.addID(b, c, i, r), s.addCost(b, c, i, r), err); err != nil {
				return err
			}
			for j, o := range s.outputs {
				if err := o.add(b, &b.Scalars[c.labels+j], i); err != nil {
					return err
				}
			}
			if s.sample != nil {
				s.sample.add(&b.Features, i)
			}
			if s.manifest.Fill == manifest.FillIndicator {
				s.countMissing(&b.Features, i)
			}
			for j, of := range s.categories {
				if err := of.add(b, &b.Scalars[c.categories+j], i); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return s.hint(err)
	}
	s.settleDerived()
	return s.settle()
}

func (s *survey) addID(b *table.Batch, c columns, i int, r *sourceRows) error {
	if c.id < 0 {
		return nil
	}
	v := &b.Scalars[c.id]
	if v.IsEmpty(i) { // which no answer could name
		return b.Fault(i, s.manifest.ID, "an id, found none")
	}
	id := v.Name(i)
	r.idBytes += int64(len(id))
	s.ids = append(s.ids, maphash.String(s.seed, id))
	return nil
}

func (s *survey) addCost(b *table.Batch, c columns, i int, r *sourceRows) error {
	if c.cost < 0 {
		return nil
	}
	v := &b.Scalars[c.cost]
	x, ok := v.Number(i)
	switch {
	case v.IsEmpty(i):
		return nil
	case !ok || !(x >= dataset.MinCost && x <= dataset.MaxCost):
		return b.Fault(i, s.manifest.Cost, "a cost from %g to %g, found %q", dataset.MinCost, dataset.MaxCost, text.OneLine(v.Name(i), 80))
	case math.IsNaN(r.cost):
		r.cost = x
	case x != r.cost:
		return b.Fault(i, s.manifest.Cost, "one cost for all rows of source %s, %g, found %g", r.name, r.cost, x)
	}
	return nil
}

// isTest reports whether row i is for testing.
func (s *survey) isTest(b *table.Batch, c columns, i int) (bool, error) {
	word := c.fileSplit
	if c.split >= 0 {
		if v := &b.Scalars[c.split]; !v.Lacks(i) {
			word = v.Word(i)
		}
	} else if word == "" {
		return false, nil
	}
	switch strings.ToLower(word) {
	case "test":
		return true, nil
	case "train", "validation", "valid", "val", "dev", "":
		return false, nil
	}
	return false, fmt.Errorf("%s: expected a split train, validation or test, found %q", b.Where(i), text.OneLine(word, 80))
}

// settle puts the sources and classes in order: sources by name, the target last; classes by name, or by value where all are numbers.
func (s *survey) settle() error {
	m := s.manifest
	if len(s.sources) == 0 {
		return fmt.Errorf("%s: files: expected rows, found none", m.Path)
	}
	if t := m.Target.Source; t != "" && (s.sources[t] == nil || s.sources[t].rows == 0) {
		return fmt.Errorf("%s: target: expected one of the sources %s, found %q", m.Path, s.nearest(t), t)
	}
	if err := m.CheckSources(slices.Collect(maps.Keys(s.sources)), s.nearest); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Sources.Cost)) {
		r := s.sources[name]
		if r == nil {
			return fmt.Errorf("%s: sources: cost: expected one of the sources %s, found %q", m.Path, s.nearest(name), name)
		}
		r.cost = m.Sources.Cost[name]
	}
	if len(s.sorted()) == 0 {
		return fmt.Errorf("%s: expected rows of sources that take part, found none", m.Path)
	}
	for i, r := range s.sorted() {
		r.index = i
		if math.IsNaN(r.cost) {
			r.cost = 1
		}
	}
	if err := s.settleCategories(); err != nil {
		return err
	}
	s.settleMissing()
	for _, o := range s.outputs {
		if o.Type == manifest.Number {
			if err := o.digits.Check(fmt.Sprintf("%s: labels: %s", m.Path, o.Column), ""); err != nil {
				return err
			}
			continue
		}
		if n := cmp.Or(len(o.Classes), len(o.index)); n < 2 {
			none := ""
			if !slices.Equal(o.Missing, manifest.DefaultMissing()) {
				none = fmt.Sprintf(", beside %s, which missing says is no label", text.OneLine(strings.Join(o.Missing, ", "), 200))
			}
			return fmt.Errorf("%s: labels: %s: expected at least 2 classes, found %d%s: list all that labels may have in the manifest, as in "+
				"classes: [a, b]", m.Path, o.Column, n, none)
		}
		if len(o.Classes) > 0 {
			continue
		}
		o.Classes = sortedClasses(o.index)
		for i, c := range o.Classes {
			o.index[c] = int32(i)
		}
	}
	return nil
}

// nearest lists the sources whose names are most similar to name.
func (s *survey) nearest(name string) string {
	names := text.Nearest(name, slices.Sorted(maps.Keys(s.sources)), 8)
	if len(names) < len(s.sources) {
		names = append(names, "...")
	}
	return text.OneLine(strings.Join(names, ", "), 300)
}

// sorted returns the sources that take part and have rows, in their order.
func (s *survey) sorted() []*sourceRows {
	var list []*sourceRows
	for _, name := range slices.Sorted(maps.Keys(s.sources)) {
		if r := s.sources[name]; r.index >= 0 && r.rows > 0 && name != s.manifest.Target.Source {
			list = append(list, r)
		}
	}
	if t := s.sources[s.manifest.Target.Source]; t != nil {
		list = append(list, t)
	}
	return list
}
