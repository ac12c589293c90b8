package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// work is what run and sweep carry out: data, a device and an identity.
type work struct {
	set    *dataset.Set
	opened backend.Device
	id     runs.Identity
	dir    string
}

// newWork opens the device and settles the folder: --out, or one named after
// the work.
func newWork(c *cli.Context, set *dataset.Set, threads int, finish func(*runs.Identity), name func(digest string) string, cfg pipeline.Config) (*work, error) {
	choice, err := openBackend(c, threads)
	if err != nil {
		return nil, err
	}
	id := runs.NewIdentity(version().Version, set, choice, cfg)
	finish(&id)
	digest, err := id.Digest()
	if err != nil {
		return nil, err
	}
	w := &work{set: set, opened: choice.Device, id: id, dir: c.String("out")}
	if w.dir == "" {
		w.dir = name(digest[:8])
	}
	w.dir = filepath.Clean(w.dir)
	return w, nil
}

func (w *work) close() { w.opened.Close() }

// device places the data on the device.
func (w *work) device() (*pipeline.Resident, error) { return pipeline.NewResident(w.opened, w.set) }

// explain adds to an interruption how to go on.
func (w *work) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return interruption{"the same command goes on from the last finished step in " + w.dir}
	}
	return err
}
