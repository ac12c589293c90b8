//go:build linux && cgo && (amd64 || arm64)

package cuda

import "github.com/amtrl/amtrl/cuda/internal/nv"

// command is an operation whose arguments have been checked. It is issued to the stream at once, or
// kept in a program and issued at every run.
type command struct {
	in   []input
	out  []output
	temp []int // size of each piece of scratch memory in bytes
	emit func(e *emitter)
}

// input is a piece of host data that is copied to the device for the command to read.
type input struct {
	bytes int64
	// check, if not nil, returns an error where the data are invalid.
	check func() error
	read  func(to []byte)
}

// output is a piece of device memory that the command writes and that is then copied to the host.
type output struct {
	bytes int64
	write func(from []byte)
}

// emitter issues one command on queue q, given the device addresses of the command's inputs,
// outputs and scratch memory. err is the first failure, after which nothing more is issued.
type emitter struct {
	q             *queue
	in, out, temp []nv.DevicePtr
	err           error
}

// do makes a call and keeps its error, unless an earlier call failed.
func (e *emitter) do(call func() error) {
	if e.err == nil {
		e.err = call()
	}
}

// plan lays out the device memory of a list of commands: one block with all inputs and then all
// outputs, and scratch memory that each command uses in turn.
type plan struct {
	commands        []*command
	inputs, outputs int64
	scratch         int64
	first, common   nv.DevicePtr // addresses of the block and of the scratch memory
}

// alignment is the alignment in bytes of each piece of memory, the same as that of the driver's
// allocations.
const alignment = 256

func aligned(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

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

// ioBytes returns the size in bytes of the block of inputs and outputs.
func (p *plan) ioBytes() int64 { return p.inputs + p.outputs }

// check returns the first error of the checks of the inputs.
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

// read writes all inputs to host memory, laid out as in the device block.
func (p *plan) read(to []byte) {
	for _, c := range p.commands {
		for _, in := range c.in {
			in.read(to[:in.bytes])
			to = to[aligned(in.bytes):]
		}
	}
}

// fetch waits for the work and passes the outputs to their commands. Without outputs it does not
// wait.
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
