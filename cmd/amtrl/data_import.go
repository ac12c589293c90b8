package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
)

// folder returns the folder of the data that --data names. A manifest is imported first, unless the cache has its
// import, and the folder of the import is returned. For digits and synthetic data it returns "".
func (o *dataOptions) folder(ctx context.Context, out *output) (string, error) {
	path := o.data.V
	if path == dataDigits || isSynthetic(path) {
		return "", nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: expected %s, %s, %s, a manifest or a folder, found no such file", path, dataDigits, dataSparse, dataRandom)
	}
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return path, nil
	}
	if format := table.FormatOf(path); format != "" && format != table.JSON { // a manifest can be JSON
		return "", fmt.Errorf("%s: expected a manifest, found a %s file: amtrl data init %s makes one", path, format, text.ShellQuote(path))
	}
	if err := table.CheckSpreadsheet(path); err != nil {
		return "", err
	}
	m, err := manifest.Read(path)
	if err != nil {
		return "", err
	}
	p := &importProgress{out: out}
	dir, err := columnar.Cached(ctx, m, func(dir string, damaged error) {
		if damaged != nil {
			out.note("the import of %s is damaged: %v", path, damaged)
		}
		out.note("importing %s into %s", path, dir)
	}, p.step)
	p.meter.close()
	return dir, interruptedImport(err)
}

// tablesFault returns the error of a folder that cannot be read as data where it has a manifest or tables in it, and nil where it has none.
func tablesFault(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "dataset.yaml" })
	if at < 0 {
		at = slices.IndexFunc(entries, func(e fs.DirEntry) bool {
			return !e.IsDir() && slices.Contains([]string{table.Parquet, table.CSV, table.TSV, table.JSONL}, table.FormatOf(e.Name()))
		})
	}
	if at < 0 {
		return nil
	}
	name := entries[at].Name()
	if path := filepath.Join(dir, name); name == "dataset.yaml" {
		return fmt.Errorf("%s: expected a folder that data import wrote, or the layout of MNIST-C, found a manifest in it: --data %s", dir,
			text.ShellQuote(path))
	}
	return fmt.Errorf("%s: expected a folder that data import wrote, or the layout of MNIST-C, found tables, such as %s: amtrl data init %s "+
		"makes a manifest", dir, text.OneLine(name, 80), text.ShellQuote(dir))
}

// interruptedImport turns a cancellation into an interruption which says that nothing was written. It returns other errors unchanged.
func interruptedImport(err error) error {
	if errors.Is(err, context.Canceled) {
		return interruption("nothing was written")
	}
	return err
}

type importProgress struct {
	out   *output
	meter *meter
}

func (p *importProgress) step(done, total int64, doing string) {
	if p.meter == nil {
		p.meter = newMeter(p.out, float64(total))
	}
	p.meter.set(float64(done), doing)
}

type importOptions struct {
	manifest string
	out      flags.Value[string]
	output
}

func (o *importOptions) addFlags(set *flags.Set) {
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FOLDER` to write (required)", "")
	o.addQuiet(set)
}

func (o *importOptions) readArguments(c *cli.Context) error {
	return takeArguments(c, "expected one manifest, found %d arguments", &o.manifest)
}

func (o *importOptions) check() error { return flags.Required(o.out, "the folder to write") }

func (o *importOptions) run(ctx context.Context) error {
	m, err := manifest.Read(o.manifest)
	if err != nil {
		return err
	}
	p := &importProgress{out: &o.output}
	err = columnar.Import(ctx, m, o.out.V, p.step)
	p.meter.close()
	if err != nil {
		return interruptedImport(err)
	}
	o.note("wrote %s", o.out.V)
	return nil
}
