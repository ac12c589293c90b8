package columnar

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/endian"
	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/jsonfile"
)

// keyOf returns a hash of a manifest and of the names, sizes and times of the files that it selects, those of the last modification and, on
// Unix, those of the last change, which are new even where a program sets the others back. As long as it stays the same, nothing has to be
// imported again.
func keyOf(m *manifest.Manifest) (string, error) {
	inputs, err := m.Inputs()
	if err != nil {
		return "", err
	}
	for i := range inputs {
		if inputs[i].Path, err = filepath.Abs(inputs[i].Path); err != nil {
			return "", err
		}
		if v := inputs[i].Vectors; v != nil {
			if v.Path, err = filepath.Abs(v.Path); err != nil {
				return "", err
			}
		}
	}
	settings := *m
	settings.Path, settings.Files = "", nil
	if m.Vectors != nil {
		v := *m.Vectors
		v.Files = nil
		settings.Vectors = &v
	}
	raw, err := jsonfile.Encode(struct {
		Version  int
		Reading  int
		Name     string
		Manifest manifest.Manifest
		Inputs   []manifest.Input
	}{version, reading, m.Name(), settings, inputs})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
}

// Import reads what a manifest describes, in two passes, and writes it to the folder out, which appears whole or not at all. It needs some
// hundred megabytes of memory, plus 8 bytes for each row that has an id and some 40 for each group. A folder that already holds the same
// import is left as it is; any other content is an error. progress may be nil.
func Import(ctx context.Context, m *manifest.Manifest, out string, progress Progress) error {
	key, err := keyOf(m)
	if err != nil {
		return err
	}
	if h, err := readHeader(out); err == nil && h.Key == key {
		if err := damage(out); err != nil {
			return fmt.Errorf("%w; remove the folder %s first", err, out)
		}
		return nil
	}
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s: expected no folder or one of the same import, found %s in it; nothing was written", out, entries[0].Name())
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s, err := newSurvey(ctx, m, progress)
	if err != nil {
		return err
	}
	if err := s.run(); err != nil {
		return err
	}
	out = filepath.Clean(out)
	if err := atomicfile.MkdirAll(filepath.Dir(out)); err != nil {
		return err
	}
	tmp, unlock, err := temporary(out)
	if err != nil {
		return err
	}
	defer unlock()
	defer os.RemoveAll(tmp)
	w := &writer{survey: s, dir: tmp}
	if err := w.run(key); err != nil {
		return err
	}
	os.Remove(filepath.Join(tmp, machineFile))
	os.Remove(out) // it is empty, if it is there
	err = os.Rename(tmp, out)
	if h, e := readHeader(out); e == nil && h.Key == key {
		return nil // even where another process made it first
	}
	return err
}

// writer makes the second pass, which writes the arrays of a folder.
type writer struct {
	*survey
	dir     string
	sources []*sourceRows

	features, rows, split, ids, idEnds, group *scatter
	labels                                    []*scatter
	idAt                                      []int64 // by source: where the next id begins
	repeated                                  map[uint64]map[string]string
	groups                                    groupNumbers

	spreads *spreads   // nil where features are neither scaled nor filled
	middle  *rowSample // nil where features are not scaled
	scaled  bool
	digits  []finite.Digits // of float32 features that stay in their units

	raw []byte
	row int64
}

func (w *writer) run(key string) error {
	w.sources = w.sorted()
	w.findRepeated()
	cols := 0
	err := w.scan(true, func(file int, b *table.Batch, c columns) error {
		if w.features == nil {
			cols = b.Features.Width
			if err := w.measure(b); err != nil {
				return err
			}
			if err := w.open(cols, c); err != nil {
				return err
			}
		}
		for i := range b.Rows {
			if err := w.add(b, c, i); err != nil {
				return err
			}
			w.row++
		}
		return nil
	})
	for _, s := range w.arrays() {
		if e := s.close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return w.hint(err)
	}
	h := w.header(key, cols)
	if err := w.checkDigits(); err != nil {
		return err
	}
	if w.spreads != nil {
		if err := w.finish(h); err != nil {
			return err
		}
	}
	if h.Sums, err = w.sums(); err != nil {
		return err
	}
	return jsonfile.Write(filepath.Join(w.dir, headerFile), h)
}

// arrays returns the files that were created.
func (w *writer) arrays() []*scatter {
	return slices.DeleteFunc(append([]*scatter{w.features, w.rows, w.split, w.ids, w.idEnds, w.group}, w.labels...),
		func(s *scatter) bool { return s == nil })
}

// findRepeated finds the hashes that two ids share. The second pass keeps the ids with these hashes, to tell whether they are the same.
func (w *writer) findRepeated() {
	const most = 1000
	slices.Sort(w.survey.ids)
	w.repeated = map[uint64]map[string]string{}
	for i := 1; i < len(w.survey.ids) && len(w.repeated) < most; i++ {
		if h := w.survey.ids[i]; h == w.survey.ids[i-1] {
			w.repeated[h] = map[string]string{}
		}
	}
	w.survey.ids = nil
}

