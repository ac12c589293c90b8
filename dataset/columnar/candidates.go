package columnar

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/text"
)

// Candidates are the rows of a folder whose labels can be asked for. Every row can be drawn, whether it has a label or not, and the labels
// are kept apart from the set.
type Candidates struct {
	// Set has, for each source and output, a task for each class (of a binary label, for the second), or one task for a number. No task has
	// Labels, and Train are all rows that are not for tests. But where the target has as many labelled rows as were asked for, its Train
	// are these rows alone, and it has tasks of their classes alone.
	Set *dataset.Set
	// Target is the index of the target's pool.
	Target int
	// AskTarget says that the target's Train are all its rows.
	AskTarget bool
	// TargetRows are the rows of the target's pool that are not for tests, whether they have a label or not.
	TargetRows []int32
	// Outputs are the columns of the labels.
	Outputs []Output
	// Known holds the labels that the data have, by pool.
	Known []Known
	// Key identifies the import.
	Key string
}

// Known holds the rows of a pool that have labels. Values has, row after row, one value for each output: the index of a class or a number,
// NaN where the row has none.
type Known struct {
	Rows   []int32
	Values []float32
}

// OpenCandidates opens a folder that Import wrote. An empty target stands for the target of the manifest. samples is the number of target
// samples to ask for; where it is 0, the target's samples are its labelled rows. classes, where given, replace the classes of each output,
// and must include every class that some row has.
func OpenCandidates(dir, target string, samples int, classes ...[]string) (*Candidates, error) {
	h, err := readHeader(dir)
	if err != nil {
		return nil, err
	}
	r := &opener{dir: dir, header: h}
	if err := r.verify(maxVerified); err != nil {
		return nil, err
	}
	r.reorder(classes)
	c := &Candidates{Outputs: h.Outputs, Key: h.Key, AskTarget: true}
	if c.Set, err = r.empty(); err != nil {
		return nil, err
	}
	if target == "" {
		target = h.Target
	}
	if h.Target != "" && target != h.Target {
		return nil, fmt.Errorf("target: expected %s, the one of the manifest, found %q", h.Target, target)
	}
	names := make([]string, len(h.Sources))
	for i, s := range h.Sources {
		names[i] = s.Name
	}
	if target == "" {
		return nil, fmt.Errorf("%s: expected a target, found none in the manifest: say which source it is", h.Name)
	}
	if c.Target = slices.Index(names, target); c.Target < 0 {
		return nil, c.Set.NoSuch("source", target, names)
	}
	if err := r.known(c); err != nil {
		return nil, err
	}
	first := 0
	for i, s := range h.Sources {
		has := make([][]bool, len(h.Outputs))
		train, test := r.splitAll(s, first)
		if i == c.Target {
			c.TargetRows = train
			labelled := c.Known[i].in(int(s.Rows))
			own, held := r.split(s, first, func(row int) bool { return labelled[row] })
			switch {
			case len(own) > 0 && len(own) >= samples:
				train, test, has, c.AskTarget = own, held, c.Known[i].classes(h.Outputs), false
			case samples == 0:
				return nil, fmt.Errorf("the target %s has no labelled rows to draw from: say how many of its rows to ask for with --target-samples",
					target)
			case samples > len(train):
				return nil, fmt.Errorf("target %s has %s to draw from, expected at least the %s", target, text.Several(len(train), "row"),
					text.Several(samples, "target sample"))
			}
		}
		for j, o := range h.Outputs {
			c.Set.Tasks = append(c.Set.Tasks, r.unlabelled(i, o, has[j], train, test)...)
		}
		first += int(s.Rows)
	}
	return c, nil
}

// splitAll is [opener.split] of all rows of a source, whether they have labels or not.
func (r *opener) splitAll(s storedSource, first int) (train, test []int32) {
	if len(r.test) > 0 || r.header.Folds > 0 {
		return r.split(s, first, func(int) bool { return true })
	}
	train = make([]int32, s.Rows)
	for i := range train {
		train[i] = int32(i)
	}
	return train, nil
}

// unlabelled returns the tasks of one output of a source, without labels. has says which classes the source has; where it is nil there is a
// task for every class.
func (r *opener) unlabelled(source int, o Output, has []bool, train, test []int32) []dataset.Task {
	name := r.header.Sources[source].Name
	if len(r.header.Outputs) > 1 {
		name += "_" + o.Name
	}
	t := dataset.Task{Name: name, Pool: source, Output: dataset.Output{Name: o.Learned()}, Train: train, Test: test}
	if o.Type == manifest.Number {
		return []dataset.Task{t}
	}
	var tasks []dataset.Task
	for c, class := range o.Classes {
		one := t
		one.Output.Class = class
		switch {
		case o.Type == manifest.Binary && c == 1:
			tasks = append(tasks, one)
		case o.Type != manifest.Binary && (has == nil || has[c]):
			one.Name += "_" + class
			tasks = append(tasks, one)
		}
	}
	return tasks
}

