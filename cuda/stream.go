//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"slices"
	"sort"
	"unsafe"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// streamed holds samples whose rows in lent pools do not fit on the device together. Each pass
// copies the rows in slabs, one after the other into the same memory: the host gathers and copies a
// slab while the device works on what came before. The slabs of a task gradient end where chunks
// end, so that its sums are the same as over rows that stay on the device.
type streamed struct {
	rows    []int32    // row index of each sample in its source's pool
	lent    []hostRows // rows of each source's pool, zero where that is on the device
	sources []kernels.SampleSource
	offsets []int
	chunks  []kernels.SampleChunk
	source  []int // source of each chunk
	slabs   []slab
	most    int // largest size in bytes of a slab with several chunks
}

// slab is the range of samples lo to hi - 1. bytes is the device memory that their rows and chunks
// take.
type slab struct{ lo, hi, bytes int }

// maxSlab is the largest size of a slab in bytes. The device works on a slab of that size for a
// tenth of the time that its copy takes. Where little memory is free, a slab takes at most
// 1/slabShare of it: the programs of a queue have one slab in common, but other queues have theirs,
// and may ask at the same time.
const (
	maxSlab   = 256 << 20
	slabShare = 16
)

// gatherRows copies the rows that sources draw from lent pools to the device, in the order of the
// samples, and sets the sources to find them there. It returns the row indices. Where there is no
// room, the rows are streamed.
func (q *queue) gatherRows(op string, s *samples, set backend.SampleSet, sources []kernels.SampleSource) ([]int32, error) {
	lent := make([]hostRows, len(sources))
	for m := range sources {
		if lent[m] = lentRows(s.pools[set.SourcePool[m]]); lent[m].apart > 0 {
			sources[m].Pool.Stride = int64(quads(s.cols))
			s.gathered += lent[m].room(set.Offsets[m+1] - set.Offsets[m])
		}
	}
	if s.gathered == 0 {
		return set.Rows, nil
	}
	free, err := q.free()
	if err == nil && s.gathered <= q.room(free, rowsLeave) {
		s.drawn, err = q.take(op, s.gathered)
	}
	if err != nil && !errors.Is(err, backend.ErrOutOfMemory) {
		return nil, err
	}
	rows := slices.Clone(set.Rows)
	if s.drawn.addr == 0 {
		s.gathered = 0
		s.streamed = &streamed{
			rows: slices.Clone(rows), lent: lent, sources: sources, offsets: slices.Clone(set.Offsets), most: int(min(q.dev.slab, free/slabShare)),
		}
		return rows, nil
	}
	at := s.drawn.addr
	for m, from := range lent {
		if from.apart == 0 {
			continue
		}
		own := rows[set.Offsets[m]:set.Offsets[m+1]]
		if err := q.uploadRows(at, from, own); err != nil {
			return nil, err
		}
		number(own)
		sources[m].Pool.Data = kernels.Ptr(at)
		at += nv.DevicePtr(from.room(len(own)))
	}
	return rows, nil
}

func number(rows []int32) {
	for i := range rows {
		rows[i] = int32(i)
	}
}

// divide cuts the samples into slabs, and numbers in rows the streamed rows within their chunks.
func (s *streamed) divide(chunks []kernels.SampleChunk, rows []int32) {
	s.chunks = chunks
	for i, m := 0, 0; i < len(chunks); i++ {
		first, end := int(chunks[i].First), int(chunks[i].First)+int(chunks[i].Count)
		for s.offsets[m+1] <= first {
			m++
		}
		s.source = append(s.source, m)
		if s.lent[m].apart > 0 {
			number(rows[first:end])
		}
		one := s.slab(first, end, i, 1)
		if n := len(s.slabs); n > 0 && s.slabs[n-1].bytes+one.bytes <= s.most {
			s.slabs[n-1].hi = end
			s.slabs[n-1].bytes += one.bytes
		} else {
			s.slabs = append(s.slabs, one)
		}
	}
}

// slab returns the slab of samples lo to hi - 1, which lie in count chunks from chunk first on.
func (s *streamed) slab(lo, hi, first, count int) slab {
	bytes := aligned(int64(count) * chunkBytes)
	for i := first; i < first+count; i++ {
		from, until := s.within(i, lo, hi)
		bytes += s.lent[s.source[i]].room(until - from)
	}
	return slab{lo, hi, int(bytes)}
}

