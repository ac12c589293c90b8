package nv

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/owner"
)

// chosen is a folder that holds all libraries of a family.
type chosen struct {
	folder
	family int
	step   int // index of its step in the trace
}

// choose returns the first folder that holds all libraries of a family that may be used, and adds
// to the trace what is in every folder up to it. family is 12 or 13, or 0 for either. driver is
// what cuDriverGetVersion returns, or 0 for any driver.
func (s search) choose(trace *Trace, family, driver int) (chosen, error) {
	newer := false
	for _, place := range s.places() {
		for _, f := range place.folders {
			if st, err := os.Stat(f.dir); err == nil && place.name == beside {
				if err := owner.Check(st); err != nil {
					trace.add(Step{Place: place.name, What: what(family), Dir: f.dir, Found: "passed by: " + err.Error()})
					continue
				}
			}
			seen := false
			for _, fam := range families {
				if family != 0 && family != fam {
					continue
				}
				found, missing := f.look(fam)
				if !slices.ContainsFunc(found, func(soname string) bool { return belongs(soname, fam) }) {
					continue
				}
				seen = true
				step := Step{Place: place.name, What: fmt.Sprintf("CUDA %d", fam), Dir: f.dir}
				switch {
				case len(missing) > 0:
					step.Found = strings.Join(found, ", ") + "; without " + strings.Join(missing, ", ")
				case driver != 0 && driver < 1000*fam:
					newer = true
					step.Found = "all parts, but the driver runs CUDA " + cudaVersion(driver)
				default:
					step.Found, step.Taken = "all parts", true
					trace.add(step)
					return chosen{f, fam, len(trace.Steps) - 1}, nil
				}
				trace.add(step)
			}
			if !seen {
				step := Step{Place: place.name, What: what(family), Dir: f.dir, Found: "nothing"}
				if st, err := os.Stat(f.dir); err != nil || !st.IsDir() {
					step.Found = "no such folder"
				}
				trace.add(step)
			}
		}
		if len(place.folders) == 0 {
			trace.add(Step{Place: place.name, What: what(family), Found: "no folders"})
		}
	}
	e := &Error{Op: "search", Library: what(family), kind: ErrNotFound,
		Text: fmt.Sprintf("no folder has all of %s", strings.Join(sonames(family), ", ")),
		Hint: "install CUDA's runtime libraries, or set AMTRL_CUDA_LIB_DIR to their folder; amtrl doctor lists the folders searched"}
	if s.dir != "" {
		e.Text = fmt.Sprintf("AMTRL_CUDA_LIB_DIR (%s) does not have all of %s", s.dir, strings.Join(sonames(family), ", "))
		e.Hint = "amtrl doctor lists what is missing"
	}
	if newer {
		e.kind = ErrVersion
		e.Hint = "a set was found that needs a newer driver than this one, which runs CUDA " + cudaVersion(driver) +
			": update the driver or install an older set"
	}
	return chosen{}, e
}

// belongs reports whether a soname identifies the family. Those of cuSPARSE, which both families
// share, and of CUDA 13's cuSOLVER, libcusolver.so.12, do not.
func belongs(soname string, family int) bool {
	return strings.HasSuffix(soname, fmt.Sprintf(".so.%d", family)) && !strings.HasPrefix(soname, "libcusparse") ||
		soname == "libcusolver.so.11"
}

func what(family int) string {
	if family == 0 {
		return "CUDA 12 or 13"
	}
	return fmt.Sprintf("CUDA %d", family)
}

func sonames(family int) []string {
	var list []string
	for _, p := range parts {
		if family != 0 {
			list = append(list, p.soname(family))
		} else {
			list = append(list, "lib"+p.name)
		}
	}
	return list
}

func cudaVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
