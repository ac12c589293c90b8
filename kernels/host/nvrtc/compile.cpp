// compile LIBRARY OUT SOURCE HEADERS -- OPTIONS: compiles a source to PTX by NVRTC and hands over the headers by name, as
// package cuda does.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

void *library;

template <class F> F *find(const char *name) {
  void *p = dlsym(library, name);
  if (p == nullptr) fprintf(stderr, "%s\n", dlerror()), exit(1);
  return reinterpret_cast<F *>(p);
}

void check(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", what, find<const char *(int)>("nvrtcGetErrorString")(code));
  exit(1);
}

std::string read(const char *path) {
  std::ifstream in(path);
  if (!in) fprintf(stderr, "%s: cannot be read\n", path), exit(1);
  return {std::istreambuf_iterator<char>(in), {}};
}

// text returns the log or the PTX of a program, by the names of the functions for its size, which includes a final zero,
// and for its content.
std::string text(void *program, const char *size, const char *get) {
  size_t n = 0;
  check(find<int(void *, size_t *)>(size)(program, &n), size);
  std::string s(n, 0);
  check(find<int(void *, char *)>(get)(program, &s[0]), get);
  return s.c_str();
}

const char *base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

} // namespace

int main(int count, char **args) {
  if (count < 4) return fprintf(stderr, "compile LIBRARY OUT SOURCE HEADERS -- OPTIONS\n"), 1;
  library = dlopen(args[1], RTLD_NOW);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 1;
  std::string source = read(args[3]);
  std::vector<std::string> texts;
  std::vector<const char *> names, headers;
  char **option = args + 4;
  for (; *option != nullptr && strcmp(*option, "--") != 0; option++) {
    names.push_back(base(*option));
    texts.push_back(read(*option));
  }
  for (const std::string &t : texts) headers.push_back(t.c_str());
  if (*option != nullptr) option++;
  void *program = nullptr;
  check(find<int(void **, const char *, const char *, int, const char *const *, const char *const *)>("nvrtcCreateProgram")(
            &program, source.c_str(), base(args[3]), int(names.size()), headers.data(), names.data()),
        "nvrtcCreateProgram");
  int code = find<int(void *, int, const char *const *)>("nvrtcCompileProgram")(program, int(args + count - option), option);
  fputs(text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog").c_str(), stderr);
  check(code, args[3]);
  std::ofstream out(args[2]);
  out << text(program, "nvrtcGetPTXSize", "nvrtcGetPTX");
  out.close();
  return out ? 0 : 1;
}
