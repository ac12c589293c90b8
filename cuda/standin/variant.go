package standin

import (
	"fmt"
	"slices"
	"strings"
)

// Variant describes a set of libraries. The zero value is a complete set of CUDA 13.
type Variant struct {
	// Family is 12 or 13; 0 is 13.
	Family int
	// Stub makes libcuda the stub that toolkits have for linking: every call returns
	// CUDA_ERROR_STUB_LIBRARY.
	Stub bool
	// Without lists functions that are missing from their libraries.
	Without []string
	// Absent lists libraries that are missing, as "cublas" or "libcublas.so.13".
	Absent []string
	// Claims holds the families that libraries report, by names such as "cublas": a set mixed from
	// two families.
	Claims map[string]int
}

// library is one file of a set.
type library struct {
	name    string // as in lib<name>.so
	kind    string // value of standin::LibraryKind
	sources string // folder below src
	soname  map[int]string
	needs   []string // libraries that must be loaded before it
}

// libraries lists the files of a set in the order in which they are linked.
var libraries = []library{
	{"cuda", "kDriver", "driver", soname("libcuda.so.", 1, 1), nil},
	{"nvJitLink", "kJitLink", "", soname("libnvJitLink.so.", 12, 13), nil},
	{"cublasLt", "kBlasLt", "", soname("libcublasLt.so.", 12, 13), nil},
	{"cublas", "kBlas", "blas", soname("libcublas.so.", 12, 13), []string{"cublasLt"}},
	{"cusparse", "kSparse", "", soname("libcusparse.so.", 12, 12), []string{"nvJitLink"}},
	{"cusolver", "kSolver", "solver", soname("libcusolver.so.", 11, 12), []string{"nvJitLink", "cusparse", "cublasLt", "cublas"}},
	{"nvrtc", "kNvrtc", "nvrtc", soname("libnvrtc.so.", 12, 13), nil},
}

func soname(prefix string, v12, v13 int) map[int]string {
	return map[int]string{12: fmt.Sprint(prefix, v12), 13: fmt.Sprint(prefix, v13)}
}

func (v Variant) family() int {
	if v.Family == 0 {
		return 13
	}
	return v.Family
}

func (v Variant) check() error {
	if f := v.family(); f != 12 && f != 13 {
		return fmt.Errorf("standin: family %d, expected 12 or 13", f)
	}
	known := func(name string) bool {
		return slices.ContainsFunc(libraries, func(l library) bool { return l.is(name, v.family()) })
	}
	for _, name := range v.Absent {
		if !known(name) {
			return fmt.Errorf("standin: no library %q to leave out", name)
		}
	}
	for name, f := range v.Claims {
		if !known(name) || f < 1 {
			return fmt.Errorf("standin: library %q cannot claim family %d", name, f)
		}
	}
	return nil
}

func (l library) is(name string, family int) bool {
	return name == l.name || name == l.soname[family]
}

// key returns a string that is different for each variant.
func (v Variant) key() string {
	var b strings.Builder
	fmt.Fprint(&b, v.family(), v.Stub)
	for _, l := range libraries {
		fmt.Fprint(&b, " ", l.name, v.claim(l), v.absent(l))
	}
	fmt.Fprint(&b, " ", slices.Sorted(slices.Values(v.Without)))
	return b.String()
}

func (v Variant) absent(l library) bool {
	return slices.ContainsFunc(v.Absent, func(name string) bool { return l.is(name, v.family()) })
}

func (v Variant) claim(l library) int {
	for name, f := range v.Claims {
		if l.is(name, v.family()) {
			return f
		}
	}
	return v.family()
}
