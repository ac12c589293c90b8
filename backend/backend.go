// Package backend is the contract between the pipeline and the devices that compute.
//
// A [Device] describes hardware and holds its memory. A [Queue] is an ordered
// stream of work on a device: the operations that active multi-task
// representation learning is made of, transfers and allocation. The package
// imports no implementation: cpu and cuda import it, and the command line passes
// constructors to [Select].
//
// # Conventions
//
// Matrices and vectors are row-major views ([Matrix], [Vector]) of a [Buffer].
// An operation reads and writes through its views alone: padding between rows
// is never touched. Outputs may hold anything beforehand, NaN included, unless
// the operation says that it accumulates (beta != 0).
//
// # Order
//
// Operations issued on a queue take effect in the order of the calls, whichever
// goroutine makes them. A call may return before its work is done;
// [Queue.Download] and every call that returns a value wait for it. There is no
// order between queues: a queue may use what another queue wrote once
// [Queue.Synchronize] of the writing queue has returned. This holds for a new
// buffer too, since its queue fills it with zeros.
//
// # Memory
//
// Buffers and sample sets belong to the device: any of its queues may use them,
// they count in [Device.Usage], and they live until they are freed or the device
// is closed, whatever becomes of the queue that made them. They are allocated on a
// queue because memory is reused in the order of a queue: Free may be called as
// soon as the last work on them is issued on that queue, and the next allocation
// there may take the same memory at once. Work on them that was issued on other
// queues must have been synchronised before.
//
// # Lifetime
//
// Closing a queue waits for its work and ends it; closing a device closes its
// queues and frees its memory. Every method is safe for concurrent use by several
// goroutines, except that during [Queue.Record] and [Program.Run] only the recorded
// function may call the queue.
//
// No method panics on bad data. For a mismatched shape, a wrong dtype, or a
// foreign or freed buffer the error is an [*ArgumentError], which means a bug of
// the caller. A matrix that is not positive definite, a NaN in a factorisation and
// memory that runs out have error types of their own: their cause is the data or
// the device.
//
// For one device and one build every operation gives the same bytes each time,
// whatever the number of threads.
package backend

// Device is a piece of hardware that computes, with the memory that its queues share.
type Device interface {
	// Info describes the device. It never fails.
	Info() Info
	// NewQueue starts a queue, which lives until it or the device is closed.
	NewQueue() (Queue, error)
	// Usage reports the memory held by buffers not yet freed; a leak shows as
	// Buffers > 0 at the end of a test.
	Usage() Usage
	// Close closes all queues, waiting for their work, and frees all memory. Later
	// calls return [ErrClosed]. It is idempotent.
	Close() error
}

// Queue is an ordered stream of work on a device.
//
// In the shapes below T is the number of tasks of a [Samples], the outputs of all
// its sources, C the largest number of outputs of a source, K the width of the
// representation, d the width of an input row and N the number of samples.
//
// A queue may implement [Lender] or [Limited] too. A type that embeds a Queue implements neither, whatever the embedded
// queue does: unless it forwards their methods, [Lend] copies and the room on the device is not known.
type Queue interface {
	// Device returns the device that does the work.
	Device() Device

	// Alloc returns a buffer of n elements, all zero. n may be 0.
	Alloc(t DType, n int) (Buffer, error)
	// NewSamples validates s, every row index included, and places it on the
	// device. The pools must outlive the result.
	NewSamples(s SampleSet) (Samples, error)
	// Upload copies src, the raw little-endian elements, into dst from element
	// off on. The call returns when src may be reused. See [Put] for slices.
	Upload(dst Buffer, off int, src []byte) error
	// Download copies elements from off on into dst, after all work issued
	// before it has finished. See [Get] for slices.
	Download(dst []byte, src Buffer, off int) error

	Dense
	Solver
	MultiTask
	Convolution
	Training
	Vectors

	// Record returns a program of the operations that fn issues on this queue.
	// See [Program].
	Record(fn func() error) (Program, error)
	// Synchronize waits for all work issued on this queue and reports its first
	// failure.
	Synchronize() error
	// Close waits for the queue's work and ends it; later calls return
	// [ErrClosed]. It is idempotent.
	Close() error
}

// Program is a recorded sequence of operations, to be run many times. A device
// that has graphs keeps it as one, so that a run costs one launch.
//
// The recorded function may be called once, when it is recorded, or at every
// run: it must issue the same operations on the same views with the same numbers
// each time and do nothing else. Slices that it passes to operations are the
// program's inputs and outputs, at the same place and of the same length each
// time: what an operation reads (the source of an Upload, the coefficients of a
// Combine) is read when Run is called, and what it writes (the destination of a
// Download, the results of Dots) is there when Run returns. Bad arguments are
// reported by Record or by the first Run.
//
// Only Upload, Download and the operations of [Dense], [MultiTask],
// [Convolution], [Training] and [Vectors] can be recorded, without Dot; any
// other returns [ErrRecording].
type Program interface {
	// Run issues the operations in order on the queue that recorded them. It waits for them only if the program has
	// outputs.
	Run() error
	// Free releases the program, once its runs are done. It is idempotent. To run a program afterwards, or after one of
	// its buffers was freed, is an [*ArgumentError]. A program counts in [Device.Usage] as a buffer of 0 bytes.
	Free()
}

