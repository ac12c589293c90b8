package kernels

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// TestEntryPoints compares the entry points that the sources list with those of the CPU build.
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
		must.Hold(t, block != 0 && block <= 1024, "%s has blocks of %d threads", name, block)
		if file != "broken.cu" {
			got[name] = file
		}
	}
	for _, s := range Sources() {
		for _, name := range s.EntryPoints() {
			want[name] = s.Name
		}
	}
	must.Hold(t, maps.Equal(got, want), "the CPU build has %v, the sources list %v", got, want)
}

// TestSources checks what the CPU build cannot see: each file begins with a comment of a fixed form, takes its sizes
// from sizes.cuh, and includes only embedded headers.
func TestSources(t *testing.T) {
	form := regexp.MustCompile(`(?s)^// \w+: .+\n// Shapes   .+\n// Launch   .+\n// Order    .+\n// Traffic  .+$`)
	include := regexp.MustCompile(`(?m)^#include (.*)$`)
	literal := regexp.MustCompile(`__launch_bounds__\(\d+|REGISTER_KERNEL\(\w+, \d+`)
	ours := regexp.MustCompile(`(?i)pitch|\bld\b|\blda\b`)
	for _, s := range slices.Concat(Sources(), Headers()) {
		head, _, _ := strings.Cut(s.Text, "\n#")
		name := strings.TrimSuffix(s.Name, ".cu")
		kernel := name != s.Name
		if !strings.HasPrefix(head, "// "+name+": ") {
			t.Errorf("%s: the first line does not begin with // %s:", s.Name, name)
		}
		if kernel && !(form.MatchString(head) && strings.Contains(head, "grid") && strings.Contains(head, "block")) {
			t.Errorf("%s: the header is not the maths, Shapes, Launch (grid, block), Order, Traffic:\n%s", s.Name, head)
		}
		for _, m := range literal.FindAllString(s.Text, -1) {
			if !strings.HasSuffix(m, "(32") && !strings.HasSuffix(m, ", 32") { // a warp
				t.Errorf("%s: %s: the size belongs in sizes.cuh", s.Name, m)
			}
		}
		must.Equal(t, ours.FindString(s.Text), "", "%s: rows that are no stride apart", s.Name)
		for _, m := range include.FindAllStringSubmatch(s.Text, -1) {
			name := strings.Trim(m[1], `"`)
			if !slices.ContainsFunc(Headers(), func(h Source) bool { return h.Name == name }) {
				t.Errorf("%s includes %s, which is not embedded", s.Name, m[1])
			}
		}
	}
}

// TestRefused makes launches that no device accepts.
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
		must.Fail(t, c.what, d.try(l, 1), c.want)
	}
	d.run(good)
}

func broken(fault, blocks, shared int, x Ptr) Launch {
	return launch("broken", blocks, 1, [2]int{64, 1}, shared, int32(fault), x)
}

// TestFaults runs kernels with faults: the CPU build and the interpreter must name each. PLACE stands for a source
// line, on PTX followed by the instruction.
func TestFaults(t *testing.T) {
	d := newDevice(t)
	x := d.alloc(4 * 64 * 3)
	for _, c := range []struct {
		fault int
		want  string
	}{
		{1, `broken: block \(\d, 0, 0\): thread \d+ waits at __syncthreads in PLACE, thread (4|5|6)\d has ended`},
		{2, `thread \d+ comes to __syncthreads in PLACE, others wait at that in PLACE`},
		{3, `thread \d+ waits at a warp operation in PLACE, thread (7|39) has ended`},
		{4, `thread \d+ comes to the warp operation in PLACE, others of its warp wait at that in PLACE`},
		{5, `thread \d+: the mask of the warp operation in PLACE is 0xffff`},
		{6, `thread \d+ waits at a warp operation in PLACE, thread 3 in PLACE`},
	} {
		for order := range uint64(5) {
			err := d.try(broken(c.fault, 3, 0, x), order)
			want := strings.ReplaceAll(c.want, "PLACE", `broken.cu:\d+( \([^)]+\))?`)
			if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("fault %d, order %d: %v", c.fault, order, err)
			}
			d.run(broken(0, 3, 0, x)) // the device goes on
		}
		for i, v := range download[float32](d, x, 3*64) {
			if v != float32(63-i%64) {
				t.Fatalf("after fault %d element %d is %v", c.fault, i, v)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	if onPTX() {
		t.Skip("TestHazards has these faults")
	}
	for fault, want := range map[int]string{7: "broken.cu", 8: "heap-buffer-overflow", 9: "heap-buffer-overflow"} {
		d := newDevice(t)
		if got := d.dies(broken(fault, 1, 64*4, d.alloc(64*4))); !strings.Contains(got, want) {
			t.Errorf("fault %d: the report has no %q:\n%s", fault, want, got)
		}
	}
}

// TestOrders checks that missing barriers and a dependence on the order of blocks show as different results.
func TestOrders(t *testing.T) {
	if onPTX() {
		t.Skip("TestHazards has these faults")
	}
	d := newDevice(t)
	x := d.alloc(4 * 64 * 3)
	for fault, want := range must.Ordered(map[int]bool{0: false, 10: true, 11: true, 14: true, 15: true}) {
		seen := map[string]bool{}
		for range 40 {
			must.Do(t, d.try(broken(fault, 3, 0, x), d.rng.Uint64()))
			seen[string(raw(download[float32](d, x, 3*64)))] = true
		}
		must.Equal(t, len(seen) > 1, want, "fault %d: several results, %d of them in 40 orders", fault, len(seen))
	}
	for _, fault := range []int{12, 13} {
		d.run(broken(fault, 3, 64*4, x))
		for _, v := range download[float32](d, x, 3*64) {
			if v == v {
				t.Fatalf("fault %d: shared memory that nobody wrote is %v", fault, v)
			}
		}
	}
}
