package columnar

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/endian"
	"github.com/amtrl/amtrl/internal/npy"
)

// Open returns the data set of a folder that Import wrote. Features are mapped into memory where the system can do that, and stay so until
// the process ends.
//
// There is a pool for each source, in the order of the folder, and in each pool a task for each column of labels: for a number "<source>",
// for classes "<source>_<class>" for each class that the source has, for a binary label one for its second class, "<source>". With several
// columns of labels the column comes behind the source, as in "<source>_<label>_<class>". Rows without the label are in neither Train nor
// Test.
//
// The rows of a split named test are for testing. Where the target has no such rows and the manifest gives a number of folds, one fold of
// its labelled rows is held out, chosen by a permutation that keeps rows which belong together on one side. Where no target is named, this
// is done for each source. Without folds nothing is held out.
func Open(dir string) (*dataset.Set, error) {
	h, err := readHeader(dir)
	if err != nil {
		return nil, err
	}
	r := &opener{dir: dir, header: h}
	if err := r.verify(maxVerified); err != nil {
		return nil, err
	}
	return r.set()
}

// NoLabels is the error of a folder in which the target or, where Target is empty, every source is without labelled rows.
type NoLabels struct{ Dir, Target string }

func (e *NoLabels) Error() string { return e.Of(e.Dir) }

// Of returns the message with another name of the data than the folder's.
func (e *NoLabels) Of(name string) string {
	if e.Target == "" {
		return name + ": no source has labelled rows"
	}
	return fmt.Sprintf("%s: the target %s has no labelled rows", name, e.Target)
}

// opener reads the arrays of a folder.
type opener struct {
	dir    string
	header *header
	test   []uint8 // by row, 1 for tests; empty without a split
	groups []int32 // by row, nil without a column of groups
	// places maps the classes of an output in the files to its classes after reorder, -1 for a class that is not among these.
	places map[string][]int32
}

func (r *opener) path(name string) string { return filepath.Join(r.dir, name) }

// array opens an array with one element per row, and checks it against the header.
func (r *opener) array(name, descr string) (*npy.Array, error) {
	return r.openArray(name, descr, r.header.Rows, 1)
}

func (r *opener) openArray(name, descr string, rows int64, cols int) (*npy.Array, error) {
	a, err := npy.Open(r.path(name))
	if err != nil {
		return nil, err
	}
	if int64(a.Rows()) != rows || a.Cols != cols || a.Descr != descr {
		a.Close()
		return nil, fmt.Errorf("%s: expected %d by %d of %s as %s says, found shape %v of %s", r.path(name), rows, cols, descr,
			headerFile, a.Shape, a.Descr)
	}
	return a, nil
}

// mapArray maps the elements of an array into memory and returns them as bytes.
func (r *opener) mapArray(name, descr string, rows int64, cols int) ([]byte, error) {
	a, err := r.openArray(name, descr, rows, cols)
	if err != nil {
		return nil, err
	}
	at := a.Data
	a.Close()
	raw, err := mapFile(r.path(name))
	if err != nil {
		return nil, err
	}
	return raw[at:], nil
}

