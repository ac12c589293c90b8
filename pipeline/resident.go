package pipeline

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// Resident is a data set on a device: every pool is uploaded once, and samples are row indices into it, except where rows
// are taken less the centre of their source (Config.Centring): then the drawn rows are copied, as float32. Pools for which
// the device has no room stay in the memory of the process, and the rows drawn from them are copied to the device. Any
// number of learners may share a Resident at the same time.
type Resident struct {
	Device backend.Device
	Set    *dataset.Set
	pools  []backend.Pool
	onHost int64 // bytes of the pools that stay in host memory for want of room
	// threads is the number of threads that a learner may use on the host.
	threads int
	// moments returns the moments of each pool, which are computed once. It is empty where they would take much memory.
	moments []func() poolMoments
}

// mostMoments bounds the features of all pools whose moments a Resident keeps, 16 bytes each.
const mostMoments = 1 << 22

// hostThreads returns the number of threads of the host that may compute beside a device.
func hostThreads(device backend.Device) int {
	if n := device.Info().Threads; n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// momentsOf returns the moments of a pool without some of its rows.
func (r *Resident) momentsOf(pool int, without []int32) poolMoments {
	if len(r.moments) == 0 || len(without) > 0 {
		return momentsOf(r.Set.Pools[pool], without)
	}
	return r.moments[pool]()
}

// NewResident uploads the pools of a set. It validates the set, or checks its shape alone where a pool is a mapped
// file. The device remains the caller's. It must outlive the result, and so must the elements of the set, unchanged.
func NewResident(device backend.Device, set *dataset.Set) (*Resident, error) {
	check := set.Validate
	// A file that is mapped was validated when it was written, and reading all of it can take long.
	if set != nil && slices.ContainsFunc(set.Pools, func(p *dataset.Pool) bool { return p != nil && p.Mapped }) {
		check = set.CheckShape
	}
	if err := check(); err != nil {
		return nil, err
	}
	if device == nil {
		return nil, errors.New("expected a device for the data, found nil")
	}
	queue, err := device.NewQueue()
	if err != nil {
		return nil, err
	}
	defer queue.Close()
	r := &Resident{Device: device, Set: set, threads: hostThreads(device)}
	if len(set.Pools)*set.Pools[0].Cols <= mostMoments {
		for _, p := range set.Pools {
			r.moments = append(r.moments, sync.OnceValue(func() poolMoments { return momentsOf(p, nil) }))
		}
	}
	if err := r.upload(queue); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Resident) upload(queue backend.Queue) (err error) {
	for _, p := range r.Set.Pools {
		var buf backend.Buffer
		switch {
		case p.U8 != nil:
			buf, err = placePool(r, queue, p, backend.Uint8, p.U8)
		case p.F16 != nil:
			buf, err = placePool(r, queue, p, backend.Float16, p.F16)
		default:
			buf, err = placePool(r, queue, p, backend.Float32, p.F32)
		}
		if err != nil {
			return fmt.Errorf("uploading pool %s: %w", p.Name, err)
		}
		r.pools = append(r.pools, backend.Pool{Data: backend.Mat(buf, p.Rows, p.Cols), Scale: p.Scale})
	}
	return queue.Synchronize() // other queues read the pools
}

// placePool places the elements of a pool, which stay where they are if they are of a mapped file that the device can
// read in place.
func placePool[E backend.Element](r *Resident, q backend.Queue, p *dataset.Pool, t backend.DType, elements []E) (backend.Buffer, error) {
	buf, lent, err := placeElements(q, t, elements, p.Mapped)
	if _, limited := q.(backend.Limited); limited && lent {
		r.onHost += int64(len(elements)) * int64(t.Size())
	}
	return buf, err
}

// placeElements copies elements to the device. It lends them instead, so that they stay where they are, if a device with
// memory of its own has no room for them, or if a device without may read them in place.
func placeElements[E backend.Element](q backend.Queue, t backend.DType, elements []E, inPlace bool) (buf backend.Buffer, lent bool,
	err error) {
	lend := inPlace
	if limited, is := q.(backend.Limited); is {
		room, err := limited.Room()
		if err != nil {
			return nil, false, err
		}
		lend = int64(len(elements))*int64(t.Size()) > room
	}
	if !lend {
		buf, err := backend.NewBuffer(q, t, elements)
		if !errors.Is(err, backend.ErrOutOfMemory) { // another process may have taken the room
			return buf, false, err
		}
	}
	buf, err = backend.Lend(q, t, elements)
	return buf, true, err
}

// Shortage says how much of the data the device has no room for; it returns "" where the device has all.
func (r *Resident) Shortage() string {
	if r.onHost == 0 {
		return ""
	}
	return fmt.Sprintf("the device has no room for %.3g GiB of the data: they stay on the host, and rows go to the device as they are drawn",
		float64(r.onHost)/(1<<30))
}

// Close frees the pools, once no learner uses them.
func (r *Resident) Close() {
	for _, p := range r.pools {
		p.Data.Buf.Free()
	}
	r.pools = nil
}

// placed are samples on a device. rows is the pool that was made for them, nil where they are rows of the data's pools.
type placed struct {
	on   backend.Samples
	rows backend.Buffer
}

func (s placed) Free() {
	s.on.Free()
	if s.rows != nil {
		s.rows.Free()
	}
}

// samples places rows of sources, less the centres of their pools, with their labels on the device, for use on queue.
func (r *Resident) samples(queue backend.Queue, centres [][]float32, sources []Source, in []Labelled) (placed, error) {
	set := backend.SampleSet{Pools: r.pools, Outputs: outputsOf(sources), Offsets: []int{0}}
	for i, l := range in {
		set.SourcePool = append(set.SourcePool, sources[i].Pool)
		set.Rows, set.Y = append(set.Rows, l.Rows...), append(set.Y, l.Y...)
		set.Offsets = append(set.Offsets, len(set.Rows))
	}
	return r.place(queue, centres, set)
}

// poolRows holds rows of one pool.
type poolRows struct {
	pool int
	rows []int32
}

// byPool gathers consecutive rows of one pool.
func byPool(rows []poolRow) (out []poolRows) {
	for i, r := range rows {
		if i == 0 || r.pool != rows[i-1].pool {
			out = append(out, poolRows{pool: r.pool})
		}
		last := &out[len(out)-1]
		last.rows = append(last.rows, int32(r.row))
	}
	return out
}

// unlabelled places rows of pools, less the centres of these, on the device, in the given order. Their labels are 0.
func (r *Resident) unlabelled(queue backend.Queue, centres [][]float32, of ...poolRows) (placed, error) {
	set := backend.SampleSet{Pools: r.pools, Offsets: []int{0}}
	for _, p := range of {
		set.SourcePool, set.Rows = append(set.SourcePool, p.pool), append(set.Rows, p.rows...)
		set.Offsets = append(set.Offsets, len(set.Rows))
	}
	set.Y = make([]float32, len(set.Rows))
	return r.place(queue, centres, set)
}

// place places samples of the data's pools on the device. With centres it uploads their rows, less these, to a pool of
// their own, and overwrites the rows and pools of set.
func (r *Resident) place(queue backend.Queue, centres [][]float32, set backend.SampleSet) (out placed, err error) {
	if r.pools == nil {
		return out, fmt.Errorf("the data set %s is closed", r.Set.Title())
	}
	if centres != nil && len(set.Rows) > 0 {
		d := r.Set.Pools[0].Cols
		x, rows := make([]float32, len(set.Rows)*d), shifted{r.Set, centres}
		for m, pool := range set.SourcePool {
			for i := set.Offsets[m]; i < set.Offsets[m+1]; i++ {
				rows.readRow(pool, int(set.Rows[i]), x[i*d:(i+1)*d])
				set.Rows[i] = int32(i)
			}
			set.SourcePool[m] = 0
		}
		if out.rows, _, err = placeElements(queue, backend.Float32, x, true); err != nil {
			return out, err
		}
		set.Pools = []backend.Pool{{Data: backend.Mat(out.rows, len(set.Rows), d), Scale: 1}}
	}
	if out.on, err = queue.NewSamples(set); err != nil && out.rows != nil {
		out.rows.Free()
	}
	return out, err
}
