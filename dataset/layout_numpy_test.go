package dataset

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/must"
)

// npyio, an implementation of the format that shares nothing with ours, reads what is written here.
func TestNPYAgreesWithNpyio(t *testing.T) {
	dir := t.TempDir()
	pixels := make([]uint8, 2*784)
	for i := range pixels {
		pixels[i] = uint8(i % 251)
	}
	must.Do(t, WriteLayout(dir, []string{"a"}, [][]uint8{pixels}, []uint8{3, 200}))
	var images []uint8
	var labels []int64
	for name, into := range map[string]any{"images": &images, "labels": &labels} {
		f := must.Get(os.Open(filepath.Join(dir, "a", "test_"+name+".npy")))(t)
		if err := npyio.Read(f, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
	if !bytes.Equal(images, pixels) || !slices.Equal(labels, []int64{3, 200}) {
		t.Errorf("npyio reads other values: labels %v", labels)
	}
}

// NumPy reads what is written here, and what NumPy writes is read here.
func TestNPYRoundTripThroughNumPy(t *testing.T) {
	python := cmp.Or(os.Getenv("AMTRL_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skipf("no NumPy: %s -c 'import numpy': %v", python, err)
	}
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	rng := rand.New(rand.NewPCG(6, 6))
	pixels, labels := make([]uint8, 30*784), make([]uint8, 30)
	for i := range pixels {
		pixels[i] = uint8(rng.Uint32())
	}
	for i := range labels {
		labels[i] = uint8(i % 7)
	}
	must.Do(t, WriteLayout(in, []string{"a", "b"}, [][]uint8{pixels, pixels}, labels))
	script := `
import os, sys, numpy as np
src, dst = sys.argv[1:]
for folder, dtype in (("a", "<f4"), ("b", "<f2")):
    x = np.load(f"{src}/{folder}/test_images.npy"); y = np.load(f"{src}/{folder}/test_labels.npy")
    assert x.shape == (30, 28, 28, 1) and x.dtype == np.uint8, (x.shape, x.dtype)
    assert y.shape == (30,) and y.dtype == np.int64, (y.shape, y.dtype)
    again = f"{dst}/again.npy"
    os.makedirs(f"{dst}/{folder}")
    for path, a in (("test_images", x), ("test_labels", y)):
        np.save(again, a)
        assert open(again, "rb").read() == open(f"{src}/{folder}/{path}.npy", "rb").read(), "other bytes than NumPy writes"
    os.remove(again)
    np.save(f"{dst}/{folder}/train_images.npy", (x.reshape(30, 784) / 8).astype(dtype))
    with open(f"{dst}/{folder}/train_labels.npy", "wb") as f:
        np.lib.format.write_array(f, y.astype("<i4"), version=(3, 0))
`
	if msg, err := exec.Command(python, "-c", script, in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	s := must.Get(ReadLayout(out))(t)
	must.Do(t, s.Validate())
	for i, p := range pixels {
		if got := s.Pools[0].F32[i]; got != float32(p)/8 {
			t.Fatalf("float32 element %d: %v, want %v", i, got, float32(p)/8)
		}
		if got := float16.Frombits(s.Pools[1].F16[i]).Float32(); got != float32(p)/8 {
			t.Fatalf("float16 element %d: %v, want %v", i, got, float32(p)/8)
		}
	}
	for i, l := range labels {
		for class := range 7 {
			if got := s.Tasks[class].Labels[i] == 1; got != (int(l) == class) {
				t.Fatalf("label %d of class %d: %v", i, class, got)
			}
		}
	}
}
