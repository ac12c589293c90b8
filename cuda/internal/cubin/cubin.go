// Package cubin compiles CUDA C++ to machine code for one device and keeps the
// results in memory and on disk.
package cubin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// Compiler is the part of NVRTC that this package uses; [nv.NVRTC] implements it.
type Compiler interface {
	Version() (major, minor int, err error)
	CreateProgram(source, name string, headers []nv.Header) (nv.Program, error)
	CompileProgram(p nv.Program, options []string) error
	GetProgramLog(p nv.Program) (string, error)
	GetCUBIN(p nv.Program) ([]byte, error)
	GetPTX(p nv.Program) ([]byte, error)
	DestroyProgram(p nv.Program) error
}

// Source is a translation unit, with the options and the target to compile it for.
type Source struct {
	Name    string // appears in the compiler's messages
	Text    string
	Headers []nv.Header
	Options []string // without -arch
	Target  Target
}

// Code is a compiled source.
type Code struct {
	// Image is a cubin, or PTX ended by a zero byte, as cuModuleLoadData takes it. It may be shared
	// and must not be written to.
	Image []byte
	// Log holds the compiler's messages; empty where Cached.
	Log string
	// Cached reports whether the image comes from memory or disk.
	Cached bool
}

// Error reports a source that did not compile.
type Error struct {
	Name   string // of the source
	Target Target
	Log    string // the compiler's messages
	Err    error  // of NVRTC
}

func (e *Error) Error() string {
	s := fmt.Sprintf("compiling %s for %s: %v", e.Name, e.Target, e.Err)
	if log := strings.TrimSpace(e.Log); log != "" {
		s += "\n" + log
	}
	return s
}

// Unwrap returns NVRTC's error.
func (e *Error) Unwrap() error { return e.Err }

// Compile compiles a source, without a cache.
func Compile(c Compiler, src Source) (code Code, err error) {
	p, err := c.CreateProgram(src.Text, src.Name, src.Headers)
	if err != nil {
		return Code{}, &Error{Name: src.Name, Target: src.Target, Err: err}
	}
	defer func() { err = errors.Join(err, c.DestroyProgram(p)) }()
	err = c.CompileProgram(p, append(slices.Clone(src.Options), src.Target.option()))
	log, logErr := c.GetProgramLog(p)
	if err == nil {
		err = logErr
	}
	if err == nil {
		get := c.GetCUBIN
		if src.Target.PTX {
			get = c.GetPTX
		}
		if code.Image, err = get(p); err == nil && len(code.Image) == 0 {
			err = errors.New("the compiler gave no code")
		}
	}
	if err != nil {
		return Code{}, &Error{Name: src.Name, Target: src.Target, Log: log, Err: err}
	}
	code.Log = log
	return code, nil
}

// Cache keeps compiled code in memory and in a folder. Several goroutines may use it at a time, and
// several processes its folder.
type Cache struct {
	dir    string
	one    singleflight.Group
	memory sync.Map // images by key
}

// NewCache returns a cache in the folder dir, which is created at the first write, or one in memory
// alone where dir is empty.
func NewCache(dir string) *Cache { return &Cache{dir: dir} }

// Compile returns the code of a source from memory, from the folder or, where neither has an intact
// copy, from the compiler, and then writes it to the folder. A folder that cannot be read or
// written, or that [Check] refuses, only costs the time to compile, once for each process.
func (c *Cache) Compile(n Compiler, src Source) (Code, error) {
	major, minor, err := n.Version()
	if err != nil {
		return Code{}, err
	}
	k := key(src, major, minor)
	v, err, _ := c.one.Do(k, func() (any, error) {
		if image, ok := c.memory.Load(k); ok {
			return Code{Image: image.([]byte), Cached: true}, nil
		}
		code, err := c.find(n, src, k)
		if err == nil {
			c.memory.Store(k, code.Image)
		}
		return code, err
	})
	if err != nil {
		return Code{}, err
	}
	return v.(Code), nil
}

func (c *Cache) find(n Compiler, src Source, key string) (Code, error) {
	if c.dir != "" {
		if image, ok := load(c.dir, key); ok {
			return Code{Image: image, Cached: true}, nil
		}
	}
	code, err := Compile(n, src)
	if err == nil && c.dir != "" {
		store(c.dir, key, code.Image)
	}
	return code, err
}
