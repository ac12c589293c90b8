package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/report"
)

func dataInfoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "describe a data set: pools, tasks, splits, hash",
		ArgsUsage: "[FOLDER]",
		Flags:     slices.Concat(dataFlags(runDigits), []cli.Flag{formatFlag(), jsonFlag("the description")}),
		Action:    dataInfo,
	}
}

// dataDescription is what --json prints.
type dataDescription struct {
	Name   string            `json:"name"`
	SHA256 string            `json:"sha256"`
	Labels string            `json:"labels"`
	Cols   int               `json:"cols"`
	Bytes  int64             `json:"bytes"`
	Pools  []poolDescription `json:"pools"`
	Tasks  []taskDescription `json:"tasks"`
}

type poolDescription struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Type string `json:"type"`
	// Height and Width are absent where rows are not images of one channel.
	Height int `json:"height,omitempty"`
	Width  int `json:"width,omitempty"`
	Tasks  int `json:"tasks"`
	// Train and Test are the rows of its first task.
	Train int `json:"train"`
	Test  int `json:"test"`
}

type taskDescription struct {
	Name  string `json:"name"`
	Pool  string `json:"pool"`
	Train int    `json:"train"`
	Test  int    `json:"test"`
}

func dataInfo(c *cli.Context) error {
	if c.NArg() > 1 {
		return misuse(c, "expected at most one folder, found %d arguments", c.NArg())
	}
	if c.NArg() == 1 {
		if given(c, "data") {
			return misuse(c, "--data and the folder %q exclude each other", c.Args().First())
		}
		folder := c.Args().First()
		if folder == dataDigits || isSynthetic(folder) {
			folder = "." + string(filepath.Separator) + folder
		}
		if err := c.Set("data", folder); err != nil {
			return err
		}
	}
	if err := checkData(c); err != nil {
		return err
	}
	format, err := tableFormat(c)
	if err != nil {
		return err
	}
	set, err := openData(c)
	if err != nil {
		return err
	}
	d, err := unlessInterrupted(c, func() (dataDescription, error) { return describe(set), nil })
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return emitJSON(c, d)
	}
	facts := report.Table{Header: []string{"data", d.Name}, Rows: [][]string{
		{"sha256", d.SHA256},
		{"labels", d.Labels},
		{"width of a row", strconv.Itoa(d.Cols)},
		{"size", fmt.Sprintf("%.1f MiB", float64(d.Bytes)/(1<<20))},
		{"tasks", fmt.Sprintf("%d: %s", len(d.Tasks), shorten(taskNames(set)))},
	}}
	pools := report.Table{Header: []string{"pool", "rows", "type", "image", "tasks", "train", "test"}, Right: []int{1, 4, 5, 6}}
	for _, p := range d.Pools {
		image := "-"
		if p.Height > 0 {
			image = fmt.Sprintf("%d by %d", p.Height, p.Width)
		}
		pools.Rows = append(pools.Rows, []string{p.Name, report.Count(float64(p.Rows)), p.Type, image, strconv.Itoa(p.Tasks),
			report.Count(float64(p.Train)), report.Count(float64(p.Test))})
	}
	return emit(c, facts.Render(format)+"\n"+pools.Render(format))
}

func describe(set *dataset.Set) dataDescription {
	d := dataDescription{Name: set.Name, SHA256: set.Hash(), Labels: "numbers (regression)", Cols: set.Pools[0].Cols}
	switch {
	case set.Binary:
		d.Labels = "0 and 1 (one class against the rest)"
	case set.Model != nil:
		d.Labels = fmt.Sprintf("numbers of a known linear model, K = %d, sigma = %g", set.Model.K, set.Model.Sigma)
	}
	for _, p := range set.Pools {
		kind, size := "float32", int64(4)
		switch {
		case p.U8 != nil:
			kind, size = "uint8", 1
		case p.F16 != nil:
			kind, size = "float16", 2
		}
		d.Bytes += size * int64(p.Rows) * int64(p.Cols)
		d.Pools = append(d.Pools, poolDescription{Name: p.Name, Rows: p.Rows, Type: kind, Height: p.Height, Width: p.Width})
	}
	for i := range set.Tasks {
		t := &set.Tasks[i]
		p := &d.Pools[t.Pool]
		if p.Tasks++; p.Tasks == 1 {
			p.Train, p.Test = len(t.Train), len(t.Test)
		}
		d.Tasks = append(d.Tasks, taskDescription{t.Name, p.Name, len(t.Train), len(t.Test)})
	}
	return d
}

func taskNames(set *dataset.Set) []string {
	names := make([]string, len(set.Tasks))
	for i := range set.Tasks {
		names[i] = set.Tasks[i].Name
	}
	return names
}
