package nv

import (
	"fmt"
	"os"
	"path/filepath"
)

// part is one library of the toolkit.
type part struct {
	name   string
	lag    int    // by how much the soname's number is behind the family
	fixed  int    // the soname's number where it does not follow the family
	folder string // folder of its wheel of CUDA 12, under nvidia/
}

// parts lists the libraries in the order in which they must be loaded: each after those that it is
// linked with.
var parts = []part{
	{name: "nvJitLink", folder: "nvjitlink"},
	{name: "cublasLt", folder: "cublas"},
	{name: "cublas", folder: "cublas"},
	{name: "cusparse", folder: "cusparse", fixed: 12},
	{name: "cusolver", folder: "cusolver", lag: 1},
	{name: "nvrtc", folder: "cuda_nvrtc"},
}

func (p part) soname(family int) string {
	n := family - p.lag
	if p.fixed != 0 {
		n = p.fixed
	}
	return fmt.Sprintf("lib%s.so.%d", p.name, n)
}

// families lists the major versions of CUDA, the newest first.
var families = []int{13, 12}

// folder is where all libraries of a family are expected: one directory, or the directory nvidia of
// Python wheels, in which the libraries of CUDA 12 have directories of their own.
type folder struct {
	dir    string
	wheels bool
}

func (f folder) path(p part, family int) string {
	switch {
	case !f.wheels:
		return filepath.Join(f.dir, p.soname(family))
	case family == 12:
		return filepath.Join(f.dir, p.folder, "lib", p.soname(family))
	default:
		return filepath.Join(f.dir, fmt.Sprintf("cu%d", family), "lib", p.soname(family))
	}
}

// look returns the sonames of the libraries that are in the folder and of those that are missing.
func (f folder) look(family int) (found, missing []string) {
	for _, p := range parts {
		if st, err := os.Stat(f.path(p, family)); err == nil && st.Mode().IsRegular() {
			found = append(found, p.soname(family))
		} else {
			missing = append(missing, p.soname(family))
		}
	}
	return found, missing
}
