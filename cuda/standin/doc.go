// Package standin builds shared libraries that take the place of libcuda,
// cuBLAS, cuSOLVER and NVRTC in tests, and gives orders to them.
//
// They are compiled by g++ from the C++ sources in src and from the kernels'
// own sources, and open behind the same loader as NVIDIA's. They compute on the
// CPU: kernels as in package kernels' harness, dense algebra by plain reference
// code. What they keep of the originals is the contract: contexts that are
// current for one thread, streams that run late, captures and the rules of what
// they forbid, codes of errors, errors that surface later and end a context,
// shapes and sizes that are refused.
//
// What they are stricter about: work in a stream runs only when something waits
// for it; new memory holds NaN; each block lies between guard zones; an address
// that is not the device's is found when it is used; kernels run their blocks
// and threads in another order each time; what may wait for the whole context, such
// as an allocation, a module, a handle or a decomposition, ends the captures of all
// other threads; of a single column the decomposition leaves V' at zero.
//
// Where AMTRL_PTX is a folder of kernels in PTX, those are run in place of what g++ makes.
//
// Built files are kept in the folder amtrl/standin of the user's cache, which may
// be deleted at any time.
//
// [Build] returns a folder of libraries, whole or with a [Variant] of faults
// that only another file can have. [Open] gives a test the means to order all
// other faults, to count calls, and to end with no object alive.
package standin
