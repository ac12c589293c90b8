// Package cuda is the backend on an NVIDIA GPU: kernels of package kernels for
// what is particular to the algorithm, cuBLAS for matrix products, cuSOLVER for
// the decompositions, NVRTC to compile. All of it is found at run time by package
// nv; nothing happens before [Open], and nothing of CUDA is needed to build.
//
// # Queues
//
// A queue is a stream with its own handles of the libraries and its own pinned
// memory. An operation checks its arguments, waits for its turn on the queue, makes the
// device's context current on the thread that it is on, and returns once the work is on
// the stream: a hand-over to a thread of the queue's own would take longer than many an
// operation. What fails on the device later is returned by the next call that waits; a
// failure that ends the device's context is returned by every call after that as the
// same [*LostError].
//
// # Memory
//
// Freed blocks are cached. A block is used again at once on the queue that freed
// it, where the stream orders the old work before the new, and behind an event on
// another one. A call for which the driver has no memory left, ours or a library's, is
// made once more after all queues have been waited for and what is cached has gone back
// to the driver. The programs of a queue have their scratch memory in common.
//
// # Determinism
//
// For one device and one set of libraries the result of every operation is the
// same bytes each time: kernels add in a fixed order that does not depend on the
// number of multiprocessors, and cuBLAS has a workspace of its own in each queue.
package cuda
