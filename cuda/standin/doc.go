// Package standin builds shared libraries that take the place of libcuda, cuBLAS,
// cuSOLVER and NVRTC in tests, and controls them.
//
// The libraries are compiled by g++ from the C++ sources in src and from the
// kernels' own sources, and are opened by the same loader as NVIDIA's. They compute
// on the CPU: kernels as in the harness of package kernels, dense algebra by plain
// reference code. They keep the contract of the originals: contexts that are
// current for one thread, streams that run late, captures and the calls that they
// forbid, error codes, errors that surface later and end a context, and the shapes
// and sizes that are refused.
//
// They are stricter in some ways. Work in a stream runs only when something waits
// for it. New memory holds NaN. Each block lies between guard zones. An address
// that is not the device's is found when it is used. Kernels run their blocks and
// threads in another order each time. A call that may wait for the whole context,
// such as an allocation, a module, a handle or a decomposition, ends the captures
// of all other threads. The decomposition of a single column leaves V' at zero.
//
// Where AMTRL_PTX is a folder of kernels in PTX, those are run in place of what g++
// makes of the sources.
//
// Built files are kept in the folder amtrl/standin of the user's cache folder,
// which may be deleted at any time.
//
// [Build] returns a folder of libraries: all of them as they should be, or a
// [Variant] with faults that only another file can have. [Open] lets a test order
// all other faults and count calls, and checks that no object is alive when the
// test ends.
package standin