// open creates the files of the arrays.
func (w *writer) open(cols int, c columns) (err error) {
	rows, bytes := make([]int64, len(w.sources)), make([]int64, len(w.sources))
	w.idAt = make([]int64, len(w.sources))
	total := int64(0)
	for i, s := range w.sources {
		rows[i], bytes[i], w.idAt[i] = s.rows, s.idBytes, total
		total += s.idBytes
	}
	make := func(dst **scatter, name, descr string, size int, rows []int64, shape ...int) {
		if err == nil {
			*dst, err = newScatter(w.dir, name, descr, size, rows, shape...)
		}
	}
	size := w.element.Bytes()
	if w.spreads != nil {
		size = 8 // float64 until rescale
	}
	if make(&w.features, featuresFile, elements[w.element.String()], cols*size, rows, cols); err == nil {
		w.features.draft = w.spreads != nil
	}
	make(&w.rows, rowsFile, "<i8", 8, rows)
	if c.split >= 0 || c.fileSplit != "" {
		make(&w.split, splitFile, "|u1", 1, rows)
	}
	if c.id >= 0 {
		make(&w.ids, idsFile, "|u1", 1, bytes)
		make(&w.idEnds, idEndsFile, "<i8", 8, rows)
	}
	if c.group >= 0 {
		make(&w.group, groupsFile, "<i4", 4, rows)
	}
	for i, o := range w.outputs {
		w.labels = append(w.labels, nil)
		descr := "<i4"
		if o.Type == manifest.Number {
			descr = "<f4"
		}
		make(&w.labels[i], labelsFile(i), descr, 4, rows)
	}
	return err
}

// add writes row i of a batch to the arrays.
func (w *writer) add(b *table.Batch, c columns, i int) error {
	r, err := w.sourceOf(b, c, i)
	if err != nil || r.index < 0 {
		return err
	}
	if r.index >= len(w.sources) || w.sources[r.index] != r {
		return errChanged
	}
	v := &b.Features
	var features []byte
	switch lo, hi := i*v.Width, (i+1)*v.Width; w.element {
	case table.Uint8:
		features = v.U8[lo:hi]
	case table.Float16:
		features = endian.Bytes(v.F16[lo:hi])
	default:
		if !w.scaled {
			w.count(v, i)
		}
		if features = endian.Bytes(v.F32[lo:hi]); w.spreads != nil {
			features = endian.Bytes(w.spreads.add(v, i))
			if w.middle != nil {
				w.middle.add(v, i)
			}
		}
	}
	err = w.features.add(r.index, features)
	if err == nil {
		err = w.rows.add(r.index, binary.LittleEndian.AppendUint64(w.raw[:0], uint64(w.row)))
	}
	if err == nil && w.split != nil {
		err = w.addSplit(b, c, i, r)
	}
	if err == nil && w.ids != nil {
		err = w.addID(b, &b.Scalars[c.id], i, r)
	}
	if err == nil && w.group != nil {
		err = w.group.add(r.index, binary.LittleEndian.AppendUint32(w.raw[:0], uint32(w.groups.number(&b.Scalars[c.group], i))))
	}
	for j, o := range w.outputs {
		if err == nil {
			err = w.addLabel(w.labels[j], o, b, &b.Scalars[c.labels+j], i, r)
		}
	}
	return err
}

func (w *writer) addSplit(b *table.Batch, c columns, i int, r *sourceRows) error {
	test, err := w.isTest(b, c, i)
	if err != nil {
		return err
	}
	w.raw = append(w.raw[:0], 0)
	if test {
		w.raw[0] = 1
	}
	return w.split.add(r.index, w.raw)
}

func (w *writer) addID(b *table.Batch, v *table.Values, i int, r *sourceRows) error {
	if v.IsMissing(i) {
		return errChanged
	}
	id := v.Name(i)
	if seen := w.repeated[maphash.String(w.seed, id)]; seen != nil {
		if first, twice := seen[id]; twice {
			return b.Fault(i, w.manifest.ID, "an id of its own for each row, found %q, also at %s", id[:min(len(id), 80)], first)
		}
		seen[id] = b.Where(i)
	}
	if err := w.ids.add(r.index, []byte(id)); err != nil {
		return err
	}
	w.idAt[r.index] += int64(len(id))
	return w.idEnds.add(r.index, binary.LittleEndian.AppendUint64(w.raw[:0], uint64(w.idAt[r.index])))
}

func (w *writer) addLabel(dst *scatter, o *outputClasses, b *table.Batch, v *table.Values, i int, r *sourceRows) error {
	var bits uint32
	if o.Type == manifest.Number {
		x, there, err := o.number(b, v, i)
		if err != nil {
			return err
		}
		if !there {
			x = float32(math.NaN())
		}
		bits = math.Float32bits(x)
	} else {
		class := int32(-1)
		if name, there := o.class(v, i); there {
			known := false
			if class, known = o.index[name]; !known {
				return errChanged
			}
		}
		bits = uint32(class)
	}
	return dst.add(r.index, binary.LittleEndian.AppendUint32(w.raw[:0], bits))
}

func (w *writer) header(key string, cols int) *header {
	m := w.manifest
	h := &header{
		Version: version, Name: m.Name(), Key: key, Cols: cols, Element: w.element.String(), Features: w.allFeatures(),
		Logs: w.logs, Words: w.words(), Derived: w.derived, Codes: w.codes, ID: m.ID, Split: w.split != nil, Group: m.Group,
		Target: m.Target.Source, Folds: m.Target.Folds, Files: w.files, Height: w.image[0], Width: w.image[1],
	}
	if m.Source != manifest.FromFile && m.Source != manifest.FromFolder {
		h.Source = m.Source
	}
	for _, s := range w.sources {
		h.Rows += s.rows
		h.Sources = append(h.Sources, storedSource{s.name, s.rows, s.cost})
	}
	for _, o := range w.outputs {
		out := Output{Name: o.Column, Type: o.Type, Missing: o.Missing, Log: o.Log, Plus: o.Plus}
		if o.Type != manifest.Number {
			out.Classes = o.Classes
		}
		h.Outputs = append(h.Outputs, out)
	}
	return h
}