// Dense holds the matrix products. All operands of a call share one dtype, Float32 or Float64. op(A) is A, or its
// transpose where the flag is set.
type Dense interface {
	// Gemm computes C = alpha op(A) op(B) + beta C. C must overlap neither A
	// nor B. With beta == 0 the old C is never read.
	Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) error
	// Syrk computes C = alpha A A' + beta C, or alpha A' A + beta C when trans,
	// and fills both triangles. With beta != 0 the old C must be symmetric.
	Syrk(trans bool, alpha float64, a Matrix, beta float64, c Matrix) error
	// Gemv computes y = alpha op(A) x + beta y. y must overlap neither A nor x.
	Gemv(trans bool, alpha float64, a Matrix, x Vector, beta float64, y Vector) error
	// ScaleColumns computes A = A diag(x): a_ij *= x_j. A must not overlap x.
	ScaleColumns(a Matrix, x Vector) error
}

// Solver holds the small factorisations and solves. All operands are Float64.
type Solver interface {
	// SolveSPD solves A_i X_i = B_i for i = 0..n-1, each A_i a symmetric positive definite k by k block of a (only its
	// lower triangle is read) and each X_i a k by r block of b, blocks contiguous. a is overwritten with the lower
	// Cholesky factors (strict upper triangles undefined), b with the solutions. If a block is not positive definite,
	// the error is a [*NotPositiveDefiniteError] that names the first such block, and a and b are undefined.
	SolveSPD(n, k, r int, a, b Buffer) error
	// SVD computes the thin decomposition A = U diag(s) V' of the m by n matrix a: u is m by p, s has p elements,
	// non-negative and descending, vt is p by n, p = min(m, n). a is not changed. u and vt may both be the zero Matrix
	// when only s is wanted. The error is a [*NonFiniteError] for a matrix with a NaN or an infinity, and a
	// [*ConvergenceError] where the iteration does not converge.
	SVD(a, u Matrix, s Vector, vt Matrix) error
	// Pinv computes the Moore-Penrose inverse of the m by n matrix a into the n by m matrix dst. Singular values at or
	// below rcond * s_max count as zero; rcond < 0 selects max(m, n) * 2^-52. Pinv returns the rank, the number of
	// singular values kept.
	Pinv(a Matrix, rcond float64, dst Matrix) (rank int, err error)
}

// MultiTask holds the operations over the samples of many sources.
type MultiTask interface {
	// TaskGradient makes one pass over the samples and reads the features x_i of each
	// sample once for all outputs of its source. With p_t row t of the T by d Float32
	// matrix p, b_t element t of offset, and the sums over the samples i that have a
	// label y_it of task t:
	//
	//	r_it = x_i'p_t + b_t - y_it,  q_t = sum_i r_it x_i,  total_t = sum_i r_it,  loss_t = sum_i r_it^2
	//
	// A missing label, NaN, adds to no sum. offset has T Float32 elements, or
	// is the zero Vector for b = 0. q is T by d Float32; total and loss have T
	// Float64 elements each, and total may be the zero Vector when it is not wanted.
	// All are overwritten, with zeros for a task without labels. q must not overlap
	// p. A feature that is not finite may spoil the results of all outputs of its
	// source, including outputs for which the sample has no label.
	TaskGradient(s Samples, p Matrix, offset Vector, q Matrix, total, loss Vector) error
	// Project computes z_i = B x_i for all N samples in order, whatever their labels.
	// b is the K by d Float32 matrix whose rows span the representation (the
	// transpose of the paper's B), z is N by K Float32.
	Project(s Samples, b, z Matrix) error
}

// Vectors holds the elementwise operations and reductions. Sums are accumulated
// in float64 in a fixed order. Operands share one dtype, Float32 or Float64,
// and one length; two operands are the same vector or must not overlap.
type Vectors interface {
	// Axpy computes y += alpha x.
	Axpy(alpha float64, x, y Vector) error
	// Scale computes x *= alpha.
	Scale(alpha float64, x Vector) error
	// Dot returns x'y.
	Dot(x, y Vector) (float64, error)
	// Dots computes out_ji = a_i'x_j for the rows a_i of a and x_j of x, with one transfer back; out_ji is element
	// j*a.Rows + i of out, and len(out) must be x.Rows*a.Rows. An element depends on its two rows alone. Where x is
	// Float32, a may also hold stored rows, Uint8 or Float16.
	Dots(a, x Matrix, out []float64) error
	// Combine computes y = sum_i coef_i a_i + beta y over the rows a_i of a, in one
	// pass; len(coef) must be a.Rows. y must not overlap a. With beta == 0 the old y is
	// never read.
	Combine(coef []float64, a Matrix, beta float64, y Vector) error
	// Copy copies src to dst, converting between Float32 and Float64 where the
	// dtypes differ.
	Copy(dst, src Vector) error
	// Fill sets every element of dst to v.
	Fill(dst Vector, v float64) error
}

// Info describes a device; it is recorded with every result.
type Info struct {
	// Backend is the implementation, "cpu" or "cuda".
	Backend string `json:"backend"`
	// Device names the hardware.
	Device string `json:"device"`
	// Detail names what the implementation uses on it, such as the vector instructions or the library versions.
	Detail string `json:"detail,omitempty"`
	// Precision describes the arithmetic of the operations.
	Precision string `json:"precision"`
	// Threads is the number of threads of the host that a call may use, and what is computed on the host beside the
	// device; 0 stands for GOMAXPROCS. Results do not depend on it.
	Threads int `json:"-"`
	// MemoryBytes is the device memory, 0 where unknown.
	MemoryBytes int64 `json:"-"`
}

// Usage is the memory held by live buffers.
type Usage struct {
	Buffers int
	Bytes   int64
}
