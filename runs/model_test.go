package runs

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// Where active is not among the methods, the model is that of the first method.
func TestModelIsTheFirstMethods(t *testing.T) {
	set := smallSet(29, 4, 200, 5, false)
	dev := openDevice(t, 1, set)
	cfg := smallConfig()
	cfg.Methods, cfg.Nu = []string{pipeline.Known, pipeline.Uniform}, map[string]float64{"bytes_0": 1}
	dir := t.TempDir()
	res := mustRun(t, dev, identityOf(dev, cfg, []string{"bytes_2"}, 1), dir)
	m := must.Get(ReadModel(dir))(t)
	if m.Method != pipeline.Known {
		t.Fatalf("%+v", m)
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

// zeros returns a tensor of zeros with the given shape.
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
		dir := restored(t, map[string]string{"model.safetensors": raw})
		must.Fail(t, what, must.Err(ReadModel(dir)), filepath.Join(dir, "model.safetensors"))
	}
	dir := restored(t, map[string]string{"model.safetensors": encode(func(ts tensors, _ map[string]string) tensors { return ts })})
	must.Get(ReadModel(dir))(t)
	if _, err := ReadModel(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// The model on disk errs on the test rows as the score says.
func TestConvModel(t *testing.T) {
	set := smallImages(6, 5, 400, 6, 8)
	dev := openDevice(t, 2, set)
	cfg := smallConvConfig()
	id := identityOf(dev, cfg, []string{set.Tasks[1].Name}, 3)
	dir := t.TempDir()
	res := mustRun(t, dev, id, dir)
	tensors, _ := must.Get2(safetensors.Decode([]byte(foldertest.Read(t, dir)["model.safetensors"])))(t)
	host := pipelinetest.NewHostNet(6, 8, tensors)
	m, err := ReadModel(dir)
	if err != nil || m.K != cfg.K || m.Representation != nil || len(m.Sources) != 4 {
		t.Fatalf("the model is %+v, %v", m, err)
	}
	wrong := 0
	for _, row := range set.Tasks[1].Test {
		z, _ := host.Features(features(set, 1, int(row)))
		wrong += b2i((dot(z, wide(m.Head)) > 0.5) != (set.Tasks[1].Labels[row] > 0.5))
	}
	if score := res.Method(pipeline.Active).Score; score.Value != float64(wrong)/float64(len(set.Tasks[1].Test)) {
		t.Errorf("the model errs on %d test rows, recorded %+v", wrong, score)
	}
	for field, change := range map[string]func(*pipeline.Config){
		"config.conv.rate":     func(c *pipeline.Config) { c.Conv.Rate = 1 },
		"config.conv.channels": func(c *pipeline.Config) { c.Conv.Channels = []int{3, 5} },
	} {
		other := id
		conv := *cfg.Conv
		other.Config.Conv = &conv
		change(&other.Config)
		other.Config.Methods = []string{pipeline.Active, pipeline.Uniform}
		must.Fail(t, field+" changed", must.Err(Run(t.Context(), dev, other, dir, quiet)), field, "config.json")
	}
	if nu, _, err := m.Relevance(pipelinetest.NewQueue(t, dev.Device), cfg.Relevance); err != nil || len(nu) != 4 ||
		pipelinetest.Norm(nu) == 0 {
		t.Errorf("the relevance is %v, %v", nu, err)
	}
}

// Data and settings with which a network cannot be trained are refused before a folder is made.
func TestConvRefuses(t *testing.T) {
	images := openDevice(t, 1, smallImages(7, 4, 200, 6, 7))
	plain := openDevice(t, 1, smallSet(7, 4, 200, 5, true))
	mixed := smallImages(7, 4, 200, 6, 7)
	mixed.Pools[1].Height, mixed.Pools[1].Width = 7, 6
	model := must.Get(dataset.RandomLinear(5, 2, 4, 0.3, 500, 9))(t)
	for what, c := range map[string]struct {
		dev    *pipeline.Resident
		change func(*pipeline.Config)
		says   string
	}{
		"rows that are no images": {plain, func(*pipeline.Config) {}, "needs images: "},
		"images of two sizes":     {openDevice(t, 1, mixed), func(*pipeline.Config) {}, "6 by 7"},
		"a linear model":          {openDevice(t, 1, model), func(*pipeline.Config) {}, "linear model"},
		"too many layers":         {images, func(c *pipeline.Config) { c.Conv.Channels = []int{2, 2, 2} }, "layer 3"},
		"a wide k":                {images, func(c *pipeline.Config) { c.K = 5 }, "at most the 4 outputs"},
		"a large batch":           {images, func(c *pipeline.Config) { c.Conv.Batch = 1000 }, "a batch of 1000"},
		"no layers":               {images, func(c *pipeline.Config) { c.Conv.Channels = nil }, "0 layers"},
		"no channels":             {images, func(c *pipeline.Config) { c.Conv.Channels = []int{0} }, "0 channels"},
		"no passes":               {images, func(c *pipeline.Config) { c.Conv.Passes = 0 }, "0 passes"},
		"no batch":                {images, func(c *pipeline.Config) { c.Conv.Batch = 0 }, "batch of 0"},
		"rate 0":                  {images, func(c *pipeline.Config) { c.Conv.Rate = 0 }, "rate is 0"},
		"NaN rate":                {images, func(c *pipeline.Config) { c.Conv.Rate = math.NaN() }, "rate is NaN"},
		"negative decay":          {images, func(c *pipeline.Config) { c.Conv.Decay = -1 }, "decay is -1"},
		"all set aside":           {images, func(c *pipeline.Config) { c.Conv.Validation = 1 }, "validation is 1"},
		"no patience":             {images, func(c *pipeline.Config) { c.Conv.Patience = 0 }, "patience is 0"},
		"no settings":             {images, func(c *pipeline.Config) { c.Conv = nil }, "no settings"},
		"both settings":           {images, func(c *pipeline.Config) { c.ERM = smallConfig().ERM }, "settings of linear"},
		"another class":           {images, func(c *pipeline.Config) { c.Representation = "mlp" }, "linear or conv"},
		"linear with a network":   {images, func(c *pipeline.Config) { c.Representation = pipeline.ClassLinear }, "settings of conv"},
		"the theorem": {images, func(c *pipeline.Config) {
			c.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleTheory, Epochs: 2, Theory: &pipeline.Theory{Delta: 0.1, R: 1, SigmaMin: 1}}
		}, "theory"},
	} {
		id := identityOf(c.dev, smallConvConfig(), []string{c.dev.Set.Tasks[2].Name}, 1)
		c.change(&id.Config)
		dir := filepath.Join(t.TempDir(), "new")
		must.Fail(t, what, must.Err(Run(t.Context(), c.dev, id, dir, quiet)), c.says)
		must.Absent(t, dir)
	}
}
