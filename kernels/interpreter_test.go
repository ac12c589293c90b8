package kernels

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// snippet returns the PTX of a kernel of one warp. Lane %r1 loads the words a, b and c from x + 4 lane and from 128 and
// 256 bytes behind that: into %r2 to %r4 and %f2 to %f4, a and b together into %rd4 and %fd4, b and c together into
// %rd5 and %fd5. It stores %r5 and %r6 384 and 512 bytes behind a.
func snippet(name, body string) string {
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry %s(
	.param .u64 x
)
.maxntid 32, 1, 1
{
	.reg .pred %%p<9>;
	.reg .b16 %%h<9>;
	.reg .b32 %%r<99>;
	.reg .f32 %%f<99>;
	.reg .b64 %%rd<9>;
	.reg .f64 %%fd<9>;
	.shared .align 4 .b8 fixed[256];
	.loc 1 7 0
	ld.param.u64 %%rd1, [x];
	mov.u32 %%r1, %%tid.x;
	mul.wide.u32 %%rd2, %%r1, 4;
	add.s64 %%rd3, %%rd1, %%rd2;
	ld.global.u32 %%r2, [%%rd3];
	ld.global.u32 %%r3, [%%rd3+128];
	ld.global.u32 %%r4, [%%rd3+256];
	mov.b32 %%f2, %%r2;
	mov.b32 %%f3, %%r3;
	mov.b32 %%f4, %%r4;
	mov.b64 %%rd4, {%%r2, %%r3};
	mov.b64 %%rd5, {%%r3, %%r4};
	mov.b64 %%fd4, %%rd4;
	mov.b64 %%fd5, %%rd5;
	mov.u32 %%r5, 0;
	mov.u32 %%r6, 0;
	%s
	st.global.u32 [%%rd3+384], %%r5;
	st.global.u32 [%%rd3+512], %%r6;
	ret;
}
	.file 1 "snippet.cu"
`, name, body)
}

// interpret starts the interpreter with kernels in PTX.
func interpret(t *testing.T, texts ...string) *device {
	t.Helper()
	if onPTX() {
		t.Skip("needs no NVRTC: runs beside TestPTX")
	}
	folder := t.TempDir()
	for i, text := range texts {
		must.Do(t, os.WriteFile(filepath.Join(folder, fmt.Sprint("snippet.cu", i, ".ptx")), []byte(text), 0o644))
	}
	return start(t, interpreter, "AMTRL_PTX="+folder)
}

func oneWarp(kernel string, x Ptr) Launch { return launch(kernel, 1, 1, [2]int{32, 1}, 0, x) }

// TestInterpreterShuffles compares shuffles within groups of width lanes, and ballots, with CUDA's guide.
func TestInterpreterShuffles(t *testing.T) {
	modes := map[string]func(lane, b, width int) int{
		"idx": func(lane, b, width int) int { return lane/width*width + b%width },
		"up": func(lane, b, width int) int {
			if lane%width < b {
				return lane
			}
			return lane - b
		},
		"down": func(lane, b, width int) int {
			if lane%width+b >= width {
				return lane
			}
			return lane + b
		},
		"bfly": func(lane, b, width int) int {
			if (lane^b)/width > lane/width {
				return lane
			}
			return lane ^ b
		},
	}
	var texts []string
	for mode := range modes {
		texts = append(texts, snippet("shuffle_"+mode, "shfl.sync."+mode+".b32 %r5|%p1, %r2, %r3, %r4, -1;"))
	}
	texts = append(texts, snippet("ballot", `setp.ne.s32 %p1, %r3, 0; setp.lt.u32 %p2, %r1, 11;
	@!%p2 vote.sync.ballot.b32 %r5, %p1, 0xfffff800; @%p2 vote.sync.ballot.b32 %r5, %p1, 0x7ff;`))
	d := interpret(t, texts...)
	x := d.alloc(5 * 128)
	for mode, from := range must.Ordered(modes) {
		for _, width := range []int{32, 16, 8, 4, 2} {
			in, b := make([]uint32, 96), d.rng.IntN(32)
			for i := range 32 {
				in[i], in[32+i], in[64+i] = d.rng.Uint32(), uint32(b), uint32(32-width)<<8|31
				if mode == "up" {
					in[64+i] -= 31
				}
			}
			write(d, x, in)
			d.run(oneWarp("shuffle_"+mode, x))
			for lane, got := range download[uint32](d, x.At(96, 4), 32) {
				must.Equal(t, got, in[from(lane, b, width)], "%s of lane %d by %d, width %d", mode, lane, b, width)
			}
		}
	}
	in, votes := make([]uint32, 96), uint32(0)
	for i := range 32 {
		in[32+i] = d.rng.Uint32() & 1
		votes |= in[32+i] << i
	}
	write(d, x, in)
	d.run(oneWarp("ballot", x))
	for lane, got := range download[uint32](d, x.At(96, 4), 32) {
		mask := uint32(0x7ff)
		if lane >= 11 {
			mask = ^mask
		}
		must.Equal(t, got, votes&mask, "ballot in lane %d", lane)
	}
}

// TestInterpreterProducts multiplies matrices of small integers in the layout of the PTX ISA, with noise in the bits
// that TF32 drops.
func TestInterpreterProducts(t *testing.T) {
	var body strings.Builder
	load := func(first, n, at int) {
		fmt.Fprintf(&body, "mul.wide.u32 %%rd6, %%r1, %d;\n add.s64 %%rd6, %%rd1, %%rd6;\n", 4*n)
		for i := range n {
			fmt.Fprintf(&body, "ld.global.u32 %%r%d, [%%rd6+%d];\n", first+i, at+4*i)
		}
	}
	load(10, 4, 0)
	load(20, 2, 512)
	load(30, 4, 768)
	body.WriteString("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r40, %r41, %r42, %r43}, " +
		"{%r10, %r11, %r12, %r13}, {%r20, %r21}, {%r30, %r31, %r32, %r33};\n" +
		"bar.warp.sync -1;\nst.global.v4.u32 [%rd6+1280], {%r40, %r41, %r42, %r43};")
	d := interpret(t, snippet("product", body.String()))
	var a [16][8]float32
	var b [8][8]float32
	var c [16][8]float32
	number := func() float32 { return float32(d.rng.IntN(33) - 16) }
	noisy := func(v float32) uint32 { return math.Float32bits(v) | d.rng.Uint32()&0x1fff }
	in := make([]uint32, 320)
	for i := range 16 {
		for j := range 8 {
			a[i][j], c[i][j] = number(), number()
			in[4*(4*(i%8)+j%4)+i/8+j/4*2] = noisy(a[i][j])
			in[192+4*(4*(i%8)+j/2)+i/8*2+j%2] = math.Float32bits(c[i][j])
		}
	}
	for i := range 8 {
		for j := range 8 {
			b[i][j] = number()
			in[128+2*(4*j+i%4)+i/4] = noisy(b[i][j])
		}
	}
	x := d.alloc(1280 + 512)
	write(d, x, in)
	d.run(oneWarp("product", x))
	out := download[float32](d, x+1280, 128)
	for i := range 16 {
		for j := range 8 {
			sum := c[i][j]
			for k := range 8 {
				sum += a[i][k] * b[k][j]
			}
			must.Equal(t, out[4*(4*(i%8)+j/2)+i/8*2+j%2], sum, "element (%d, %d)", i, j)
		}
	}
}

// TestInterpreterRefuses runs PTX with faults, and reads PTX that is not supported: each is reported.
func TestInterpreterRefuses(t *testing.T) {
	faults := map[string]string{
		"ld.global.u32 %r5, [%rd3+1];":                                                  "accesses 4 bytes at",
		"ld.global.v2.u32 {%r5, %r6}, [%rd3];":                                          "accesses 8 bytes at",
		"st.global.u64 [%rd1+4], %rd4;":                                                 "accesses 8 bytes at",
		"ld.global.u32 %r5, [%rd3+640];":                                                "of a buffer of 640",
		"ld.global.u8 %r5, [%rd1+-1];":                                                  "accesses",
		"mov.u64 %rd6, 64; ld.global.u32 %r5, [%rd6];":                                  "accesses no memory",
		"mov.u32 %r5, fixed; st.shared.v2.u32 [%r5], {%r2, %r3};":                       "accesses 8 bytes at",
		"st.shared.u32 [fixed+-4], %r2;":                                                "beyond a variable",
		"add.s32 %r5, %r50, 1;":                                                         "uses a value that nobody wrote",
		"selp.b32 %r5, %r50, %r2, %p1;":                                                 "uses a value that nobody wrote",
		"@%p1 mov.u32 %r5, 1;":                                                          "depends on a value that nobody wrote",
		"ld.shared.u32 %r5, [fixed];":                                                   "uses a value that nobody wrote",
		"shfl.sync.idx.b32 %r5|%p1, %r50, 0, 31, -1;":                                   "uses a value that nobody wrote",
		"div.u32 %r5, %r2, 0;":                                                          "divides by zero",
		"bar.sync 1;":                                                                   "a barrier other than 0",
		"st.shared.u32 [fixed], %r2;":                                                   "with no barrier between",
		"setp.lt.u32 %p1, %r1, 16; @%p1 bar.warp.sync -1;":                              "waits at a warp operation",
		"setp.eq.u32 %p1, %r1, 5; @!%p1 bar.sync 0;":                                    "waits at __syncthreads",
		"bar.warp.sync 15;":                                                             "the mask of the warp operation",
		"st.global.u32 [%rd3], %r2; ld.global.nc.u32 %r5, [%rd3];":                      "by the read-only path",
		"setp.lt.u32 %p1, %r1, 16; @%p1 bar.warp.sync -1; bar.warp.sync -1;":            "others of its warp wait",
		"setp.lt.u32 %p1, %r1, 7; @%p1 bra A; bar.sync 0; bra B; A: ; bar.sync 0; B: ;": "others wait at that",
	}
	// These are valid: lanes that wait in two places for disjoint masks, words that are passed on in order, and a value
	// that nobody wrote and nobody uses.
	fine := []string{
		`setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r5|%p2, %r2, 0, 31, 0xffff;
	@!%p1 shfl.sync.idx.b32 %r5|%p2, %r2, 16, 31, 0xffff0000;`,
		`cvt.u32.u64 %r7, %rd2; mov.u32 %r8, fixed; add.s32 %r7, %r7, %r8; st.shared.u32 [%r7], %r2;
	bar.warp.sync -1; ld.shared.u32 %r5, [fixed+20];`,
		"selp.b32 %r5, %r50, %r2, 0;",
	}
	var text strings.Builder
	names := map[string]string{}
	for body := range faults {
		names[body] = fmt.Sprint("fault_", len(names))
		text.WriteString(snippet(names[body], body))
	}
	for i, body := range fine {
		text.WriteString(snippet(fmt.Sprint("fine_", i), body))
	}
	d := interpret(t, text.String())
	fresh := func() Ptr {
		x := d.alloc(5 * 128)
		write(d, x, make([]uint32, 160))
		return x
	}
	for body, want := range must.Ordered(faults) {
		must.Fail(t, body, d.try(oneWarp(names[body], fresh()), d.rng.Uint64()), names[body]+": block (0, 0, 0): thread ", "snippet.cu:7 (", want)
	}
	for i := range fine {
		d.run(oneWarp(fmt.Sprint("fine_", i), fresh()))
	}
	x := fresh()
	d.release()
	must.Fail(t, "memory that was freed", d.try(oneWarp("fine_0", x), 1), "accesses")
	for body, want := range map[string]string{
		"frobnicate.u32 %r5, %r2;":       "an instruction that is not supported: frobnicate.u32 %r5, %r2",
		"add.s32 %r5, %r2, %r3, %r4;":    "other operands than expected",
		"setp.lt.s32 %p1|%p2, %r2, %r3;": "other operands than expected",
		".local .align 4 .b8 stack[16];": "not supported",
		"mov.u32 %r5, %clock;":           "an operand that is not supported: %clock",
		"mov.u32 %r5, nobody;":           "an unknown name: nobody",
		"bra NOWHERE;":                   "an unknown label: NOWHERE",
	} {
		got := interpret(t, snippet("strange", body)).dies(oneWarp("strange", 0))
		must.Hold(t, strings.Contains(got, want), "%s: %q, expected %q", body, got, want)
	}
}
