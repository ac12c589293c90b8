//go:build linux && cgo

package standin

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

var building sync.Mutex

// Build returns the folder that holds the libraries of v. It compiles what is not in the cache,
// which lies in the user's cache folder and is keyed by the sources and the compiler; the first
// build takes about half a minute.
func Build(v Variant) (dir string, err error) {
	if err := v.check(); err != nil {
		return "", err
	}
	err = withCore(func(b *builder, core string) error {
		dir, err = b.set(v, core)
		return err
	})
	return dir, err
}

// withCore builds the core library, which all variants share, and calls f while no one else builds.
func withCore(f func(b *builder, core string) error) error {
	building.Lock()
	defer building.Unlock()
	b, err := newBuilder()
	if err != nil {
		return err
	}
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock()
	core, err := b.core()
	if err != nil {
		return err
	}
	return f(b, core)
}

// builder holds the folders of the sources and the cache.
type builder struct {
	root, cache string
	compiler    string // output of g++ --version
}

func newBuilder() (*builder, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	version, err := command("", "g++", "--version")
	if err != nil {
		return nil, err
	}
	return &builder{root: root, cache: cache, compiler: version}, nil
}

// moduleRoot returns the working directory or the nearest folder above it that holds the C++
// sources of this package, and with them those of the kernels.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("standin: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, source, "info.cpp")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("standin: no sources above the working directory; it works within the module alone")
		}
		dir = up
	}
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err == nil {
		dir := filepath.Join(base, "amtrl", "standin")
		if err := os.MkdirAll(dir, 0o755); err == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("amtrl-standin-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("standin: no folder for the libraries: %w", err)
	}
	return dir, nil
}

// lock keeps the test binaries of one source tree from building the same files at the same time.
func (b *builder) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(b.cache, "lock-"+hash(b.root)), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("standin: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("standin: locking %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:10])
}