// within returns the samples of a chunk that are among lo to hi - 1: from to until - 1.
func (s *streamed) within(chunk, lo, hi int) (from, until int) {
	c := &s.chunks[chunk]
	return max(lo, int(c.First)), min(hi, int(c.First)+int(c.Count))
}

const chunkBytes = int64(unsafe.Sizeof(kernels.SampleChunk{}))

// slabs cuts the samples into slabs of at most size samples, for a pass that is not bound to
// chunks.
func (s *samples) slabs(size int) []slab {
	var all []slab
	for lo := 0; lo < s.n; lo += size {
		next := slab{lo: lo, hi: min(lo+size, s.n)}
		if s.streamed != nil {
			first, count := s.gradient.Range(next.lo, next.hi)
			next = s.streamed.slab(next.lo, next.hi, first, count)
		}
		all = append(all, next)
	}
	return all
}

// largest returns the size in bytes of the largest slab.
func largest(slabs []slab) (bytes int) {
	for _, s := range slabs {
		bytes = max(bytes, s.bytes)
	}
	return bytes
}

// chunks returns the device address, the first and the number of the chunks that contain samples of
// a slab. Where the samples are streamed it copies these chunks, followed by the rows of the slab,
// to the device memory at to.
func (e *emitter) chunks(set *samples, s slab, to nv.DevicePtr) (at kernels.Ptr, first, count int) {
	first, count = set.gradient.Range(s.lo, s.hi)
	from := set.streamed
	if from == nil {
		return kernels.Ptr(set.gradient.chunks).At(first, int(chunkBytes)), first, count
	}
	e.direct()
	chunks := slices.Clone(from.chunks[first : first+count])
	data := to + nv.DevicePtr(aligned(int64(count)*chunkBytes))
	for i := range chunks {
		pool := from.lent[from.source[first+i]]
		if pool.apart == 0 {
			continue
		}
		lo, hi := from.within(first+i, s.lo, s.hi)
		chunks[i].Pool.Data = kernels.Ptr(data) - kernels.Ptr((lo-int(chunks[i].First))*pool.apart)
		e.do(func() error { return e.q.uploadRows(data, pool, from.rows[lo:hi]) })
		data += nv.DevicePtr(pool.room(hi - lo))
	}
	e.do(func() error { return e.q.upload(to, kernels.Bytes(chunks)) })
	return kernels.Ptr(to), first, count
}

// direct fails in a capture: the host has a part in each run, so that the work cannot be part of a
// graph.
func (e *emitter) direct() {
	e.do(func() error {
		if e.q.capturing {
			return errStreamed
		}
		return nil
	})
}

// batchBytes returns the device memory in bytes for a minibatch of n streamed samples, with a chunk
// for each.
func (s *streamed) batchBytes(n int) int {
	most := 0
	for _, from := range s.lent {
		most = max(most, from.apart)
	}
	return int(aligned(int64(n)*chunkBytes) + aligned(4*int64(n)) + int64(n)*int64(most))
}

// batch writes the features of the samples in order to the rows of X. It uses batchBytes of device
// memory at to.
func (e *emitter) batch(s *streamed, order []int32, cols int, to nv.DevicePtr, x kernels.Matrix) {
	e.direct()
	chunks, rows, data := make([]kernels.SampleChunk, len(order)), make([]int32, len(order)), []byte(nil)
	at := to + nv.DevicePtr(aligned(int64(len(order))*chunkBytes)+aligned(4*int64(len(order))))
	for i, sample := range order {
		m := sort.SearchInts(s.offsets, int(sample)+1) - 1
		c := kernels.SampleChunk{Pool: s.sources[m].Pool, First: int64(i), Count: 1}
		rows[i] = s.rows[sample]
		if from := s.lent[m]; from.apart > 0 {
			c.Pool.Data = kernels.Ptr(at) + kernels.Ptr(len(data))
			data = append(data, make([]byte, from.apart)...)
			from.gather(data[len(data)-from.apart:], rows[i:i+1])
			rows[i] = 0
		}
		chunks[i] = c
	}
	var image layout
	var chunksAt, rowsAt, dataAt nv.DevicePtr
	image.add(&chunksAt, kernels.Bytes(chunks))
	image.add(&rowsAt, bytesOf(rows))
	image.add(&dataAt, data)
	image.place(to)
	e.do(func() error { return e.q.upload(to, image.bytes) })
	e.launch(kernels.Features{
		Chunks: kernels.Ptr(chunksAt), NumChunks: len(order), Rows: kernels.Ptr(rowsAt), Hi: len(order), Cols: cols, X: x,
	}.Launch())
}
