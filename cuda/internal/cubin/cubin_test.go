package cubin

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/internal/must"
)

// seam stands in for NVRTC: the code that it returns spells out the sources and options.
type seam struct {
	major, minor int
	compiled     atomic.Int64
	made, gone   atomic.Int64
	fails        string // the method that fails

	mu       sync.Mutex
	programs map[nv.Program]string
}

func (s *seam) fail(method string) error {
	if s.fails == method {
		return errors.New(method + " fails")
	}
	return nil
}

func (s *seam) Version() (int, int, error) { return s.major, s.minor, s.fail("Version") }

func (s *seam) CreateProgram(source, name string, headers []nv.Header) (nv.Program, error) {
	if err := s.fail("CreateProgram"); err != nil {
		return 0, err
	}
	p := nv.Program(s.made.Add(1))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.programs == nil {
		s.programs = map[nv.Program]string{}
	}
	s.programs[p] = fmt.Sprintf("%s|%s|%v", source, name, headers)
	return p, nil
}

func (s *seam) CompileProgram(p nv.Program, options []string) error {
	s.compiled.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs[p] += fmt.Sprintf("|%q", options)
	return s.fail("CompileProgram")
}

func (s *seam) GetProgramLog(nv.Program) (string, error) {
	return "line 7 is wrong\n", s.fail("GetProgramLog")
}

func (s *seam) code(p nv.Program) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Appendf(nil, "%s|%d.%d", s.programs[p], s.major, s.minor)
}

func (s *seam) GetCUBIN(p nv.Program) ([]byte, error) {
	if s.fails == "no code" {
		return nil, nil
	}
	return s.code(p), s.fail("GetCUBIN")
}

func (s *seam) GetPTX(p nv.Program) ([]byte, error) {
	return append([]byte("PTX "), s.code(p)...), s.fail("GetPTX")
}

func (s *seam) DestroyProgram(nv.Program) error {
	s.gone.Add(1)
	return s.fail("DestroyProgram")
}

func source() Source {
	return Source{Name: "k.cu", Text: "code", Headers: []nv.Header{{Name: "a", Source: "x"}, {Name: "b", Source: "y"}},
		Options: []string{"-O", "-x"}, Target: Target{Arch: 90}}
}

// folder returns the path of a folder that the cache can make, so that nobody else may write to it.
func folder(t *testing.T) string { return filepath.Join(t.TempDir(), "cubin") }

func files(t *testing.T, dir string) []string {
	t.Helper()
	return must.Get(filepath.Glob(filepath.Join(dir, "*")))(t)
}

// A source that differs in anything on which its code depends has an entry of its own, and never gets another's code.
func TestKey(t *testing.T) {
	c, dir := &seam{major: 12, minor: 9}, folder(t)
	cache := NewCache(dir)
	changes := map[string]func(*Source){
		"none":              func(*Source) {},
		"text":              func(s *Source) { s.Text += " " },
		"name":              func(s *Source) { s.Name = "l.cu" },
		"arch":              func(s *Source) { s.Target.Arch = 100 },
		"PTX":               func(s *Source) { s.Target.PTX = true },
		"option":            func(s *Source) { s.Options = []string{"-O", "-y"} },
		"options' order":    func(s *Source) { s.Options = []string{"-x", "-O"} },
		"options joined":    func(s *Source) { s.Options = []string{"-O-x"} },
		"no options":        func(s *Source) { s.Options = nil },
		"header's name":     func(s *Source) { s.Headers = []nv.Header{{Name: "c", Source: "x"}, {Name: "b", Source: "y"}} },
		"header's text":     func(s *Source) { s.Headers = []nv.Header{{Name: "a", Source: "z"}, {Name: "b", Source: "y"}} },
		"headers' boundary": func(s *Source) { s.Headers = []nv.Header{{Name: "ax", Source: ""}, {Name: "b", Source: "y"}} },
		"fewer headers":     func(s *Source) { s.Headers = s.Headers[:1] },
		"text and name":     func(s *Source) { s.Text, s.Name = "codek", ".cu" },
	}
	for range 2 {
		for name, change := range changes {
			src := source()
			change(&src)
			want := must.Get(Compile(c, src))(t)
			if got, err := cache.Compile(c, src); err != nil || !bytes.Equal(got.Image, want.Image) {
				t.Errorf("%s: %q, %v; want %q", name, got.Image, err, want.Image)
			}
		}
	}
	must.Equal(t, len(files(t, dir)), len(changes), "files for sources")
	c.minor = 8
	if code, err := cache.Compile(c, source()); err != nil || code.Cached || !bytes.HasSuffix(code.Image, []byte("12.8")) {
		t.Errorf("another version of the compiler: %+v, %v", code, err)
	}
}

func TestSecondTimeIsCached(t *testing.T) {
	c, dir := &seam{}, filepath.Join(t.TempDir(), "not", "yet")
	first, err := NewCache(dir).Compile(c, source())
	if err != nil || first.Cached || first.Log == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := NewCache(dir).Compile(c, source())
	if err != nil || !second.Cached || second.Log != "" || !bytes.Equal(second.Image, first.Image) || c.compiled.Load() != 1 {
		t.Errorf("%+v, %v after %d compilations", second, err, c.compiled.Load())
	}
	if list := files(t, dir); len(list) != 1 || !strings.HasSuffix(list[0], ".cubin") {
		t.Errorf("the folder holds %q", list)
	}
}

