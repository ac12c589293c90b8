//go:build linux && cgo

package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// core links the library that all libraries of all variants share: memory, streams, counters,
// kernels. Its SONAME is its path, so that a library finds it from any folder, and the process has
// only one.
func (b *builder) core() (string, error) {
	deps, err := b.headers(source, bindings)
	if err != nil {
		return "", err
	}
	units, err := b.folder("core", deps)
	if err != nil {
		return "", err
	}
	kernels, err := b.kernels()
	if err != nil {
		return "", err
	}
	objects, err := b.objects(append(units, kernels...))
	if err != nil {
		return "", err
	}
	out := filepath.Join(b.cache, "core-"+hash(objects...)+".so")
	return out, b.link(out, out, objects)
}

// set links the libraries of a variant into a folder of its own.
func (b *builder) set(v Variant, core string) (string, error) {
	deps, err := b.headers(source, bindings, harness)
	if err != nil {
		return "", err
	}
	objects := map[string][]string{}
	key := []string{core, v.key()}
	for _, l := range libraries {
		units := []unit{b.info(v, l, deps)}
		if l.sources == "" {
			units = append(units, unit{filepath.Join(source, "empty.cpp"), includes, deps})
		} else {
			more, err := b.folder(l.sources, deps, "-fvisibility=hidden")
			if err != nil {
				return "", err
			}
			units = append(units, more...)
		}
		if objects[l.name], err = b.objects(units); err != nil {
			return "", err
		}
		key = append(key, objects[l.name]...)
	}
	dir := filepath.Join(b.cache, fmt.Sprintf("set%d-%s", v.family(), hash(key...)))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp := fmt.Sprintf("%s.%d", dir, os.Getpid())
	defer os.RemoveAll(tmp)
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return "", fmt.Errorf("standin: %w", err)
	}
	hidden, err := hide(tmp, v.Without)
	if err != nil {
		return "", err
	}
	for _, l := range libraries {
		args := append(objects[l.name], core, "-Wl,--no-as-needed")
		for _, n := range libraries {
			if slices.Contains(l.needs, n.name) {
				args = append(args, filepath.Join(tmp, n.soname[v.family()]))
			}
		}
		so := l.soname[v.family()]
		if err := b.link(filepath.Join(tmp, so), so, append(args, hidden)); err != nil {
			return "", err
		}
	}
	for _, l := range libraries {
		if v.absent(l) {
			if err := os.Remove(filepath.Join(tmp, l.soname[v.family()])); err != nil {
				return "", fmt.Errorf("standin: %w", err)
			}
		}
	}
	if err := os.Remove(filepath.Join(tmp, hiddenMap)); err != nil {
		return "", fmt.Errorf("standin: %w", err)
	}
	return dir, os.Rename(tmp, dir)
}

const hiddenMap = "hidden.map"

// info returns the unit that tells a library which one it is.
func (b *builder) info(v Variant, l library, deps string) unit {
	stub := map[bool]int{true: 1}[v.Stub && l.name == "cuda"]
	return unit{filepath.Join(source, "info.cpp"), append(slices.Clone(includes), "-DSTANDIN_KIND="+l.kind,
		fmt.Sprintf("-DSTANDIN_FAMILY=%d", v.claim(l)), fmt.Sprintf("-DSTANDIN_STUB=%d", stub)), deps}
}

// hide writes a version script to dir that hides functions of the libraries, and returns the
// linker's option for it.
func hide(dir string, names []string) (string, error) {
	path := filepath.Join(dir, hiddenMap)
	text := "{ global: *; };\n"
	if len(names) > 0 {
		text = "{ global: *; local: " + strings.Join(names, "; ") + "; };\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("standin: %w", err)
	}
	return "-Wl,--version-script=" + path, nil
}

func (b *builder) link(out, soname string, args []string) error {
	if _, err := os.Stat(out); err == nil {
		return nil
	}
	tmp := fmt.Sprintf("%s.%d", out, os.Getpid())
	defer os.Remove(tmp)
	all := append([]string{"-shared", "-o", tmp, "-Wl,-soname," + soname, "-Wl,-z,defs"}, args...)
	if _, err := command(b.root, "g++", all...); err != nil {
		return err
	}
	return os.Rename(tmp, out)
}
