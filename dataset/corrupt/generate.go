package corrupt

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Generate returns the named corruption of each image. images holds 784 bytes for each image and is left unchanged. threads is the number
// of goroutines that share the work. Image i draws from a stream of its own, a function of (seed, name, i), so that the result depends
// neither on threads nor on the images before it.
func Generate(name string, images []uint8, seed uint64, threads int) ([]uint8, error) {
	c, err := lookup(name)
	if err != nil {
		return nil, err
	}
	if len(images)%pixels != 0 {
		return nil, fmt.Errorf("corrupt: images hold %d bytes: expected a multiple of %d, %d by %d images", len(images), pixels, side, side)
	}
	if threads < 1 {
		return nil, fmt.Errorf("corrupt: %d threads: expected at least 1", threads)
	}

	n := len(images) / pixels
	out := make([]uint8, len(images))
	const block = 16
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(threads, (n+block-1)/block) {
		wg.Go(func() {
			source := rand.NewChaCha8([32]byte{})
			rng := rand.New(source)
			for {
				end := int(next.Add(block))
				if end-block >= n {
					return
				}
				for i := end - block; i < min(end, n); i++ {
					source.Seed(streamSeed(seed, name, i))
					at := i * pixels
					c.apply((*image)(out[at:]), (*image)(images[at:]), rng)
				}
			}
		})
	}
	wg.Wait()
	return out, nil
}

// streamSeed writes (seed, name, index) into the 32 bytes of a ChaCha8 key. Distinct triples have distinct keys, since names are at most 16
// bytes long.
func streamSeed(seed uint64, name string, index int) (key [32]byte) {
	binary.LittleEndian.PutUint64(key[0:], seed)
	copy(key[8:24], name)
	binary.LittleEndian.PutUint64(key[24:], uint64(index))
	return key
}
