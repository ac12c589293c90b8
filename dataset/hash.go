package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"
	"sync"

	"github.com/amtrl/amtrl/internal/endian"
)

type digest [sha256.Size]byte

// Hash identifies the data of a valid set: the SHA-256, in hexadecimal, of a little-endian serialisation of Binary, the pools, and the
// tasks with their labels and splits. Element slices enter by their own SHA-256, so that slices which tasks share are read once; whether
// they are shared does not matter to the result, nor does the name of the set. The outputs, the costs and the marks of the target's pools
// enter where outputs have names or a pool has a cost or a mark, the units and means of columns where there are any, and the groups of rows
// where pools have them. It returns an empty string where [Set.CheckShape] refuses the set.
func (s *Set) Hash() string {
	if s.CheckShape() != nil {
		return ""
	}
	elements := make([]digest, len(s.Pools))
	var wg sync.WaitGroup
	for i, p := range s.Pools {
		wg.Go(func() { elements[i] = p.digest() })
	}
	wg.Wait()

	h := hasher{h: sha256.New()}
	extended := s.extended()
	h.text([]string{"amtrl set 1", "amtrl set 2"}[bit(extended)])
	h.numbers(bit(s.Binary), len(s.Pools), len(s.Tasks))
	for i, p := range s.Pools {
		h.text(p.Name)
		h.numbers(p.Rows, p.Cols, p.Height, p.Width, p.kind(), int(math.Float32bits(p.Scale)))
		h.h.Write(elements[i][:])
		if extended {
			h.numbers(int(math.Float64bits(p.Cost)), bit(p.Target))
		}
	}
	labels, rows := map[span[float32]]digest{}, map[span[int32]]digest{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		h.text(t.Name)
		h.numbers(t.Pool)
		shared(&h, labels, t.Labels)
		shared(&h, rows, t.Train)
		shared(&h, rows, t.Test)
		if extended {
			h.text(t.Output.Name)
			h.text(t.Output.Class)
		}
	}
	if c := s.Columns; c != nil && len(c.Centre)+len(c.Means) > 0 {
		h.units(c)
	}
	if s.Columns != nil {
		h.logs(s.Columns)
		h.factors(s.Columns)
	}
	h.groups(s.Pools)
	return hex.EncodeToString(h.h.Sum(nil))
}

// groups writes which rows of the pools belong together, independently of the numbers of the groups.
func (h *hasher) groups(pools []*Pool) {
	if !slices.ContainsFunc(pools, func(p *Pool) bool { return p.Groups != nil }) {
		return
	}
	h.text("groups")
	places := map[int32]int32{}
	for _, p := range pools {
		of := make([]int32, len(p.Groups))
		for i, g := range p.Groups {
			if _, known := places[g]; !known && g >= 0 {
				places[g] = int32(len(places))
			}
			if of[i] = -1; g >= 0 {
				of[i] = places[g]
			}
		}
		d := digestOf(of)
		h.numbers(len(of))
		h.h.Write(d[:])
	}
}

// units writes what a model needs to read rows of the tables. Numbers are rounded, since the order of the files changes their last digits.
// A centre is written as its sum with the spread, since it may be 0 but for these digits.
func (h *hasher) units(c *Columns) {
	h.numbers(len(c.Centre), len(c.Means))
	for i, spread := range c.Spread[:min(len(c.Spread), len(c.Centre))] {
		h.rounded(spread)
		h.rounded(c.Centre[i] + spread)
	}
	for _, m := range c.Means {
		h.rounded(m)
	}
}

// logs writes which features are logarithms, which their names do not say for sure.
func (h *hasher) logs(c *Columns) {
	if len(c.Logs) > 0 {
		h.text("logs")
		h.texts(c.Logs...)
	}
}

// factors writes how features are multiplied with each other, which their names do not say.
func (h *hasher) factors(c *Columns) {
	if len(c.Derived.Factors) == 0 {
		return
	}
	h.text("factors")
	for _, f := range c.Derived.Factors {
		h.numbers(f.Feature)
		h.rounded(f.Spread)
		for _, x := range []float64{f.Low, f.High, f.Mean} {
			h.within(x, f.Spread)
		}
	}
}

