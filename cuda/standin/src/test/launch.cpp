#include <cstring>
#include <string>

#include "core/memory.hpp"
#include "core/state.hpp"
#include "test/test.hpp"

using namespace standin;

namespace {

const char* const kSource =
    "#include \"common.cuh\"\nextern \"C\" __global__ void __launch_bounds__(128) standin_scale(int n, double by, double *x) {\n}\n";

struct Compiled {
  int code;
  std::string log, image;
};

Compiled compile(const char* source, std::vector<const char*> options) {
  uintptr_t program = 0;
  const char *header = "", *name = "common.cuh";
  Compiled out;
  EQUAL(nvrtcCreateProgram(&program, source, "sub/scale.cu", 1, &header, &name), 0);
  out.code = nvrtcCompileProgram(program, static_cast<int32_t>(options.size()), options.data());
  uint64_t n = 0;
  EQUAL(nvrtcGetProgramLogSize(program, &n), 0);
  out.log.resize(n);
  EQUAL(nvrtcGetProgramLog(program, &out.log[0]), 0);
  if (nvrtcGetCUBINSize(program, &n) == 0 && n > 0) {
    out.image.resize(n);
    EQUAL(nvrtcGetCUBIN(program, &out.image[0]), 0);
  }
  EQUAL(nvrtcDestroyProgram(&program), 0);
  EQUAL(program, 0u);
  return out;
}

}  // namespace

TEST(compiler_finds_errors) {
  EQUAL(compile(kSource, {"-arch=sm_90"}).code, 0);
  EQUAL(compile(kSource, {"-arch=sm_91"}).code, 5);
  EQUAL(compile(kSource, {"--nonsense"}).code, 5);
  EQUAL(compile("__global__ void k() {", {"-arch=sm_90"}).code, 6);
  const Compiled bad = compile("// a } in a comment, and \"}\"\nconst char *s = \"}\";\nvoid f() { }\n}\n", {"-arch=sm_90"});
  EQUAL(bad.code, 6);
  EQUAL(bad.log.find("sub/scale.cu(4): error:"), 0u);
  EQUAL(compile("#include <stdint.h>\n", {"-arch=sm_90"}).code, 6);
  EQUAL(compile(kSource, {"-arch=compute_90"}).image.empty(), true);
}

TEST(images_are_checked) {
  test::Device d;
  uintptr_t module = 0, function = 0;
  std::string image = compile(kSource, {"-arch=sm_90"}).image;
  EQUAL(cuModuleLoadData(&module, image.data()), 0);
  EQUAL(cuModuleGetFunction(&function, module, "standin_scale"), 0);
  EQUAL(cuModuleGetFunction(&function, module, "unknown"), kNotFound);
  EQUAL(cuModuleUnload(module), 0);
  EQUAL(cuModuleUnload(module), kInvalidHandle);
  EQUAL(cuModuleLoadData(&module, compile(kSource, {"-arch=sm_80"}).image.data()), kNoBinary);
  image[image.size() - 3] ^= 1;
  EQUAL(cuModuleLoadData(&module, image.data()), kInvalidImage);
  EQUAL(cuModuleLoadData(&module, "\x7f" "ELF and so on"), kInvalidImage);
}

TEST(launches_are_checked) {
  test::Device d;
  uintptr_t module = 0, f = 0;
  EQUAL(cuModuleLoadData(&module, compile(kSource, {"-arch=sm_90"}).image.data()), 0);
  EQUAL(cuModuleGetFunction(&f, module, "standin_scale"), 0);
  std::vector<double> x(200);
  for (double& v : x) v = test::uniform();
  uint64_t p = test::upload(x);
  int32_t n = 199;
  double by = 3;
  void* params[] = {&n, &by, &p};
  EQUAL(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, d.stream, params, nullptr), 0);
  struct {
    int32_t n;
    double by;
    uint64_t x;
  } packed = {199, 2, p};
  size_t size = sizeof packed;
  void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &size, nullptr};
  EQUAL(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, d.stream, nullptr, extra), 0);
  packed.by = 100;  // the arguments have been copied
  const auto launch = [&](uint32_t gx, uint32_t gy, uint32_t bx, uint32_t bz, uint32_t shared) {
    return cuLaunchKernel(f, gx, gy, 1, bx, 1, bz, shared, d.stream, params, nullptr);
  };
  EQUAL(launch(0, 1, 128, 1, 0), kInvalidValue);
  EQUAL(launch(1, 65536, 128, 1, 0), kInvalidValue);
  EQUAL(launch(1, 1, 1025, 1, 0), kInvalidValue);
  EQUAL(launch(1, 1, 1, 65, 0), kInvalidValue);
  EQUAL(launch(1, 1, 256, 1, 0), kOutOfResources);
  EQUAL(launch(1, 1, 128, 1, 49153), kInvalidValue);
  EQUAL(launch(1, 1, 128, 1, 49152), 0);
  EQUAL(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, d.stream, params, extra), kInvalidValue);
  EQUAL(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, d.stream, nullptr, nullptr), kInvalidValue);
  size = 16;
  EQUAL(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, d.stream, nullptr, extra), kInvalidValue);
  const std::vector<double> y = test::download<double>(p, 200);
  for (size_t i = 0; i < 200; i++) EQUAL(y[i], i < 128 ? x[i] * 3 * 2 * 3 : i < 199 ? x[i] * 3 * 2 : x[i]);

  // An address of the host's own memory.
  p = reinterpret_cast<uintptr_t>(x.data());
  EQUAL(cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, d.stream, params, nullptr), 0);
  EQUAL(cuStreamSynchronize(d.stream), kIllegalAddress);
  EQUAL(cuMemFree_v2(packed.x), kIllegalAddress);
  EQUAL(cuModuleUnload(module), kIllegalAddress);
}