// known reads the labels of all sources into c.Known.
func (r *opener) known(c *Candidates) error {
	outputs := len(r.header.Outputs)
	arrays := make([]*npy.Array, outputs)
	for i := range r.header.Outputs {
		a, err := r.labels(i)
		if err != nil {
			return err
		}
		defer a.Close()
		arrays[i] = a
	}
	const most = 1 << 16
	values, classes := make([]float32, most*outputs), make([]int64, most)
	for _, s := range r.header.Sources {
		var k Known
		for first := 0; first < int(s.Rows); first += most {
			n := min(most, int(s.Rows)-first)
			for i, o := range r.header.Outputs {
				if err := r.readLabels(arrays[i], o, values[i*most:i*most+n], classes[:n]); err != nil {
					return err
				}
			}
			for row := range n {
				labelled := false
				for i := range outputs {
					v := values[i*most+row]
					labelled = labelled || v == v
				}
				if !labelled {
					continue
				}
				k.Rows = append(k.Rows, int32(first+row))
				for i := range outputs {
					k.Values = append(k.Values, values[i*most+row])
				}
			}
		}
		c.Known = append(c.Known, k)
	}
	return nil
}

// readLabels reads the next labels of an output into dst, as indices of o.Classes or as numbers, with NaN for no label. classes is memory
// for the indices that the file has.
func (r *opener) readLabels(a *npy.Array, o Output, dst []float32, classes []int64) error {
	if o.Type == manifest.Number {
		return a.RawFloat32s(dst)
	}
	if err := a.Int64s(classes); err != nil {
		return err
	}
	to, count := r.places[o.Name], len(o.Classes)
	if to != nil {
		count = len(to)
	}
	for i, c := range classes {
		switch {
		case c < -1 || c >= int64(count):
			return fmt.Errorf("%s: expected classes from -1 to %d of output %s, found %d", r.dir, count-1, o.Name, c)
		case c < 0:
			dst[i] = float32(math.NaN())
		case to != nil && to[c] < 0:
			return fmt.Errorf("%s: expected labels among the classes %s of output %s, found others", r.dir,
				text.OneLine(strings.Join(o.Classes, ", "), 200), o.Name)
		case to != nil:
			dst[i] = float32(to[c])
		default:
			dst[i] = float32(c)
		}
	}
	return nil
}

// in reports for each row of the pool whether it has a label.
func (k Known) in(rows int) []bool {
	out := make([]bool, rows)
	for _, r := range k.Rows {
		out[r] = true
	}
	return out
}

// classes reports for each output which of its classes occur among the rows.
func (k Known) classes(outputs []Output) [][]bool {
	has := make([][]bool, len(outputs))
	for i, o := range outputs {
		has[i] = make([]bool, len(o.Classes))
		for at := i; at < len(k.Values) && len(o.Classes) > 0; at += len(outputs) {
			if v := k.Values[at]; v == v {
				has[i][int(v)] = true
			}
		}
	}
	return has
}

// Digest returns the SHA-256, in hexadecimal, of what a folder holds of its rows: features, labels, sources, costs, which are held out, and
// ids or, without a column of ids, their numbers in the data. It does not depend on the files that they came from, nor on the name of the
// column of sources. Where classes are given, it is the digest of the same rows in a folder whose outputs have these classes.
func Digest(dir string, classes ...[]string) (string, error) {
	h, err := readHeader(dir)
	if err != nil {
		return "", err
	}
	r := &opener{dir: dir, header: h}
	r.reorder(classes)
	content := *h
	content.Name, content.Key, content.Source, content.Files, content.Sums = "", "", "", nil, nil
	raw, err := jsonfile.Encode(content)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(raw)
	labels := map[string]Output{}
	names := []string{featuresFile}
	if h.Split {
		names = append(names, splitFile)
	}
	if h.ID != "" {
		names = append(names, idsFile, idEndsFile)
	} else {
		names = append(names, rowsFile)
	}
	if h.Group != "" {
		names = append(names, groupsFile)
	}
	for i, o := range h.Outputs {
		names = append(names, labelsFile(i))
		labels[labelsFile(i)] = o
	}
	for _, name := range names {
		f, size, err := atomicfile.Open(r.path(name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n", name, size)
		if to := r.places[labels[name].Name]; to != nil {
			err = r.copyReordered(sum, f, name, to)
		} else {
			_, err = io.Copy(sum, f)
		}
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// ScanIDs calls f with the id of each row, or with the row's number in the data where rows have no ids, until f returns false. f must not
// keep the id.
func (c *Candidates) ScanIDs(f func(pool, row int, id []byte) bool) error {
	var number []byte
	for pool, p := range c.Set.Pools {
		o := p.Origin.(origin)
		for row := range p.Rows {
			var id []byte
			if o.ends == nil {
				number = strconv.AppendInt(number[:0], o.rows[o.first+row], 10)
				id = number
			} else if lo, hi, err := o.span(row); err != nil {
				return err
			} else {
				id = o.ids[lo:hi]
			}
			if !f(pool, row, id) {
				return nil
			}
		}
	}
	return nil
}
