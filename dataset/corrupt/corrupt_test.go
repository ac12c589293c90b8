package corrupt

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

var published = []string{
	"identity", "shot_noise", "impulse_noise", "glass_blur", "motion_blur", "shear", "scale", "rotate",
	"brightness", "translate", "stripe", "fog", "spatter", "dotted_line", "zigzag", "canny_edges",
}

// strokes returns n random images of a few thick strokes on black, clear of the
// outermost two pixels.
func strokes(n int, rng *rand.Rand) []uint8 {
	images := make([]uint8, n*pixels)
	for at := 0; at < len(images); at += pixels {
		for range 3 {
			row, col := 4+rng.Float64()*20, 4+rng.Float64()*20
			down, right := rng.Float64()-0.5, rng.Float64()-0.5
			for range 20 {
				for _, step := range []int{0, 1, side, side + 1} {
					images[at+int(row)*side+int(col)+step] = uint8(128 + rng.IntN(128))
				}
				row = min(max(row+down, 2), side-4)
				col = min(max(col+right, 2), side-4)
			}
		}
	}
	return images
}

func anyImage(rng *rand.Rand) (m image) {
	for i := range m {
		m[i] = uint8(rng.Uint32())
	}
	return m
}

func filled(v uint8) (m image) {
	for i := range m {
		m[i] = v
	}
	return m
}

func TestNames(t *testing.T) {
	names := Names()
	must.EqualSlices(t, names, published, "names")
	names[0] = "changed"
	must.Hold(t, Names()[0] == "identity", "the caller can change the names")
}

func TestGenerateIsApplyWithTheImagesOwnStream(t *testing.T) {
	rng := testrand.New(t)
	images, seed := strokes(5, rng), rng.Uint64()
	for _, name := range Names() {
		all := must.Get(Generate(name, images, seed, 2))(t)
		for i := range 5 {
			one := make([]uint8, pixels)
			stream := rand.New(rand.NewChaCha8(streamSeed(seed, name, i)))
			must.Do(t, Apply(one, images[i*pixels:(i+1)*pixels], name, stream))
			must.EqualSlices(t, one, all[i*pixels:(i+1)*pixels], "%s: image %d against Apply with its stream", name, i)
		}
	}
}

func TestGenerateDoesNotDependOnThreads(t *testing.T) {
	rng := testrand.New(t)
	images, seed := strokes(53, rng), rng.Uint64()
	before := bytes.Clone(images)
	for _, name := range Names() {
		want := must.Get(Generate(name, images, seed, 1))(t)
		for _, threads := range []int{1, 2, 3, 1 << 40} {
			got := must.Get(Generate(name, images, seed, threads))(t)
			must.EqualSlices(t, got, want, "%s with %d threads", name, threads)
		}
	}
	must.Hold(t, bytes.Equal(images, before), "Generate changed its input")
}

// TestRandomness makes 24 corruptions of one image. The chance that all agree is
// largest for a coin flip: 2^-23.
func TestRandomness(t *testing.T) {
	rng := testrand.New(t)
	seed := rng.Uint64()
	one := strokes(1, rng)
	images := bytes.Repeat(one, 24)
	for _, c := range corruptions {
		got := must.Get(Generate(c.name, images, seed, 2))(t)
		varies := !bytes.Equal(got, bytes.Repeat(got[:pixels], 24))
		must.Equal(t, varies, c.random, "%s: results vary with the stream", c.name)
		other := must.Get(Generate(c.name, images, seed+1, 2))(t)
		must.Equal(t, !bytes.Equal(got, other), c.random, "%s: results depend on the seed", c.name)
	}
}

func TestStreamSeedsAreDistinct(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, seed := range []uint64{0, 1, 1 << 63} {
		for _, name := range Names() {
			if len(name) > 16 {
				t.Fatalf("%s: longer than the 16 bytes it has in a key", name)
			}
			for index := range 300 {
				seen[streamSeed(seed, name, index)] = true
			}
		}
	}
	if want := 3 * 16 * 300; len(seen) != want {
		t.Errorf("%d distinct keys: expected %d", len(seen), want)
	}
}

