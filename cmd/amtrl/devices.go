package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/report"
)

func devicesCommand() *cli.Command {
	return &cli.Command{
		Name:   "devices",
		Usage:  "list the devices that can be used, and why others cannot",
		Flags:  []cli.Flag{formatFlag(), jsonFlag("the list")},
		Action: devices,
	}
}

// deviceState is one row of the list.
type deviceState struct {
	Backend string `json:"backend"`
	Usable  bool   `json:"usable"`
	Device  string `json:"device,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Threads int    `json:"threads,omitempty"`
	Memory  int64  `json:"memory_bytes,omitempty"`
	// Reason says why a backend cannot be used.
	Reason string `json:"reason,omitempty"`
}

func devices(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	format, err := tableFormat(c)
	if err != nil {
		return err
	}
	var list []deviceState
	for _, name := range []string{"cpu", "cuda"} {
		list = append(list, probe(name))
	}
	if c.Bool("json") {
		return emitJSON(c, list)
	}
	t := report.Table{Header: []string{"backend", "usable", "device", "threads", "memory", "detail"}, Right: []int{3, 4}}
	for _, d := range list {
		if !d.Usable {
			t.Rows = append(t.Rows, []string{d.Backend, "no", "", "", "", d.Reason})
			continue
		}
		t.Rows = append(t.Rows, []string{d.Backend, "yes", d.Device, zeroUnknown(d.Threads, strconv.Itoa(d.Threads)), memory(d.Memory), d.Detail})
	}
	return emit(c, t.Render(format))
}

func probe(name string) deviceState {
	choice, err := backend.Select(name, openCPU(0), openCUDA)
	if err != nil {
		return deviceState{Backend: name, Reason: oneLine(err.Error())}
	}
	defer choice.Backend.Close()
	info := choice.Backend.Info()
	return deviceState{Backend: name, Usable: true, Device: info.Device, Detail: info.Detail, Threads: info.Threads, Memory: info.MemoryBytes}
}

func memory(bytes int64) string {
	return zeroUnknown(int(bytes), fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)))
}

func zeroUnknown(v int, text string) string {
	if v == 0 {
		return ""
	}
	return text
}
