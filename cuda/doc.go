// Package cuda implements package backend on an NVIDIA GPU. It launches the kernels
// of package kernels for the operations particular to the algorithm, and calls
// cuBLAS for matrix products, cuSOLVER for decompositions and NVRTC to compile the
// kernels. Package nv finds these libraries at run time: the build needs nothing of
// CUDA, and nothing is loaded before [Open] or [Probe].
//
// # Queues
//
// A queue is a CUDA stream with library handles and pinned host memory of its own.
// An operation checks its arguments, waits for its turn on the queue, makes the
// device's context current on the calling thread, and returns once its work is on
// the stream. A queue has no worker thread: handing an operation over to one would
// take longer than many operations do. A failure on the device is returned by the
// next call that waits; one that ends the device's context is also returned by
// every call after that, as the same [*LostError].
//
// # Memory
//
// Freed blocks are cached. The queue that freed a block can reuse it at once, since
// its stream orders the old work before the new; another queue reuses it behind an
// event. Where the driver has no memory left for a call of this package or of a
// library, all queues are waited for, the cached blocks are returned to the driver,
// and the call is made once more. The programs of a queue share their scratch
// memory.
//
// # Determinism
//
// For one device and one set of libraries, every operation gives the same bytes
// each time: kernels add in a fixed order that does not depend on the number of
// multiprocessors, and cuBLAS has a workspace of its own in each queue.
package cuda
