package dataset

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// purpose tells streams of one seed apart.
type purpose uint64

const (
	digitOrder purpose = iota + 1
	digitStyle
	syntheticRows
	syntheticNoise
	syntheticBasis
	syntheticHeads
)

// stream returns the random stream of (seed, use, i, j). Streams are
// independent: the four words are the key of a cipher.
func stream(seed uint64, use purpose, i, j int) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(use))
	binary.LittleEndian.PutUint64(key[16:], uint64(i))
	binary.LittleEndian.PutUint64(key[24:], uint64(j))
	return rand.New(rand.NewChaCha8(key))
}

// inParallel calls f for 0 to n-1 on up to threads goroutines, or on as many as there are processors where threads is not positive, and
// returns when all calls are done.
func inParallel(n, threads int, f func(i int)) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(threads, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}
