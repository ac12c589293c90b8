#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/common.hpp"

namespace standin {

namespace {
bool ready = false;
}

bool initialised() { return ready; }

int find_stream(uintptr_t h, Context* ctx, Stream** out) {
  if (h <= 1) {
    *out = ctx->null_stream.get();
    return kSuccess;
  }
  *out = streams().find(handle(h));
  return *out != nullptr && (*out)->ctx == ctx ? kSuccess : kInvalidHandle;
}

}  // namespace standin

using namespace standin;

int32_t cuInit(uint32_t flags) {
  ENTER(int32_t);
  if (flags != 0) return kInvalidValue;
  if (state().devices == 0) return kNoDevice;
  ready = true;
  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  state().connections = connections != nullptr ? std::atoi(connections) : 8;
  return kSuccess;
}

int32_t cuDriverGetVersion(int32_t* version) {
  ENTER(int32_t);
  if (version == nullptr) return kInvalidValue;
  *version = state().driver_version;
  return kSuccess;
}

int32_t cuDeviceGetCount(int32_t* count) {
  ENTER_INITIALISED();
  *count = state().devices;
  return kSuccess;
}

int32_t cuDeviceGet(int32_t* device, int32_t ordinal) {
  ENTER_INITIALISED();
  if (ordinal < 0 || ordinal >= state().devices) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

int32_t cuDeviceGetName(char* name, int32_t len, int32_t device) {
  ENTER_DEVICE(device);
  if (name == nullptr || len <= 0) return kInvalidValue;
  std::snprintf(name, static_cast<size_t>(len), "%s", state().names[device].empty() ? "Stand-in H200" : state().names[device].c_str());
  return kSuccess;
}

int32_t cuDeviceTotalMem_v2(uint64_t* bytes, int32_t device) {
  ENTER_DEVICE(device);
  *bytes = memory_of(device);
  return kSuccess;
}

#define STANDIN_UUID(name)                                                        \
  int32_t name(uint8_t* out, int32_t device) {                                    \
    ENTER_DEVICE(device);                                                         \
    for (int i = 0; i < 15; i++) out[i] = static_cast<uint8_t>(0xA0 + i);         \
    out[15] = static_cast<uint8_t>(device);                                       \
    return kSuccess;                                                              \
  }

STANDIN_UUID(cuDeviceGetUuid_v2)
STANDIN_UUID(cuDeviceGetUuid)

int32_t cuDeviceGetPCIBusId(char* id, int32_t len, int32_t device) {
  ENTER_DEVICE(device);
  if (len < 13) return kInvalidValue;
  std::snprintf(id, static_cast<size_t>(len), "0000:%02x:00.0", device + 1);
  return kSuccess;
}

int32_t cuDeviceGetAttribute(int32_t* value, int32_t attribute, int32_t device) {
  ENTER_DEVICE(device);
  const struct {
    int32_t attribute, value;
  } table[] = {
      {75, state().cc_major}, {76, state().cc_minor},
      {1, 1024},         // MAX_THREADS_PER_BLOCK
      {2, 1024},         // MAX_BLOCK_DIM_X
      {3, 1024},         // MAX_BLOCK_DIM_Y
      {4, 64},           // MAX_BLOCK_DIM_Z
      {5, 2147483647},   // MAX_GRID_DIM_X
      {6, 65535},        // MAX_GRID_DIM_Y
      {7, 65535},        // MAX_GRID_DIM_Z
      {8, 49152},        // MAX_SHARED_MEMORY_PER_BLOCK
      {9, 65536},        // TOTAL_CONSTANT_MEMORY
      {10, 32},          // WARP_SIZE
      {12, 65536},       // MAX_REGISTERS_PER_BLOCK
      {13, 1980000},     // CLOCK_RATE, kHz
      {16, 132},         // MULTIPROCESSOR_COUNT
      {18, 0},           // INTEGRATED
      {19, 1},           // CAN_MAP_HOST_MEMORY
      {20, 0},           // COMPUTE_MODE
      {31, 1},           // CONCURRENT_KERNELS
      {32, 1},           // ECC_ENABLED
      {36, 2619000},     // MEMORY_CLOCK_RATE, kHz
      {37, 6144},        // GLOBAL_MEMORY_BUS_WIDTH
      {38, 62914560},    // L2_CACHE_SIZE
      {39, 2048},        // MAX_THREADS_PER_MULTIPROCESSOR
      {40, 3},           // ASYNC_ENGINE_COUNT
      {41, 1},           // UNIFIED_ADDRESSING
      {81, 233472},      // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
      {82, 65536},       // MAX_REGISTERS_PER_MULTIPROCESSOR
      {83, 1},           // MANAGED_MEMORY
      {95, 1},           // COOPERATIVE_LAUNCH
      {97, 232448},      // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
      {106, 32},         // MAX_BLOCKS_PER_MULTIPROCESSOR
      {115, 1},          // MEMORY_POOLS_SUPPORTED
  };
  for (const auto& row : table)
    if (row.attribute == attribute) {
      *value = row.value;
      return kSuccess;
    }
  return kInvalidValue;
}
