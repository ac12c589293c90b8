package pipeline

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// Device is a data set resident on a device: every pool is uploaded once, and
// samples are row indices into it. Any number of runs may share a Device at
// the same time.
type Device struct {
	Queue backend.Queue
	Set   *dataset.Set
	pools []backend.Pool
}

// NewDevice uploads the pools of a set, which must be valid
// ([dataset.Set.Validate]).
func NewDevice(dev backend.Device, set *dataset.Set) (*Device, error) {
	q, err := dev.NewQueue()
	if err != nil {
		return nil, err
	}
	d := &Device{Queue: q, Set: set}
	for _, p := range set.Pools {
		var buf backend.Buffer
		var err error
		switch {
		case p.U8 != nil:
			buf, err = backend.NewBuffer(q, backend.Uint8, p.U8)
		case p.F16 != nil:
			buf, err = backend.NewBuffer(q, backend.Float16, p.F16)
		default:
			buf, err = backend.NewBuffer(q, backend.Float32, p.F32)
		}
		if err != nil {
			d.Close()
			return nil, fmt.Errorf("uploading pool %s: %w", p.Name, err)
		}
		d.pools = append(d.pools, backend.Pool{Data: backend.Mat(buf, p.Rows, p.Cols), Scale: p.Scale})
	}
	// Other queues read the pools.
	if err := q.Synchronize(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// fork returns the same data on a queue of its own, which the caller closes.
func (d *Device) fork() (*Device, error) {
	q, err := d.Queue.Device().NewQueue()
	if err != nil {
		return nil, err
	}
	return &Device{Queue: q, Set: d.Set, pools: d.pools}, nil
}

// Close frees the pools and ends the queue that made them.
func (d *Device) Close() {
	for _, p := range d.pools {
		p.Data.Buf.Free()
	}
	d.pools = nil
	d.Queue.Close()
}

// cols is the input dimension.
func (d *Device) cols() int { return d.Set.Pools[0].Cols }

// samples places the first counts[i] rows of rows[i], labelled as task tasks[i],
// on the device, in that order.
func (d *Device) samples(tasks []int, rows [][]int32, counts []int) (backend.Samples, error) {
	set := backend.SampleSet{Pools: d.pools, TaskPool: make([]int, len(tasks)), Offsets: make([]int, len(tasks)+1)}
	total := 0
	for _, n := range counts {
		total += n
	}
	set.Rows, set.Y = make([]int32, 0, total), make([]float32, 0, total)
	for i, t := range tasks {
		task := &d.Set.Tasks[t]
		set.TaskPool[i] = task.Pool
		for _, r := range rows[i][:counts[i]] {
			set.Rows = append(set.Rows, r)
			set.Y = append(set.Y, task.Labels[r])
		}
		set.Offsets[i+1] = len(set.Rows)
	}
	return d.Queue.NewSamples(set)
}
