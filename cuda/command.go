//go:build linux && cgo && (amd64 || arm64)

package cuda

import "github.com/amtrl/amtrl/cuda/internal/nv"

// command is one operation that has passed its checks, ready for the stream. It
// is issued at once, or kept in a program and issued at every run.
type command struct {
	in   []input
	out  []output
	temp []int // bytes of each piece of scratch memory
	emit func(e *emitter)
}

// input are bytes of the host that the operation reads from device memory.
type input struct {
	bytes int64
	// check, if set, says what is wrong with them.
	check func() error
	read  func(to []byte)
}

// output are bytes of device memory that the operation leaves for the host.
type output struct {
	bytes int64
	write func(from []byte)
}

// emitter is what a command is issued with: its queue and the device addresses
// of its inputs, outputs and scratch memory. err is the first failure, after
// which nothing more is issued.
type emitter struct {
	q             *queue
	in, out, temp []nv.DevicePtr
	err           error
}

// do makes a call, unless one before it failed.
func (e *emitter) do(call func() error) {
	if e.err == nil {
		e.err = call()
	}
}

// plan lays out the memory of a list of commands: all inputs and all outputs in one
// block, and scratch memory that the commands use one after the other.
type plan struct {
	commands        []*command
	inputs, outputs int64
	scratch         int64
	first, common   nv.DevicePtr // addresses of the block and of the scratch memory
}

// apart is the alignment of each piece, that of the driver's own blocks.
const apart = 256

func aligned(n int64) int64 { return (n + apart - 1) &^ (apart - 1) }

func (p *plan) add(c *command) {
	p.commands = append(p.commands, c)
	for _, in := range c.in {
		p.inputs += aligned(in.bytes)
	}
	for _, out := range c.out {
		p.outputs += aligned(out.bytes)
	}
	scratch := int64(0)
	for _, n := range c.temp {
		scratch += aligned(int64(n))
	}
	p.scratch = max(p.scratch, scratch)
}

// own is the size of the block of inputs and outputs.
func (p *plan) own() int64 { return p.inputs + p.outputs }

// check asks the inputs whether they are valid.
func (p *plan) check() error {
	for _, c := range p.commands {
		for _, in := range c.in {
			if in.check != nil {
				if err := in.check(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// emit issues the commands in order.
func (p *plan) emit(q *queue) error {
	var room [8]nv.DevicePtr
	in, out := p.first, p.first+nv.DevicePtr(p.inputs)
	for _, c := range p.commands {
		e := emitter{q: q}
		list, temp := room[:0], p.common
		for _, i := range c.in {
			list, in = append(list, in), in+nv.DevicePtr(aligned(i.bytes))
		}
		e.in = list
		for _, o := range c.out {
			list, out = append(list, out), out+nv.DevicePtr(aligned(o.bytes))
		}
		e.out = list[len(c.in):]
		for _, n := range c.temp {
			list, temp = append(list, temp), temp+nv.DevicePtr(aligned(int64(n)))
		}
		e.temp = list[len(c.in)+len(c.out):]
		if c.emit(&e); e.err != nil {
			return e.err
		}
	}
	return nil
}

// send copies the inputs to their places on the device.
func (q *queue) send(p *plan) error {
	if p.inputs == 0 {
		return nil
	}
	if p.inputs <= slotBytes {
		mem, err := q.reserve(int(p.inputs))
		if err != nil {
			return err
		}
		if mem != nil {
			p.read(mem)
			return q.push(p.first, mem)
		}
	}
	all := make([]byte, p.inputs)
	p.read(all)
	return q.upload(p.first, all)
}

// read lets the inputs be written to their places in memory of the host.
func (p *plan) read(to []byte) {
	for _, c := range p.commands {
		for _, in := range c.in {
			in.read(to[:in.bytes])
			to = to[aligned(in.bytes):]
		}
	}
}

// fetch waits for the work and hands out the outputs, if there are any.
func (q *queue) fetch(p *plan) error {
	if p.outputs == 0 {
		return nil
	}
	from := p.first + nv.DevicePtr(p.inputs)
	if p.outputs > slotBytes {
		all := make([]byte, p.outputs)
		if err := q.download(all, from); err != nil {
			return err
		}
		p.write(all)
		return nil
	}
	return q.receive(from, int(p.outputs), p.write)
}

func (p *plan) write(from []byte) {
	for _, c := range p.commands {
		for _, out := range c.out {
			out.write(from[:out.bytes])
			from = from[aligned(out.bytes):]
		}
	}
}