// empty returns the set without tasks, and reads the split.
func (r *opener) empty() (*dataset.Set, error) {
	h := r.header
	set := &dataset.Set{
		Name: h.Name, Binary: h.Outputs[0].Type != manifest.Number,
		Columns: &dataset.Columns{
			ID: h.ID, Source: h.Source, Features: h.Features, Logs: h.Logs, Words: h.Words, Derived: h.Derived, Codes: h.Codes,
			Centre: h.Centre, Spread: h.Spread, Cuts: h.Cuts, Means: h.Means, Filled: h.Filled,
		},
	}
	for _, o := range h.Outputs {
		l := dataset.LabelColumn{Name: o.Learned(), Classes: o.Classes, Missing: o.Missing}
		if o.Log {
			l.LogOf, l.Log = o.Name, *o.Logarithm()
		}
		set.Columns.Labels = append(set.Columns.Labels, l)
	}
	if err := r.pools(set); err != nil {
		return nil, err
	}
	if h.Split {
		a, err := r.array(splitFile, "|u1")
		if err != nil {
			return nil, err
		}
		defer a.Close()
		r.test = make([]uint8, h.Rows)
		if err := a.Uint8s(r.test); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (r *opener) set() (*dataset.Set, error) {
	h := r.header
	set, err := r.empty()
	if err != nil {
		return nil, err
	}
	tasks := make([][]dataset.Task, len(h.Sources))
	for i, o := range h.Outputs {
		if err := r.output(tasks, i, o); err != nil {
			return nil, err
		}
	}
	set.Tasks = slices.Concat(tasks...)
	if len(set.Targets()) == 0 {
		return nil, &NoLabels{r.dir, h.Target}
	}
	return set, nil
}

// pools maps the features into memory and divides them into the pools of the sources.
func (r *opener) pools(set *dataset.Set) error {
	h := r.header
	raw, err := r.mapArray(featuresFile, elements[h.Element], h.Rows, h.Cols)
	if err != nil {
		return err
	}
	from, err := r.origin()
	if err != nil {
		return err
	}
	if h.Group != "" {
		raw, err := r.mapArray(groupsFile, "<i4", h.Rows, 1)
		if err != nil {
			return err
		}
		r.groups = endian.View[int32](raw[:4*h.Rows])
	}
	for _, s := range h.Sources {
		p := &dataset.Pool{
			Name: s.Name, Rows: int(s.Rows), Cols: h.Cols, Scale: 1, Cost: s.Cost, Target: s.Name == h.Target, Origin: from, Mapped: true,
			Height: h.Height, Width: h.Width,
		}
		if r.groups != nil {
			p.Groups = r.groups[from.first : from.first+p.Rows : from.first+p.Rows]
		}
		from.first += int(s.Rows)
		n := p.Rows * p.Cols
		switch h.Element {
		case "uint8":
			p.U8, raw = raw[:n:n], raw[n:]
		case "float16":
			p.F16, raw = endian.View[uint16](raw[:2*n]), raw[2*n:]
		default:
			p.F32, raw = endian.View[float32](raw[:4*n]), raw[4*n:]
		}
		set.Pools = append(set.Pools, p)
	}
	return nil
}

// labels opens the labels of output i, which are indices of classes or numbers.
func (r *opener) labels(i int) (*npy.Array, error) {
	descr := "<i4"
	if r.header.Outputs[i].Type == manifest.Number {
		descr = "<f4"
	}
	return r.array(labelsFile(i), descr)
}

// output appends the tasks of output i to those of each source.
func (r *opener) output(tasks [][]dataset.Task, i int, o Output) error {
	a, err := r.labels(i)
	if err != nil {
		return err
	}
	defer a.Close()
	first := 0
	for s, source := range r.header.Sources {
		n := int(source.Rows)
		values, classes, has := make([]float32, n), make([]int64, n), make([]bool, len(o.Classes))
		if err := r.readLabels(a, o, values, classes); err != nil {
			return err
		}
		train, test := r.split(source, first, func(row int) bool { return values[row] == values[row] })
		first += n
		if len(train) == 0 {
			continue
		}
		for _, v := range values {
			if v == v && len(has) > 0 {
				has[int(v)] = true
			}
		}
		for _, t := range r.unlabelled(s, o, has, train, test) {
			t.Labels = make([]float32, n)
			class := float32(slices.Index(o.Classes, t.Output.Class))
			for row, v := range values {
				switch {
				case o.Type == manifest.Number && v == v:
					t.Labels[row] = o.Value(v)
				case o.Type != manifest.Number && v == class:
					t.Labels[row] = 1
				}
			}
			tasks[s] = append(tasks[s], t)
		}
	}
	return nil
}

// heldSeed fixes the permutation that decides which rows of a target are held out.
const heldSeed = 0x616d74726c

// split returns the labelled rows of a source to draw from and those to test on. first is the index of the source's first row among the
// rows of all sources.
func (r *opener) split(source storedSource, first int, labelled func(row int) bool) (train, test []int32) {
	h := r.header
	for row := range int(source.Rows) {
		switch {
		case !labelled(row):
		case len(r.test) > 0 && r.test[first+row] != 0:
			test = append(test, int32(row))
		default:
			train = append(train, int32(row))
		}
	}
	if len(test) > 0 || h.Folds == 0 || h.Target != "" && source.Name != h.Target || len(train) < 2 {
		return train, test
	}
	order := slices.Clone(train)
	rng := rand.New(rand.NewPCG(heldSeed, 2))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	n := len(order) - max(1, len(order)/h.Folds)
	if r.groups != nil {
		order, n = heldTogether(order, n, func(row int32) int32 { return r.groups[first+int(row)] })
	}
	train, test = order[:n:n], order[n:]
	slices.Sort(train)
	slices.Sort(test)
	return train, test
}
