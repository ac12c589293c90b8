package kernels

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEntryPoints holds the list of entry points that the sources define against
// what the CPU build found.
func TestEntryPoints(t *testing.T) {
	d := newDevice(t)
	d.put(byte('K'))
	var n, block, params uint32
	var packed uint64
	d.get(&n)
	got, want := map[string]string{}, map[string]string{}
	for range n {
		name, file := d.getString(), d.getString()
		d.get(&block)
		d.get(&packed)
		d.get(&params)
		d.get(make([]uint64, 2*params))
		if block == 0 || block > 1024 {
			t.Errorf("%s has blocks of %d threads", name, block)
		}
		got[name] = file
	}
	for _, s := range Sources() {
		for _, name := range s.EntryPoints() {
			want[name] = s.Name
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the CPU build has %v, the sources list %v", got, want)
	}
}

// TestSources checks what the CPU build cannot see: each source begins with its
// maths, shapes, launch, order and traffic, and includes embedded headers alone.
func TestSources(t *testing.T) {
	include := regexp.MustCompile(`(?m)^#include (.*)$`)
	for _, s := range Sources() {
		head, _, _ := strings.Cut(s.Text, "#include")
		for _, word := range []string{"shapes", "launch", "grid", "block", "traffic"} {
			if !strings.Contains(strings.ToLower(head), word) {
				t.Errorf("%s: the header does not speak of %q", s.Name, word)
			}
		}
		for _, m := range include.FindAllStringSubmatch(s.Text, -1) {
			name := strings.Trim(m[1], `"`)
			if !slices.ContainsFunc(Headers(), func(h Source) bool { return h.Name == name }) {
				t.Errorf("%s includes %s, which is not embedded", s.Name, m[1])
			}
		}
	}
}

// TestRefused launches what no device takes.
func TestRefused(t *testing.T) {
	d := newDevice(t)
	x := upload(d, make([]float32, 4), 0)
	good := Scale(Float32, 4, 2, x)
	for _, c := range []struct {
		what string
		edit func(*Launch)
		want string
	}{
		{"an unknown name", func(l *Launch) { l.Kernel = "sqale_f32" }, "no such kernel"},
		{"no blocks", func(l *Launch) { l.Grid[0] = 0 }, "a grid of (0, 1, 1)"},
		{"too high a grid", func(l *Launch) { l.Grid[1] = 65536 }, "a grid of (1, 65536, 1)"},
		{"too large a block", func(l *Launch) { l.Block[0] = 257 }, "a block of (257, 1, 1)"},
		{"too much shared memory", func(l *Launch) { l.Shared = 1 << 20 }, "shared memory"},
		{"an argument too few", func(l *Launch) { l.Args = l.Args[:16] }, "16 bytes of arguments, expected 24"},
	} {
		l := good
		c.edit(&l)
		if err := d.try(l, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.what, err, c.want)
		}
	}
	d.run(good)
}
