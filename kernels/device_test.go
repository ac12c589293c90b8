package kernels

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// device is a process behind a pipe that runs kernels: their sanitised CPU build, or the interpreter of PTX. Memory
// holds NaN bits when it is allocated, and its bounds are checked to the byte.
type device struct {
	t      testing.TB
	rng    *rand.Rand
	in     *bufio.Writer
	out    *bufio.Reader
	stderr *bytes.Buffer
	cmd    *exec.Cmd
	live   []Ptr
	dead   bool // ended as the test expected
}

// scratch is the folder of built programs, empty before a test needs one.
var scratch string

func TestMain(m *testing.M) {
	code := m.Run()
	if scratch != "" {
		os.RemoveAll(scratch)
	}
	os.Exit(code)
}

var errNoCompiler = errors.New("no g++ in PATH")

// program builds the device of all tests, which run one after the other: the kernels, behind host/prelude.h, and their
// launcher, with AddressSanitizer and UndefinedBehaviorSanitizer. In a child process of TestPTX it returns the device
// that TestPTX names.
var program = sync.OnceValues(func() (path string, err error) {
	if onPTX() {
		return os.Getenv(deviceEnv), nil
	}
	sources := []string{"host/pipe/serve.cpp", "testdata/broken.cu"}
	for _, pattern := range []string{"*.cu", "host/*.cpp"} {
		sources = append(sources, glob(pattern)...)
	}
	sanitize := []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fsanitize-sections=amtrl_shared_*"}
	return build("device", sources, append([]string{"-O1", "-g1", "-fno-omit-frame-pointer"}, sanitize...), sanitize)
})

func glob(pattern string) []string {
	files, err := filepath.Glob(pattern)
	if err != nil {
		panic(err) // the patterns are constants
	}
	return files
}

