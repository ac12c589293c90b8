package corrupt

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// mnist holds the first half of MNIST's test images and their labels.
type mnist struct {
	dir    string
	images []uint8
	labels []uint8
}

var loadMNIST = sync.OnceValues(func() (*mnist, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	m := &mnist{dir: filepath.Join(root, "..", "shared", "data")}
	idx := filepath.Join(m.dir, "mnist_idx")
	if m.images, err = readIDX(filepath.Join(idx, "t10k-images-idx3-ubyte.gz"), 16); err != nil {
		return nil, err
	}
	if m.labels, err = readIDX(filepath.Join(idx, "t10k-labels-idx1-ubyte.gz"), 8); err != nil {
		return nil, err
	}
	if len(m.images) != len(m.labels)*pixels {
		return nil, fmt.Errorf("%s: %d bytes of images for %d labels", idx, len(m.images), len(m.labels))
	}
	return m, nil
})

// realData returns the images and labels, and skips the test where they are absent.
func realData(t *testing.T) *mnist {
	t.Helper()
	m, err := loadMNIST()
	if os.IsNotExist(err) {
		t.Skipf("needs MNIST and MNIST-C in ../shared/data beside the repository: %v", err)
	}
	must.Do(t, err)
	return m
}

// reference returns the published generator's output for m's images.
func (m *mnist) reference(t *testing.T, name string) []uint8 {
	t.Helper()
	file := filepath.Join(m.dir, "mnist_c", name, "test_images.npy")
	raw := must.Get(os.ReadFile(file))(t)
	if len(raw) < 10 || !bytes.HasPrefix(raw, []byte("\x93NUMPY\x01\x00")) {
		t.Fatalf("%s: not NPY version 1", file)
	}
	start := 10 + int(binary.LittleEndian.Uint16(raw[8:]))
	if len(raw)-start != len(m.images) {
		t.Fatalf("%s: %d bytes of images: expected %d", file, len(raw)-start, len(m.images))
	}
	return raw[start:]
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod above the package folder")
		}
		dir = parent
	}
}

func readIDX(file string, header int) ([]uint8, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(raw) < header {
		return nil, fmt.Errorf("%s: %d bytes, shorter than its header", file, len(raw))
	}
	return raw[header:], nil
}
