//go:build linux && cgo && (amd64 || arm64)

package cubin

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// function is the machine code of an entry point: its instructions with their operands, and the index of the
// instruction at each label.
type function struct {
	code   []string
	labels map[string]int
}

var (
	sectionLine = regexp.MustCompile(`^\s*\.section\s+\.text\.([^,\s]+),`)
	labelLine   = regexp.MustCompile(`^(\.L_x_\d+):`)
	codeLine    = regexp.MustCompile(`^\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;`)
	guard       = regexp.MustCompile(`^@!?U?P\w+\s+`)
	label       = regexp.MustCompile("`\\((\\.L_x_\\d+)\\)")
	jump        = regexp.MustCompile("^BRA(\\.U)?\\s+`")
)

// disassemble returns the functions of a cubin, as NVIDIA's nvdisasm prints them.
func disassemble(t *testing.T, program string, image []byte) map[string]*function {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cubin")
	must.Do(t, os.WriteFile(file, image, 0o644))
	out := must.Get(exec.Command(program, "-c", file).Output())(t)
	all := map[string]*function{}
	var f *function
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			f = &function{labels: map[string]int{}}
			all[m[1]] = f
		} else if m := labelLine.FindStringSubmatch(line); m != nil && f != nil {
			f.labels[m[1]] = len(f.code)
		} else if m := codeLine.FindStringSubmatch(line); m != nil && f != nil {
			f.code = append(f.code, m[1])
		}
	}
	return all
}

// next returns the indices of the instructions that can follow instruction i.
func (f *function) next(i int) []int {
	text := f.code[i]
	op := guard.ReplaceAllString(text, "")
	guarded := op != text
	switch {
	case strings.HasPrefix(op, "EXIT"), strings.HasPrefix(op, "RET"):
		if guarded {
			return []int{i + 1}
		}
		return nil
	case strings.HasPrefix(op, "BRA"):
		to := f.labels[label.FindStringSubmatch(op)[1]]
		if !guarded && jump.MatchString(op) {
			return []int{to}
		}
		return []int{i + 1, to}
	}
	return []int{i + 1}
}

// loop returns one turn of the smallest loop with at least least instructions that match of and with a load of kind
// wide. Of the paths forward through its code it takes the shortest of those with the most matching instructions and
// wide loads: the path of whole rows and whole tiles.
func (f *function) loop(of *regexp.Regexp, least int, wide string) ([]string, error) {
	first, last := 0, len(f.code)
	for i := range f.code {
		for _, to := range f.next(i) {
			if to > i || i-to >= last-first {
				continue
			}
			n, loads := 0, 0
			for _, text := range f.code[to : i+1] {
				if of.MatchString(text) {
					n++
				}
				if strings.Contains(text, wide) {
					loads++
				}
			}
			if n >= least && loads > 0 {
				first, last = to, i
			}
		}
	}
	if last == len(f.code) {
		return nil, fmt.Errorf("no loop of %d instructions %s and loads %s", least, of, wide)
	}
	const much = 1 << 20
	worth := func(i int) int {
		if of.MatchString(f.code[i]) || strings.Contains(f.code[i], wide) {
			return much - 1
		}
		return -1
	}
	best, from := map[int]int{first: worth(first)}, map[int]int{}
	for i := first; i <= last; i++ {
		here, ok := best[i]
		if !ok {
			continue
		}
		for _, to := range f.next(i) {
			if was, ok := best[to]; to > i && to <= last && (!ok || here+worth(to) > was) {
				best[to], from[to] = here+worth(to), i
			}
		}
	}
	var turn []string
	for i := last; ; i = from[i] {
		turn = append(turn, f.code[i])
		if i == first {
			break
		}
		if _, ok := from[i]; !ok {
			return nil, fmt.Errorf("the end of the loop at instruction %d is not reached from its start", first)
		}
	}
	slices.Reverse(turn)
	return turn, nil
}