// An entry that is cut short, changed or no file is compiled again.
func TestBrokenEntries(t *testing.T) {
	c, dir := &seam{}, folder(t)
	want := must.Get(NewCache(dir).Compile(c, source()))(t)
	path := files(t, dir)[0]
	whole := must.Get(os.ReadFile(path))(t)
	check := func(what string, content []byte) {
		t.Helper()
		must.Do(t, os.WriteFile(path, content, 0o644))
		got, err := NewCache(dir).Compile(c, source())
		if err != nil || got.Cached || !bytes.Equal(got.Image, want.Image) {
			t.Fatalf("%s: %+v, %v", what, got, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
			t.Fatalf("%s: the file was not made again (%v)", what, err)
		}
	}
	for n := 0; n < len(whole); n += 1 + n/16 {
		check(fmt.Sprint("cut at ", n), whole[:n])
	}
	for i := 0; i < len(whole); i += 1 + i/16 {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		check(fmt.Sprint("changed at ", i), bad)
	}
	junk := make([]byte, len(whole))
	rand.Read(junk)
	check("junk", junk)
	check("longer", append(slices.Clone(whole), 0))

	must.Do(t, os.Remove(path))
	must.Do(t, os.Mkdir(path, 0o755))
	if got, err := NewCache(dir).Compile(c, source()); err != nil || got.Cached || !bytes.Equal(got.Image, want.Image) {
		t.Errorf("a folder in place of the file: %+v, %v", got, err)
	}
}

// A folder that cannot be made, a file in its place, or no folder costs each cache one compilation of a source, and
// nothing else.
func TestUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	c := &seam{}
	want := must.Get(Compile(c, source()))(t)
	for _, dir := range []string{"", file, filepath.Join(file, "below"), "/proc/nothing"} {
		cache, before := NewCache(dir), c.compiled.Load()
		for i := range 3 {
			if code, err := cache.Compile(c, source()); err != nil || code.Cached != (i > 0) || !bytes.Equal(code.Image, want.Image) {
				t.Errorf("%q: %+v, %v", dir, code, err)
			}
		}
		must.Equal(t, c.compiled.Load()-before, 1, "%q: times compiled", dir)
	}
}

// An error holds what the compiler said, nothing is cached and no program is left.
func TestFailures(t *testing.T) {
	for _, method := range []string{"Version", "CreateProgram", "CompileProgram", "GetProgramLog", "GetCUBIN", "no code", "DestroyProgram"} {
		c, dir := &seam{fails: method}, folder(t)
		code, err := NewCache(dir).Compile(c, source())
		if err == nil || len(code.Image) != 0 {
			t.Errorf("%s: %+v, %v", method, code, err)
			continue
		}
		var e *Error
		if method == "CompileProgram" && (!errors.As(err, &e) || e.Name != "k.cu" || e.Log != "line 7 is wrong\n" ||
			err.Error() != "compiling k.cu for sm_90: CompileProgram fails\nline 7 is wrong") {
			t.Errorf("%s: %v", method, err)
		}
		if len(files(t, dir)) != 0 || c.made.Load() != c.gone.Load() {
			t.Errorf("%s: files %q, %d programs made, %d destroyed", method, files(t, dir), c.made.Load(), c.gone.Load())
		}
	}
}

// Goroutines that share a cache compile a source once; caches that share a folder all get complete code.
func TestConcurrent(t *testing.T) {
	c, dir := &seam{}, folder(t)
	want := must.Get(Compile(c, source()))(t)
	caches := []*Cache{NewCache(dir), NewCache(dir), NewCache(dir), NewCache(dir)}
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			src := source()
			src.Text = fmt.Sprint("code", i%2)
			want := bytes.Replace(want.Image, []byte("code"), []byte(src.Text), 1)
			if code, err := caches[i%len(caches)].Compile(c, src); err != nil || !bytes.Equal(code.Image, want) {
				t.Errorf("%+v, %v; want %q", code, err, want)
			}
		})
	}
	wait.Wait()
	if n := len(files(t, dir)); n != 2 {
		t.Errorf("%d files, want 2: %q", n, files(t, dir))
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	t.Setenv("AMTRL_CUBIN_CACHE", "")
	base, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	if got, want := DefaultDir(), filepath.Join(base, "amtrl", "cubin"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv("AMTRL_CUBIN_CACHE", "off")
	must.Equal(t, DefaultDir(), "", "DefaultDir for off")
	t.Setenv("AMTRL_CUBIN_CACHE", "/elsewhere")
	must.Equal(t, DefaultDir(), "/elsewhere", "DefaultDir for /elsewhere")
}

func TestChoose(t *testing.T) {
	cuda12, cuda13 := []int{50, 60, 70, 72, 75, 80, 86, 87, 89, 90}, []int{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121}
	for _, c := range []struct {
		supported []int
		device    int
		want      string
	}{
		{cuda12, 80, "sm_80"}, {cuda12, 90, "sm_90"}, {cuda12, 87, "sm_87"}, {cuda12, 61, "sm_60"},
		{cuda12, 100, "compute_90"}, {cuda12, 120, "compute_90"}, {cuda12, 73, "sm_70"},
		{cuda12, 88, "compute_86"}, // a system on a chip does not run other devices' machine code
		{cuda13, 100, "sm_100"}, {cuda13, 107, "sm_103"}, {cuda13, 122, "sm_121"}, {cuda13, 130, "compute_121"},
		{cuda13, 70, ""}, {cuda13, 61, ""}, {nil, 90, ""},
	} {
		got, err := Choose(c.supported, c.device)
		if c.want == "" {
			if err == nil {
				t.Errorf("%d of %v: %v", c.device, c.supported, got)
			}
		} else if err != nil || got.String() != c.want {
			t.Errorf("%d of %v: %v, %v; want %s", c.device, c.supported, got, err, c.want)
		}
	}
}
