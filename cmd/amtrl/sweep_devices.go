package main

import (
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/pipeline"
)

const allDevices = "all"

// checkDevices refuses a --devices that is malformed or contradicts other flags.
func (o *sweepOptions) checkDevices() error {
	if !o.severalDevices() {
		return nil
	}
	if o.device.backend.V == "cpu" {
		return flags.Refuse("--backend cpu", "--backend cuda", o.devices.Origin)
	}
	if o.device.device.Given {
		return flags.Misuse("--device and --devices: expected one of them")
	}
	if o.devices.V == allDevices {
		return nil
	}
	if _, err := flags.Numbers(o.devices.V, maxDevice); err != nil {
		return flags.Misuse("--devices: %s, or all", err)
	}
	return nil
}

// severalDevices reports whether --devices takes effect: in the environment it gives way to --backend cpu.
func (o *sweepOptions) severalDevices() bool {
	return o.devices.Set && o.devices.V != "" && (o.devices.Given || o.device.backend.V != "cpu")
}

type openDevices struct {
	out     *output
	choice  backend.Choice // its Device is the first of all
	all     []backend.Device
	numbers []int // the CUDA numbers of all, if --devices takes effect
}

func (o *sweepOptions) open(threads int) (*openDevices, error) {
	d := &openDevices{out: &o.output}
	if !o.severalDevices() {
		var err error
		d.choice, err = o.device.open(threads, &o.output)
		d.all = []backend.Device{d.choice.Device}
		return d, err
	}
	numbers, err := o.deviceNumbers()
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		dev, err := cuda.Open(cuda.Options{Device: n, TF32: o.device.tf32.V, Threads: threads})
		if err != nil {
			d.close()
			return nil, err
		}
		d.all, d.numbers = append(d.all, dev), append(d.numbers, n)
		first, info := d.all[0].Info(), dev.Info()
		info.MemoryBytes = first.MemoryBytes // a display, or retired pages, take some of one device's
		if info != first {
			d.close()
			return nil, flags.Misuse("--devices: device %d is a %s (%s), device %d a %s (%s): expected one model, whose results are the same",
				numbers[0], first.Device, first.Detail, n, info.Device, info.Detail)
		}
	}
	productThreads.Store(int64(threads))
	d.choice = backend.Choice{Device: d.all[0], Reason: "asked for"}
	o.note("backend cuda (%d x %s): devices %v", len(d.all), d.choice.Device.Info().Device, numbers)
	return d, nil
}

func (o *sweepOptions) deviceNumbers() ([]int, error) {
	if o.devices.V != allDevices {
		return flags.Numbers(o.devices.V, maxDevice)
	}
	r := cuda.Probe("")
	var list []int
	for _, d := range r.Devices {
		list = append(list, d.Ordinal)
	}
	return list, r.Err
}

// residents returns the data on each device, where first is the copy that the first device already has. The pools are
// copied to the other devices concurrently.
func (d *openDevices) residents(first *pipeline.Resident) ([]*pipeline.Resident, error) {
	all := make([]*pipeline.Resident, len(d.all))
	all[0] = first
	var group errgroup.Group
	for i := range all[1:] {
		group.Go(func() (err error) {
			all[1+i], err = pipeline.NewResident(d.all[1+i], first.Set)
			return err
		})
	}
	return all, group.Wait()
}

func (d *openDevices) lost(device int, err error) {
	d.out.note("device %d is lost, its targets go to the others: %s", d.numbers[device], oneLine(err.Error()))
}

func (d *openDevices) close() (errs error) {
	for _, dev := range d.all {
		errs = errors.Join(errs, dev.Close())
	}
	return errs
}
