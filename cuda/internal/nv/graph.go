//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
// #include <stdlib.h>
import "C"

import "unsafe"

// The methods of this file work where HasGraphs is true.

// StreamBeginCapture makes a stream collect what is added to it.
func (d *Driver) StreamBeginCapture(s Stream, mode int) error {
	return d.err("cuStreamBeginCapture_v2", C.nv_cuStreamBeginCapture_v2(d.t, C.uintptr_t(s), C.int32_t(mode)))
}

// StreamEndCapture ends the collection and returns the graph. A capture that was
// broken meanwhile is an error and ends too.
func (d *Driver) StreamEndCapture(s Stream) (Graph, error) {
	var g C.uintptr_t
	err := d.err("cuStreamEndCapture", C.nv_cuStreamEndCapture(d.t, C.uintptr_t(s), &g))
	return Graph(g), err
}

// StreamIsCapturing is whether a stream collects, also where the capture is broken.
func (d *Driver) StreamIsCapturing(s Stream) (bool, error) {
	var status C.int32_t
	err := d.err("cuStreamIsCapturing", C.nv_cuStreamIsCapturing(d.t, C.uintptr_t(s), &status))
	return status != 0, err
}

// ThreadExchangeStreamCaptureMode sets the calling thread's capture mode and
// returns the former one.
func (d *Driver) ThreadExchangeStreamCaptureMode(mode int) (int, error) {
	m := C.int32_t(mode)
	err := d.err("cuThreadExchangeStreamCaptureMode", C.nv_cuThreadExchangeStreamCaptureMode(d.t, &m))
	return int(m), err
}

// GraphInstantiate makes a graph that can be launched.
func (d *Driver) GraphInstantiate(g Graph, flags uint64) (GraphExec, error) {
	var x C.uintptr_t
	err := d.err("cuGraphInstantiateWithFlags", C.nv_cuGraphInstantiateWithFlags(d.t, &x, C.uintptr_t(g), C.uint64_t(flags)))
	return GraphExec(x), err
}

// GraphLaunch adds a graph to a stream.
func (d *Driver) GraphLaunch(x GraphExec, s Stream) error {
	return d.err("cuGraphLaunch", C.nv_cuGraphLaunch(d.t, C.uintptr_t(x), C.uintptr_t(s)))
}

// GraphUpload makes ready on the device what the first launch needs.
func (d *Driver) GraphUpload(x GraphExec, s Stream) error {
	return d.err("cuGraphUpload", C.nv_cuGraphUpload(d.t, C.uintptr_t(x), C.uintptr_t(s)))
}

// GraphExecUpdate gives x the arguments of g, which must have the same shape. The
// result is GraphUpdateSuccess, or says why not (CUgraphExecUpdateResult of cuda.h).
func (d *Driver) GraphExecUpdate(x GraphExec, g Graph) (result int, err error) {
	var info C.nv_graph_update
	err = d.err("cuGraphExecUpdate_v2", C.nv_cuGraphExecUpdate_v2(d.t, C.uintptr_t(x), C.uintptr_t(g), &info))
	return int(info.result), err
}

// GraphExecDestroy destroys what GraphInstantiate made.
func (d *Driver) GraphExecDestroy(x GraphExec) error {
	return d.err("cuGraphExecDestroy", C.nv_cuGraphExecDestroy(d.t, C.uintptr_t(x)))
}

// GraphDestroy destroys a graph.
func (d *Driver) GraphDestroy(g Graph) error {
	return d.err("cuGraphDestroy", C.nv_cuGraphDestroy(d.t, C.uintptr_t(g)))
}

// GraphDebugDotPrint writes a graph in the DOT language.
func (d *Driver) GraphDebugDotPrint(g Graph, path string, flags uint32) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	return d.err("cuGraphDebugDotPrint", C.nv_cuGraphDebugDotPrint(d.t, C.uintptr_t(g), cpath, C.uint32_t(flags)))
}
