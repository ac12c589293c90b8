package runs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

// metadata holds the metadata of model.safetensors. Empty fields are not written.
type metadata struct {
	target, method string
	sources        []string
	outputs        [][]string // the names of the outputs of each source, then of the target, where sources are pools
	// The column of ids in tables, the version of the program and the representation of the model, and "height,width"
	// of images.
	id, version, representation, image string
	// sourceColumn is the column that names the source of each row of a table, and own its value for the target.
	sourceColumn, own string
	features, logs    []string
	words             []table.Words // of the last features before those that are computed
	codes             []table.Codes // numbers that stand for a missing cell, by column
	labels            []OutputColumn
	table.Derived     // the last features
	// means replace missing features, spread is the standard deviation of each feature that was scaled to a unit of its
	// own, and centre is representation.centre before rounding to float32.
	means, spread, centre []float64
	// low to high is the range of each column of a table, without words, over the target's samples, where there is a
	// spread.
	low, high []float64
	// samples is the number of the target's samples that these ranges are over.
	samples int
	// scale is the factor of features of one byte where a program made the set. 0 stands for the usual one: 1 for
	// tables, 1/255 for other data.
	scale float64
}

// fields returns the keys of the metadata with a pointer to what is kept under each: a string as text, all else as
// JSON.
func (m *metadata) fields() map[string]any {
	return map[string]any{"target": &m.target, "method": &m.method, "sources": &m.sources, "outputs": &m.outputs, "id": &m.id,
		"version": &m.version, "representation": &m.representation, "image": &m.image, "features": &m.features, "logs": &m.logs,
		"words": &m.words, "knots": &m.Knots, "factors": &m.Factors, "codes": &m.codes, "labels": &m.labels, "low": &m.low,
		"high": &m.high, "means": &m.means, "spread": &m.spread, "centre": &m.centre, "scale": &m.scale, "source_column": &m.sourceColumn,
		"own": &m.own, "samples": &m.samples}
}

func (m *metadata) encode() (map[string]string, error) {
	out := map[string]string{"format": "amtrl"}
	for key, field := range m.fields() {
		s, is := field.(*string)
		switch {
		case reflect.ValueOf(field).Elem().IsZero():
		case is:
			out[key] = *s
		default:
			js, err := json.Marshal(field)
			if err != nil {
				return nil, err
			}
			out[key] = string(js)
		}
	}
	return out, nil
}

// decodeTensors reads the tensors and the metadata of a model.
func decodeTensors(raw []byte) (tensors []safetensors.Tensor, m metadata, err error) {
	tensors, stored, err := safetensors.Decode(raw)
	if err != nil {
		return nil, m, err
	}
	for key, field := range m.fields() {
		if s, is := field.(*string); is {
			*s = stored[key]
		} else if stored[key] != "" {
			if err := json.Unmarshal([]byte(stored[key]), field); err != nil {
				return nil, m, fmt.Errorf("metadata %s: %w", key, err)
			}
		}
	}
	return tensors, m, nil
}

// describe fills in what predicting from tables needs. It sets the columns of labels where the data name them, where
// evaluation.jsonl does not list the classes, and where the model is alone, without the other files of a run.
func (m *metadata) describe(p *pipeline.Problem, version string, alone bool) {
	named := slices.ContainsFunc(p.Target.Tasks, func(t int) bool { return p.Set.Tasks[t].Output.Name != "" })
	// For data in the layout of MNIST-C, evaluation.jsonl lists the classes; with preset paper or its prior there is no
	// such file.
	unlisted := (p.Config.Preset == pipeline.PresetPaper || p.Config.Head.Prior == pipeline.PriorIdentity) && len(p.Target.Tasks) > 1
	c := p.Set.Columns
	if c != nil || named || unlisted || alone {
		m.labels = outputColumns(p.Set, p.Target.Tasks)
	}
	if c == nil && named {
		m.scale = byteScale(p.Set.Pools)
	}
	if c != nil || named || alone {
		m.version = version
	}
	if c != nil {
		m.id, m.representation = c.ID, p.Config.Representation
		m.features, m.logs, m.words, m.means = slices.Concat([]string{}, c.Features), c.Logs, c.Words, c.Means
		m.Derived, m.codes, m.spread = c.Derived, c.Codes, c.Spread
		if m.low, m.high = ranges(p); len(m.low) > 0 {
			m.samples = len(p.TargetSamples().Rows)
		}
		if m.sourceColumn = c.Source; c.Source != "" {
			m.own = p.Set.Pools[p.Target.Pool].Name
		}
	}
	if p.Config.Representation == pipeline.ClassConv {
		m.image = imageSize{p.Set.Pools[0].Height, p.Set.Pools[0].Width}.String()
	}
}

// byteScale returns the scale of the pools of bytes, 0 for 1/255, and 1 where there are no such pools.
func byteScale(pools []*dataset.Pool) float64 {
	i := slices.IndexFunc(pools, func(p *dataset.Pool) bool { return p.U8 != nil })
	switch {
	case i < 0:
		return 1
	case pools[i].Scale == pixelScale:
		return 0
	}
	return float64(pools[i].Scale)
}
