//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

// The methods in this file need a driver for which HasGraphs is true.

// StreamBeginCapture begins a capture: work added to the stream goes into a graph in place of being
// run.
func (d *Driver) StreamBeginCapture(s Stream, mode int) error {
	return d.err("cuStreamBeginCapture_v2", C.nv_cuStreamBeginCapture_v2(d.t, C.uintptr_t(s), C.int32_t(mode)))
}

// StreamEndCapture ends the capture and returns the graph. It returns an error where the capture
// was broken, and ends that too.
func (d *Driver) StreamEndCapture(s Stream) (Graph, error) {
	var g C.uintptr_t
	err := d.err("cuStreamEndCapture", C.nv_cuStreamEndCapture(d.t, C.uintptr_t(s), &g))
	return Graph(g), err
}

// GraphInstantiate returns an executable graph.
func (d *Driver) GraphInstantiate(g Graph, flags uint64) (GraphExec, error) {
	var x C.uintptr_t
	err := d.err("cuGraphInstantiateWithFlags", C.nv_cuGraphInstantiateWithFlags(d.t, &x, C.uintptr_t(g), C.uint64_t(flags)))
	return GraphExec(x), err
}

// GraphLaunch adds a graph to a stream.
func (d *Driver) GraphLaunch(x GraphExec, s Stream) error {
	return d.err("cuGraphLaunch", C.nv_cuGraphLaunch(d.t, C.uintptr_t(x), C.uintptr_t(s)))
}

// GraphExecDestroy destroys an executable graph.
func (d *Driver) GraphExecDestroy(x GraphExec) error {
	return d.err("cuGraphExecDestroy", C.nv_cuGraphExecDestroy(d.t, C.uintptr_t(x)))
}

// GraphDestroy destroys a graph.
func (d *Driver) GraphDestroy(g Graph) error {
	return d.err("cuGraphDestroy", C.nv_cuGraphDestroy(d.t, C.uintptr_t(g)))
}
