package columnar

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/amtrl/amtrl/internal/npy"
)

// reorder gives outputs other classes, or the same classes in another order. An output without a list of classes keeps its own.
func (r *opener) reorder(classes [][]string) {
	r.header.Outputs = slices.Clone(r.header.Outputs)
	r.places = map[string][]int32{}
	for i, list := range classes {
		if i >= len(r.header.Outputs) || len(list) == 0 {
			continue
		}
		o := &r.header.Outputs[i]
		if len(o.Classes) == 0 || slices.Equal(o.Classes, list) {
			continue
		}
		to := make([]int32, len(o.Classes))
		for c, name := range o.Classes {
			to[c] = int32(slices.Index(list, name))
		}
		o.Classes, r.places[o.Name] = list, to
	}
}

// copyReordered copies the file of labels called name from f to w, with each class c replaced by class to[c].
func (r *opener) copyReordered(w io.Writer, f io.Reader, name string, to []int32) error {
	a, err := npy.Open(r.path(name))
	if err != nil {
		return err
	}
	a.Close()
	if _, err := io.CopyN(w, f, a.Data); err != nil {
		return err
	}
	for buf := make([]byte, 1<<16); ; {
		n, err := io.ReadFull(f, buf)
		for at := 0; at+4 <= n; at += 4 {
			c := int32(binary.LittleEndian.Uint32(buf[at:]))
			if c >= 0 && int(c) < len(to) {
				if c = to[c]; c < 0 {
					c = -2 // an index that no folder has
				}
			}
			binary.LittleEndian.PutUint32(buf[at:], uint32(c))
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