func TestApplyInPlaceAndOverlapping(t *testing.T) {
	rng := testrand.New(t)
	src := strokes(1, rng)
	for _, name := range Names() {
		want := make([]uint8, pixels)
		must.Do(t, Apply(want, src, name, rand.New(rand.NewPCG(1, 2))))
		shared := append(bytes.Clone(src), make([]uint8, 100)...)
		must.Do(t, Apply(shared[100:], shared[:pixels], name, rand.New(rand.NewPCG(1, 2))))
		must.EqualSlices(t, shared[100:], want, "%s of overlapping images", name)
	}
}

func TestBadArguments(t *testing.T) {
	whole := make([]uint8, pixels)
	stream := rand.New(rand.NewPCG(1, 2))
	apply := func(dst, src int, name string, rng *rand.Rand) func() error {
		return func() error { return Apply(make([]uint8, dst), make([]uint8, src), name, rng) }
	}
	generate := func(name string, n, threads int) func() error {
		return func() error { _, err := Generate(name, make([]uint8, n), 1, threads); return err }
	}
	for _, c := range []struct {
		what string
		call func() error
		says string
	}{
		{"unknown name", apply(784, 784, "gaussian_noise", stream), `no corruption "gaussian_noise": expected one of identity, shot_noise`},
		{"name with a line break", apply(784, 784, "fog\n", stream), `no corruption "fog\n"`},
		{"empty name", apply(784, 784, "", stream), `no corruption ""`},
		{"short src", apply(784, 783, "fog", stream), "src has 783 bytes: expected 784"},
		{"no src", apply(784, 0, "identity", stream), "src has 0 bytes: expected 784"},
		{"long src", apply(784, 785, "identity", stream), "src has 785 bytes: expected 784"},
		{"short dst", apply(10, 784, "identity", stream), "dst has 10 bytes: expected 784"},
		{"long dst", apply(1568, 784, "identity", stream), "dst has 1568 bytes: expected 784"},
		{"no stream", apply(784, 784, "fog", nil), "fog draws at random"},
		{"half an image", generate("fog", 1000, 1), "images hold 1000 bytes: expected a multiple of 784"},
		{"unknown name in bulk", generate("FOG", 784, 1), `no corruption "FOG"`},
		{"no threads", generate("fog", 784, 0), "0 threads: expected at least 1"},
		{"negative threads", generate("fog", 784, -3), "-3 threads: expected at least 1"},
	} {
		must.Fail(t, c.what, c.call(), c.says)
	}

	for _, c := range corruptions {
		must.Equal(t, Apply(whole, whole, c.name, nil) != nil, c.random, "%s without a stream fails", c.name)
		out, err := Generate(c.name, nil, 1, 4)
		if err != nil || len(out) != 0 {
			t.Errorf("%s of no images: %d bytes, %v", c.name, len(out), err)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add(uint64(1), uint8(3), []byte{255, 0, 128})
	f.Add(uint64(0), uint8(11), []byte{})
	f.Fuzz(func(t *testing.T, seed uint64, which uint8, pattern []byte) {
		name := Names()[int(which)%len(corruptions)]
		var src, first, second image
		for i := range src {
			if len(pattern) > 0 {
				src[i] = pattern[i%len(pattern)]
			}
		}
		key := [32]byte{}
		binary.LittleEndian.PutUint64(key[:], seed)
		for i, dst := range []*image{&first, &second} {
			*dst = filled(uint8(i)) // what it held before must not matter
			must.Do(t, Apply(dst[:], src[:], name, rand.New(rand.NewChaCha8(key))))
		}
		must.Equal(t, first, second, "%s of the same stream", name)
		if (name == "dotted_line" || name == "zigzag" || name == "brightness") && !atLeast(&first, &src) {
			t.Errorf("%s: made a pixel darker", name)
		}
	})
}

func atLeast(a, b *image) bool {
	for i, v := range a {
		if v < b[i] {
			return false
		}
	}
	return true
}

func BenchmarkGenerate(b *testing.B) {
	images := strokes(100, rand.New(rand.NewPCG(1, 2)))
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(images)))
			for b.Loop() {
				must.Get(Generate(name, images, 1, 1))(b)
			}
		})
	}
}
