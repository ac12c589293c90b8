//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"sync"

	"github.com/amtrl/amtrl/cuda/internal/cubin"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// modules holds the kernels of a device. A source is compiled, or taken from the cache, when one of
// its kernels is first launched.
type modules struct {
	driver *nv.Driver
	nvrtc  *nv.NVRTC
	target cubin.Target
	cache  *cubin.Cache

	mu        sync.Mutex
	loaded    []nv.Module
	functions map[string]nv.Function
}

// caches maps each folder to its cache, which lives as long as the process.
var caches sync.Map

func cacheOf(dir string) *cubin.Cache {
	c, _ := caches.LoadOrStore(dir, cubin.NewCache(dir))
	return c.(*cubin.Cache)
}

// sourceOf returns the source of each entry point.
var sourceOf = sync.OnceValue(func() map[string]kernels.Source {
	all := make(map[string]kernels.Source)
	for _, s := range kernels.Sources() {
		for _, name := range s.EntryPoints() {
			all[name] = s
		}
	}
	return all
})

// prepare chooses the architecture that kernels are compiled for. Where NVRTC does not tell which
// ones it supports, the device's own is taken to be supported.
func (m *modules) prepare(lib *nv.Library, about DeviceInfo) error {
	m.driver, m.nvrtc, m.functions = lib.Driver, lib.NVRTC, make(map[string]nv.Function)
	m.cache = cacheOf(cubin.DefaultDir())
	device := 10*about.major + about.minor
	archs, err := lib.NVRTC.SupportedArchs()
	if errors.Is(err, nv.ErrAbsent) {
		archs, err = []int{device}, nil
	}
	if err == nil {
		m.target, err = cubin.Choose(archs, device)
	}
	return err
}

// find returns the function of an entry point, and compiles and loads its source if need be.
func (m *modules) find(q *queue, name string) (nv.Function, error) {
	if f, ok := m.ready(name); ok {
		return f, nil
	}
	src, ok := sourceOf()[name]
	if !ok {
		return 0, fmt.Errorf("no kernel has the name %s", name)
	}
	code, err := m.compile(src)
	if err == nil {
		err = q.whole(func() error {
			return q.again(func() error { return m.load(src, code) })
		})
	}
	if err != nil {
		return 0, err
	}
	f, _ := m.ready(name)
	return f, nil
}

func (m *modules) ready(name string) (nv.Function, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.functions[name]
	return f, ok
}

func (m *modules) compile(src kernels.Source) (cubin.Code, error) {
	unit := cubin.Source{Name: src.Name, Text: src.Text, Options: []string{"--std=c++17"}, Target: m.target}
	if src.Define != "" {
		unit.Options = append(unit.Options, "-D"+src.Define)
	}
	for _, h := range kernels.Headers() {
		unit.Headers = append(unit.Headers, nv.Header{Name: h.Name, Source: h.Text})
	}
	return m.cache.Compile(m.nvrtc, unit)
}

// load loads the kernels of a source, unless another queue has loaded them.
func (m *modules) load(src kernels.Source, code cubin.Code) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries := src.EntryPoints()
	if _, ok := m.functions[entries[0]]; ok {
		return nil
	}
	module, err := m.driver.ModuleLoadData(code.Image)
	if err != nil {
		return fmt.Errorf("kernels/%s for %s: %w", src.Name, m.target, err)
	}
	found := make([]nv.Function, len(entries))
	for i, entry := range entries {
		if found[i], err = m.driver.ModuleGetFunction(module, entry); err == nil {
			// This has the driver load the kernel now, not at its first launch, which may be in a
			// capture.
			_, err = m.driver.FuncGetAttribute(nv.FuncMaxThreadsPerBlock, found[i])
		}
		if err != nil {
			return errors.Join(fmt.Errorf("kernels/%s: %w", src.Name, err), m.driver.ModuleUnload(module))
		}
	}
	m.loaded = append(m.loaded, module)
	for i, entry := range entries {
		m.functions[entry] = found[i]
	}
	return nil
}

// unload unloads all modules when the device ends, and returns the first error.
func (m *modules) unload() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first error
	for _, module := range m.loaded {
		if err := m.driver.ModuleUnload(module); err != nil && first == nil {
			first = err
		}
	}
	m.loaded, m.functions = nil, nil
	return first
}

// launch adds kernels to the stream in order.
func (e *emitter) launch(list ...kernels.Launch) {
	for _, l := range list {
		if e.err != nil || l.Empty() {
			continue
		}
		var f nv.Function
		if f, e.err = e.q.dev.kernels.find(e.q, l.Kernel); e.err != nil {
			return
		}
		// A kernel's first launch may need memory for its stack.
		err := e.q.again(func() error {
			return e.q.lib.Driver.LaunchKernel(f, l.Grid, l.Block, l.Shared, e.q.stream, l.Args)
		})
		if err != nil {
			e.err = fmt.Errorf("kernel %s: %w", l.Kernel, err)
		}
	}
}
