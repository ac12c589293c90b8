//go:build linux

// Command large measures how long import, run and predict take with a large Parquet file, and how much memory. pyarrow
// makes the file, in the interpreter that AMTRL_PYTHON names, or python3. Everything is in one folder, which is removed
// at the end.
package main

import (
	"embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/bench/internal/compare"
)

//go:embed make.py
var scripts embed.FS

func main() {
	rows := flag.Int("rows", 10_000_000, "rows of the file")
	width := flag.Int("width", 384, "width of an embedding of float16")
	in := flag.String("in", os.TempDir(), "where to make the folder; it takes twice the size of the file")
	flag.Parse()
	if err := run(*rows, *width, *in); err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}

func run(rows, width int, in string) error {
	dir, err := os.MkdirTemp(in, "amtrl-large")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, scripts); err != nil {
		return err
	}
	program := filepath.Join(dir, "amtrl")
	if err := show(exec.Command("go", "build", "-o", program, "./cmd/amtrl")); err != nil {
		return err
	}
	file := filepath.Join(dir, "rows.parquet")
	begin := time.Now()
	python := compare.Python("AMTRL_PYTHON")
	if err := show(exec.Command(python, filepath.Join(dir, "make.py"), file, fmt.Sprint(rows), fmt.Sprint(width))); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("%d rows of %d float16 in %.1f GB of Parquet, made in %.0f s; %d threads\n\n", rows, width, float64(info.Size())/1e9,
		time.Since(begin).Seconds(), compare.Threads())
	t := compare.NewTable("step", "seconds", "of a processor", "MB/s of Parquet", "memory, MiB", "with mapped pages, MiB")
	for _, step := range []struct {
		name string
		args []string
	}{
		{"data init", []string{"data", "init", file, "--target", "shop 49", "--out", filepath.Join(dir, "dataset.yaml"), "--quiet"}},
		{"data import", []string{"data", "import", filepath.Join(dir, "dataset.yaml"), "--out", filepath.Join(dir, "data"), "--quiet"}},
		{"run", []string{"run", "--backend", "cpu", "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "run"), "--quiet"}},
		{"predict", []string{"predict", "--backend", "cpu", filepath.Join(dir, "run"), file, "--out", filepath.Join(dir, "predicted.parquet"),
			"--quiet"}},
	} {
		begin := time.Now()
		c := exec.Command(program, step.args...)
		own, all, err := measure(c)
		if err != nil {
			return err
		}
		seconds := time.Since(begin).Seconds()
		busy := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		t.AppendRow(table.Row{step.name, fmt.Sprintf("%.1f", seconds), fmt.Sprintf("%.1f", busy.Seconds()),
			fmt.Sprintf("%.0f", float64(info.Size())/1e6/seconds), own >> 20, all >> 20})
	}
	t.Render()
	return nil
}

// show runs a command whose messages are shown to the user.
func show(c *exec.Cmd) error {
	c.Stderr = os.Stderr
	return c.Run()
}

// measure runs a command and returns the most memory that it had, in bytes: own is without and all is with the pages of
// mapped files, which the system takes back where it needs memory.
func measure(c *exec.Cmd) (own, all int64, err error) {
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-done:
			tick.Stop()
			return own, all, err
		case <-tick.C:
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid)) // it may have ended
			own, all = max(own, field(raw, "RssAnon:")), max(all, field(raw, "VmRSS:"))
		}
	}
}

// field returns, in bytes, the number of kibibytes called name in the text of /proc/PID/status.
func field(raw []byte, name string) int64 {
	_, rest, _ := strings.Cut(string(raw), name)
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(words[0], 10, 64)
	return n << 10
}
