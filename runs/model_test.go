package runs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

// Without an active run the model is the first method's.
func TestModelIsTheFirstMethods(t *testing.T) {
	set := smallSet(29, 4, 200, 5, false)
	dev := openDevice(t, 1, set)
	cfg := smallConfig()
	cfg.Methods, cfg.Nu = []string{pipeline.Known, pipeline.Uniform}, map[string]float64{"bytes_0": 1}
	dir := t.TempDir()
	res := mustRun(t, dev, identityOf(dev, cfg, []string{"bytes_2"}, 1), dir)
	m, err := ReadModel(dir)
	if err != nil || m.Method != pipeline.Known {
		t.Fatalf("%+v, %v", m, err)
	}
	p, mse := multiply(false, false, wide(m.Head), 1, wide(m.Representation), m.K), 0.0
	for _, row := range set.Tasks[2].Test {
		e := dot(p, features(set, 0, int(row))) - float64(set.Tasks[2].Labels[row])
		mse += e * e / float64(len(set.Tasks[2].Test))
	}
	if !near(res.Method(pipeline.Known).Score.Value/mse, 1, 1e-5) {
		t.Errorf("the model's mean squared error is %g, recorded %+v", mse, res.Method(pipeline.Known).Score)
	}
}

type tensors = []safetensors.Tensor

// zeros is a tensor of a shape.
func zeros(name string, shape ...int) safetensors.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return safetensors.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
}

func TestReadModelRefusesDamage(t *testing.T) {
	encode := func(change func(ts tensors, meta map[string]string) tensors) string {
		ts := tensors{zeros("representation.weight", 2, 3), zeros("sources.weight", 4, 2), zeros("target.weight", 1, 2)}
		meta := map[string]string{"sources": `["a","b","c","d"]`, "target": "t", "method": pipeline.Active}
		raw := must.Get(safetensors.Encode(change(ts, meta), meta))(t)
		return string(raw)
	}
	for what, raw := range map[string]string{
		"no sources":     encode(func(ts tensors, m map[string]string) tensors { delete(m, "sources"); return ts }),
		"wrong sources":  encode(func(ts tensors, m map[string]string) tensors { m["sources"] = `["a"]`; return ts }),
		"no head":        encode(func(ts tensors, _ map[string]string) tensors { return ts[:2] }),
		"no phi":         encode(func(ts tensors, _ map[string]string) tensors { return ts[1:] }),
		"phi a vector":   encode(func(ts tensors, _ map[string]string) tensors { ts[0].Shape = []int{6}; return ts }),
		"a head too big": encode(func(ts tensors, _ map[string]string) tensors { ts[2] = zeros("target.weight", 3); return ts }),
		"20,000 columns": encode(func(ts tensors, _ map[string]string) tensors {
			return tensors{zeros("representation.weight", 20000, 1), zeros("sources.weight", 4, 20000), zeros("target.weight", 1, 20000)}
		}),
		"empty": "",
	} {
		dir := t.TempDir()
		restore(t, dir, map[string]string{"model.safetensors": raw})
		if m, err := ReadModel(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "model.safetensors")) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v, want one line that names the file", what, m, err)
		}
	}
	dir := t.TempDir()
	restore(t, dir, map[string]string{"model.safetensors": encode(func(ts tensors, _ map[string]string) tensors { return ts })})
	if _, err := ReadModel(dir); err != nil {
		t.Errorf("undamaged: %v", err)
	}
	if _, err := ReadModel(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
