package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
)

type devicesOptions struct {
	timeout timeoutOption
	output
}

func (o *devicesOptions) addFlags(set *flags.Set) {
	o.timeout.addFlags(set)
	o.addGroup(set, "the list", o.addFormat)
}

func (o *devicesOptions) check() error { return cmp.Or(o.output.check(), o.timeout.check()) }

type deviceState struct {
	Backend string `json:"backend"`
	Usable  bool   `json:"usable"`
	Device  string `json:"device,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Threads int    `json:"threads,omitempty"`
	Memory  int64  `json:"memory_bytes,omitempty"`
	// CUDA describes a CUDA device, Driver and Libraries the software that runs it.
	CUDA      *cuda.DeviceInfo   `json:"cuda,omitempty"`
	Driver    string             `json:"driver,omitempty"`
	Libraries []cuda.LibraryInfo `json:"libraries,omitempty"`
	// Reason says why a backend cannot be used.
	Reason string `json:"reason,omitempty"`
}

func (o *devicesOptions) run(context.Context) error {
	list := append([]deviceState{cpuState()}, cudaStates(o.timeout.limit())...)
	if o.json.V {
		return o.emitJSON(list)
	}
	t := report.Table{Header: []string{"backend", "device", "usable", "name", "memory", "detail"}, Right: []int{1, 4}}
	for _, d := range list {
		ordinal, usable := "", "no"
		if d.CUDA != nil {
			ordinal = strconv.Itoa(d.CUDA.Ordinal)
		}
		if d.Usable {
			usable = "yes"
		}
		t.Rows = append(t.Rows, []string{d.Backend, ordinal, usable, d.Device, memory(d.Memory), cmp.Or(d.Reason, d.Detail)})
	}
	text := t.Render(o.format)
	if i := slices.IndexFunc(list, func(d deviceState) bool { return len(d.Libraries) > 0 }); i >= 0 {
		t := report.Table{Header: []string{"library", "version", "path"}}
		for _, l := range list[i].Libraries {
			t.Rows = append(t.Rows, []string{l.Name, l.Version, l.Path})
		}
		text += "\n" + t.Render(o.format)
	}
	return o.emit(text)
}

func cpuState() deviceState {
	d, err := cpu.Open(0)
	if err != nil {
		return deviceState{Backend: "cpu", Reason: oneLine(err.Error())}
	}
	defer d.Close()
	info := d.Info()
	detail := fmt.Sprintf("%s, %s", info.Detail, text.Several(info.Threads, "thread"))
	return deviceState{
		Backend: info.Backend, Usable: true, Device: info.Device, Detail: detail, Threads: info.Threads, Memory: info.MemoryBytes,
	}
}

func cudaStates(limit time.Duration) []deviceState {
	r := probeCUDA(limit)
	if r.Reason != "" {
		return []deviceState{{Backend: "cuda", Reason: r.Reason}}
	}
	var list []deviceState
	for _, d := range r.Devices {
		list = append(list, deviceState{
			Backend: "cuda", Usable: true, Device: d.Name, Memory: d.MemoryBytes,
			Detail: fmt.Sprintf("compute capability %s, %d multiprocessors, driver for CUDA %s", d.ComputeCapability, d.Multiprocessors, r.Driver),
			CUDA:   &d, Driver: r.Driver, Libraries: r.Libraries,
		})
	}
	return list
}

func memory(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// Bounds that catch mistyped numbers.
const (
	maxThreads = 4096
	maxDevice  = 1023
)

type deviceOptions struct {
	backend         flags.Value[string]
	device, threads flags.Value[int]
	tf32            flags.Value[bool]
	opening         func() (backend.Device, error) // set by openEarly
}

func (o *deviceOptions) addFlags(set *flags.Set) {
	set.Group(groupDevice)
	set.Text(&o.backend, "backend", "auto, cpu or cuda; auto takes CUDA where it works", "auto")
	set.Int(&o.device, "device", "number of the CUDA device, from 0, of those that CUDA_VISIBLE_DEVICES leaves", 0)
	set.Bool(&o.tf32, "tf32", "let CUDA round the factors of float32 matrix products and convolutions to TF32, 10 bits of fraction")
	threads := "threads that the CPU backend, and what is computed on the host, may use; results do not depend on it"
	set.Int(&o.threads, "threads", threads, 0).DefaultText = "all processors"
}

func (o *deviceOptions) check() error {
	err := flags.OneOf(o.backend, "auto", "cpu", "cuda")
	if o.backend.V == "cpu" {
		err = flags.Refuse("--backend cpu", "--backend cuda", o.device.Origin, o.tf32.Origin)
	}
	return cmp.Or(err, flags.Between(o.device, 0, maxDevice), flags.Between(o.threads, 0, maxThreads))
}

// openEarly starts to open the CUDA device in the background, while the data are read, since this takes most of a
// second. It does nothing with --backend cpu. Errors are left for open to report.
func (o *deviceOptions) openEarly() {
	if o.backend.V != "cpu" {
		o.opening = sync.OnceValues(func() (backend.Device, error) { return o.openCUDA(o.threads.V) })
		go o.opening()
	}
}

func (o *deviceOptions) openCUDA(threads int) (backend.Device, error) {
	return cuda.Open(cuda.Options{Device: o.device.V, TF32: o.tf32.V, Threads: threads})
}

// open opens the device that --backend asks for and notes which one it took. --device on the command line asks for CUDA.
func (o *deviceOptions) open(threads int, out *output) (backend.Choice, error) {
	name := o.backend.V
	if name == "auto" && o.device.Given {
		name = "cuda"
	}
	openCUDA := func() (backend.Device, error) { return o.openCUDA(threads) }
	if o.opening != nil {
		openCUDA = o.opening
	}
	choice, err := backend.Select(name, func() (backend.Device, error) { return cpu.Open(threads) }, openCUDA)
	if err != nil {
		return choice, err
	}
	productThreads.Store(int64(threads))
	info := choice.Device.Info()
	out.note("backend %s (%s): %s", info.Backend, info.Device, choice.Reason)
	return choice, nil
}
