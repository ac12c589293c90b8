package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// Settings are those of the run, or the default ones of a folder that has a model alone. Estimates take settings that are complete.
func TestSettingsAndEstimates(t *testing.T) {
	dev, id, dir, files := ran(t, smallSet(29, 4, 200, 5, false))
	var opened backend.Device
	open := func() (device backend.Device, err error) {
		opened, err = cpu.Open(1)
		return opened, err
	}
	must.Hold(t, must.Get(Settings(dir))(t).K == id.Config.K, "the settings of a run are others")
	alone := restored(t, map[string]string{"model.safetensors": files["model.safetensors"]})
	cfg := must.Get(Settings(alone))(t)
	must.Equal(t, cfg.Preset, pipeline.PresetDefault, "the preset of a model")
	complete := cfg.Complete(dev.Set)
	must.Hold(t, complete.Conv != nil || complete.Schedule.Theory != nil, "complete settings have none of another kind")
	for _, folder := range []string{dir, alone} {
		e := must.Get(EstimateRelevance(folder, complete, open))(t)
		must.Equal(t, len(e.Sources), 3, "sources")
		if opened != nil {
			must.Is(t, must.Err(opened.NewQueue()), backend.ErrClosed, "a device after the estimate")
		}
	}
	must.Hold(t, opened != nil, "no device was opened")
	must.Hold(t, must.Err(EstimateRelevance(alone, complete, nil)) != nil, "nothing opens a device")
}

// Programs tell errors of folders apart without reading them.
func TestErrorsOfFolders(t *testing.T) {
	dev, id, dir, _ := ran(t, smallSet(29, 4, 200, 5, false))
	other := id
	other.Config.K++
	empty, missing := t.TempDir(), filepath.Join(t.TempDir(), "none")
	open := func() (backend.Device, error) { return cpu.Open(1) }
	there := filepath.Join(empty, "there.csv")
	must.Do(t, os.WriteFile(there, nil, 0o644))
	_, none := Settings(missing)
	_, nothing := Settings(empty)
	_, estimate := EstimateRelevance(missing, must.Get(Settings(dir))(t), open)
	q := must.Get(dev.Device.NewQueue())(t)
	defer q.Close()
	_, _, predictor := OpenPredictor(q, empty)
	for what, c := range map[string]struct{ err, is error }{
		"settings of no folder":   {none, fs.ErrNotExist},
		"settings of nothing":     {nothing, fs.ErrNotExist},
		"an estimate":             {estimate, fs.ErrNotExist},
		"a predictor":             {predictor, fs.ErrNotExist},
		"a table that is there":   {WriteTable(there, func(table.Writer) error { return nil }), fs.ErrExist},
		"another run":             {must.Err(Run(t.Context(), dev, other, dir, quiet)), ErrOtherSettings},
		"another run, looked at":  {other.CheckRunFolder(dir), ErrOtherSettings},
		"another sweep":           {must.Err(Sweep(t.Context(), dev, other, dir, 1, nil)), ErrOtherSettings},
		"a run without data":      {must.Err(Run(t.Context(), nil, id, dir, quiet)), errNoData},
		"a sweep without data":    {must.Err(Sweep(t.Context(), nil, id, dir, 1, nil)), errNoData},
		"a sweep with data first": {must.Err(SweepAcross(t.Context(), []*pipeline.Resident{dev, nil}, id, dir, 1, nil, nil)), errNoData},
	} {
		must.Hold(t, errors.Is(c.err, c.is), "%s: %v is not %v", what, c.err, c.is)
	}
}