// within writes a number to within 2^-16 of a spread.
func (h *hasher) within(x, spread float64) {
	_, power := math.Frexp(spread)
	h.numbers(int(math.Round(math.Ldexp(x, 16-power))))
}

// Hash identifies what a model says of the tables that it was made from, beside the content of the set: the SHA-256, in hexadecimal, of
// their names, classes, words for none and units. It returns an empty string where c is nil.
func (c *Columns) Hash() string {
	if c == nil {
		return ""
	}
	h := hasher{h: sha256.New()}
	h.texts(c.ID)
	h.texts(c.Features...)
	for _, w := range c.Words {
		h.texts(w.Column)
		h.texts(w.Words...)
	}
	for _, of := range c.Codes {
		h.texts(of.Column)
		h.numbers(len(of.Values))
		for _, x := range of.Values {
			h.rounded(x)
		}
	}
	h.numbers(len(c.Labels))
	for _, l := range c.Labels {
		h.texts(l.Name)
		h.texts(l.Classes...)
		h.texts(l.Missing...)
	}
	h.numbers(len(c.Spread), len(c.Means))
	for _, spread := range c.Spread {
		h.rounded(spread)
	}
	for _, v := range [][]float64{c.Centre, c.Means} {
		for j, x := range v {
			if len(c.Spread) == 0 {
				h.rounded(x)
				continue
			}
			h.within(x, c.Spread[j])
		}
	}
	h.logs(c)
	h.factors(c)
	return hex.EncodeToString(h.h.Sum(nil))
}

// extended reports whether the set has what MNIST-C, the digits and the synthetic problems do not have: costs, pools of the target alone,
// or outputs with names.
func (s *Set) extended() bool {
	return slices.ContainsFunc(s.Pools, func(p *Pool) bool { return p.Cost != 0 || p.Target }) ||
		slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Output.Name != "" })
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// hasher writes the serialisation: integers as 8 bytes, text after its length.
type hasher struct {
	h   hash.Hash
	buf []byte
}

func (h *hasher) numbers(v ...int) {
	h.buf = h.buf[:0]
	for _, x := range v {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(x))
	}
	h.h.Write(h.buf)
}

func (h *hasher) rounded(v float64) { h.numbers(int(math.Float32bits(float32(v)))) }

func (h *hasher) text(s string) {
	h.numbers(len(s))
	h.h.Write([]byte(s))
}

func (h *hasher) texts(list ...string) {
	h.numbers(len(list))
	for _, s := range list {
		h.text(s)
	}
}

// kind numbers the storage types in the serialisation.
func (p *Pool) kind() int {
	switch {
	case len(p.U8) > 0:
		return 1
	case len(p.F16) > 0:
		return 2
	}
	return 3
}

func (p *Pool) digest() digest {
	switch p.kind() {
	case 1:
		return sha256.Sum256(p.U8)
	case 2:
		return digestOf(p.F16)
	}
	return digestOf(p.F32)
}

// span is the identity of a slice: its first element's address and its length.
type span[E any] struct {
	first *E
	n     int
}

// shared writes the length and the digest of v. The digest is computed once for all slices of one identity.
func shared[E any](h *hasher, known map[span[E]]digest, v []E) {
	h.numbers(len(v))
	if len(v) == 0 {
		return
	}
	key := span[E]{&v[0], len(v)}
	if _, ok := known[key]; !ok {
		known[key] = digestOf(v)
	}
	d := known[key]
	h.h.Write(d[:])
}

// digestOf returns the SHA-256 of the elements, little-endian. E must be a type of fixed size.
func digestOf[E any](v []E) digest {
	const block = 1 << 14
	h := sha256.New()
	for part := range slices.Chunk(v, block) {
		h.Write(endian.Bytes(part))
	}
	return digest(h.Sum(nil))
}
