//go:build linux

package main

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
)

// copying times a copy on the device, which reads and writes every byte.
func (w *bench) copying() error {
	tmp := backend.NewScope(w.q)
	defer tmp.Close()
	src, dst := tmp.Vector(backend.Float32, w.copied), tmp.Vector(backend.Float32, w.copied)
	if err := tmp.Err(); err != nil {
		return err
	}
	s, err := timed(w.q, w.least, func() error { return w.q.Copy(dst, src) })
	if err != nil {
		return err
	}
	bytes := 8 * float64(w.copied)
	w.report.Bandwidth = bytes / s
	w.add(row{Section: "copy on the device", Name: "amtrl", Seconds: s, Work: work{Bytes: bytes},
		Note: fmt.Sprintf("%d bytes, read and written", 4*w.copied)})
	return nil
}