// build compiles sources and links them to a program in scratch, whose path it returns.
func build(name string, sources, flags, link []string) (path string, err error) {
	if _, err := exec.LookPath("g++"); err != nil {
		return "", errNoCompiler
	}
	if scratch == "" {
		if scratch, err = os.MkdirTemp("", "amtrl-kernels"); err != nil {
			return "", err
		}
	}
	flags = append([]string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-I.", "-Ihost", "-c"}, flags...)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	var objects []string
	for i, source := range sources {
		object := filepath.Join(scratch, fmt.Sprint(name, i, ".o"))
		objects = append(objects, object)
		args := append(slices.Clone(flags), "-o", object)
		if filepath.Ext(source) == ".cu" {
			args = append(args, "-DAMTRL_UNIT="+strings.TrimSuffix(filepath.Base(source), ".cu"), "-include", "host/prelude.h", "-x", "c++")
		}
		group.Go(func() error { return compile(append(args, source)) })
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	path = filepath.Join(scratch, name)
	return path, compile(slices.Concat(link, []string{"-o", path}, objects, []string{"-lpthread", "-ldl"}))
}

func compile(args []string) error {
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("g++ %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// newDevice starts the device of all tests, with a random source of its own.
func newDevice(t testing.TB) *device {
	t.Helper()
	return start(t, program)
}

// start starts a device that build has made, with env added to its environment.
func start(t testing.TB, program func() (string, error), env ...string) *device {
	t.Helper()
	path, err := program()
	if errors.Is(err, errNoCompiler) {
		t.Skip(err)
	}
	must.Do(t, err)
	d := &device{t: t, rng: testrand.New(t), stderr: new(bytes.Buffer)}
	d.cmd = exec.Command(path)
	d.cmd.Env = append(os.Environ(), env...)
	d.cmd.Stderr = d.stderr
	stdin := must.Get(d.cmd.StdinPipe())(t)
	stdout, err := d.cmd.StdoutPipe()
	must.Do(t, err)
	d.in, d.out = bufio.NewWriterSize(stdin, 1<<16), bufio.NewReaderSize(stdout, 1<<16)
	must.Do(t, d.cmd.Start())
	t.Cleanup(func() {
		d.release()
		d.in.Flush()
		stdin.Close()
		if err := d.cmd.Wait(); err != nil && !t.Failed() && !d.dead {
			t.Errorf("the device ended with %v\n%s", err, d.stderr)
		}
	})
	return d
}

// put sends values in order; the length of a string precedes it.
func (d *device) put(values ...any) {
	for _, v := range values {
		var err error
		if s, ok := v.(string); ok {
			d.put(uint32(len(s)))
			_, err = d.in.WriteString(s)
		} else {
			err = binary.Write(d.in, binary.LittleEndian, v)
		}
		if err != nil {
			d.die(err)
		}
	}
}

func (d *device) get(v any) {
	if err := d.in.Flush(); err != nil {
		d.die(err)
	}
	if err := binary.Read(d.out, binary.LittleEndian, v); err != nil {
		d.die(err)
	}
}

func (d *device) getString() string {
	var n uint32
	d.get(&n)
	b := make([]byte, n)
	if _, err := io.ReadFull(d.out, b); err != nil {
		d.die(err)
	}
	return string(b)
}

func (d *device) die(err error) {
	d.t.Helper()
	d.live = nil
	time.Sleep(50 * time.Millisecond) // let the report arrive
	d.t.Fatalf("the device ended: %v\n%s\n%s", err, d.stderr.String(), debug.Stack())
}

// alloc allocates n bytes, which all hold NaN bits.
func (d *device) alloc(n int) Ptr {
	d.put(byte('A'), uint64(n))
	var p uint64
	d.get(&p)
	d.live = append(d.live, Ptr(p))
	return Ptr(p)
}

// release frees all memory that was allocated.
func (d *device) release() {
	for _, p := range d.live {
		d.put(byte('F'), uint64(p))
	}
	d.live = nil
}

// upload copies s to memory of its own, skip bytes after its beginning, so that the address is as misaligned as the
// test wants.
func upload[E any](d *device, s []E, skip int) Ptr {
	b := raw(s)
	p := d.alloc(skip + len(b))
	write(d, p+Ptr(skip), s)
	return p + Ptr(skip)
}

func write[E any](d *device, p Ptr, s []E) {
	b := raw(s)
	d.put(byte('W'), uint64(p), uint64(len(b)))
	if _, err := d.in.Write(b); err != nil {
		d.die(err)
	}
}

func download[E any](d *device, p Ptr, n int) []E {
	s := make([]E, n)
	d.put(byte('R'), uint64(p), uint64(len(raw(s))))
	if err := d.in.Flush(); err != nil {
		d.die(err)
	}
	if _, err := io.ReadFull(d.out, raw(s)); err != nil {
		d.die(err)
	}
	return s
}

func raw[E any](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// try launches l; order is the seed of the order of blocks, warps and lanes.
func (d *device) try(l Launch, order uint64) error {
	d.put(byte('L'), l.Kernel, order, l.Grid, l.Block, uint64(l.Shared), string(l.Args))
	var code uint32
	d.get(&code)
	message := d.getString()
	if code != 0 {
		return fmt.Errorf("code %d: %s", code, message)
	}
	return nil
}

// dies launches l, which must end the device, and returns its report.
func (d *device) dies(l Launch) string {
	d.t.Helper()
	d.put(byte('L'), l.Kernel, uint64(1), l.Grid, l.Block, uint64(l.Shared), string(l.Args))
	d.in.Flush()
	var code uint32
	if err := binary.Read(d.out, binary.LittleEndian, &code); err == nil {
		d.t.Fatalf("the device lives, with code %d: %s", code, d.getString())
	}
	d.live, d.dead = nil, true
	d.cmd.Wait() // after this all of stderr has arrived
	return d.stderr.String()
}

// run runs all launches that are not empty, each with its blocks in a random order.
func (d *device) run(launches ...Launch) {
	d.t.Helper()
	for _, l := range launches {
		if l.Empty() {
			continue
		}
		must.Do(d.t, d.try(l, d.rng.Uint64()))
	}
}

// same runs the launches again and checks that n elements at p have the same bytes, whatever the order of blocks and
// threads.
func same[E any](d *device, p Ptr, n int, launches ...Launch) {
	d.t.Helper()
	before := download[E](d, p, n)
	poison := make([]E, n)
	for i := range raw(poison) {
		raw(poison)[i] = 0xff
	}
	write(d, p, poison)
	d.run(launches...)
	if !slices.Equal(raw(before), raw(download[E](d, p, n))) {
		d.t.Errorf("%s: another order of blocks and threads gave other bytes", launches[0].Kernel)
	}
}

func normals[E float32 | float64](d *device, n int) []E {
	s := make([]E, n)
	for i := range s {
		s[i] = E(d.rng.NormFloat64())
	}
	return s
}

// pick returns one of the values.
func pick[E any](d *device, values ...E) E { return values[d.rng.IntN(len(values))] }
