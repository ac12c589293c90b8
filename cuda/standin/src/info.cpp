// The description of a shared library. It is compiled once for each library, with
// STANDIN_KIND, STANDIN_FAMILY and STANDIN_STUB.
#include "core/library.hpp"

namespace {

// Codes of each kind of library: of an ordered failure without a code, of a lost device,
// of a stub.
constexpr int kCodes[standin::kLibraryKinds][3] = {
    {304, 999, 34},  // driver: OPERATING_SYSTEM, UNKNOWN, STUB_LIBRARY
    {14, 13, 1},     // cuBLAS: INTERNAL_ERROR, EXECUTION_FAILED, NOT_INITIALIZED
    {14, 13, 1},
    {7, 6, 1},       // cuSOLVER: INTERNAL_ERROR, EXECUTION_FAILED, NOT_INITIALIZED
    {7, 6, 1},
    {7, 0, 1},
    {11, 0, 11},     // NVRTC: INTERNAL_ERROR
};

}  // namespace

__attribute__((visibility("hidden"))) extern const standin::Library standin_library = {
    standin::STANDIN_KIND,
    STANDIN_FAMILY,
    STANDIN_STUB,
    kCodes[standin::STANDIN_KIND][0],
    kCodes[standin::STANDIN_KIND][1],
    kCodes[standin::STANDIN_KIND][2],
};
