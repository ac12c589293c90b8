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

// metadata are those of model.safetensors. What is empty is not there.
type metadata struct {
	target, method string
	sources        []string
	outputs        [][]string // the names of those of each source, and of the target, where sources are pools
	// The columns of tables, which program with which representation made the model, and how high and wide images are.
	id, version, representation, image string
	// sourceColumn says which source a row of a table is of, and own what it says of the target's.
	sourceColumn, own string
	features          []string
	words             []table.Words // that the last features but those of knots stand for
	knots             table.Knots   // of the first features, which the last ones stand for
	codes             []table.Codes // that stand for none in columns
	labels            []OutputColumn
	// means stand for missing features, spread is the standard deviation of each that was brought to a unit of its own, and centre is
	// representation.centre in all its digits.
	means, spread, centre []float64
	// low to high is the range of each column of a table, but words, over the target's samples, where spread is there.
	low, high []float64
	// samples is how many samples of the target these ranges are of.
	samples int
	// scale is what features of one byte are times where a program made the set, 0 for the usual: 1, and 1/255 where data are no tables.
	scale float64
}

// fields are the keys of the metadata, and what is kept under each: text, or what is JSON there.
func (m *metadata) fields() map[string]any {
	return map[string]any{"target": &m.target, "method": &m.method, "sources": &m.sources, "outputs": &m.outputs, "id": &m.id,
		"version": &m.version, "representation": &m.representation, "image": &m.image, "features": &m.features, "words": &m.words,
		"knots": &m.knots, "codes": &m.codes, "labels": &m.labels, "low": &m.low, "high": &m.high, "means": &m.means,
		"spread": &m.spread, "centre": &m.centre, "scale": &m.scale, "source_column": &m.sourceColumn,
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

// decodeTensors reads the tensors of a model and what its metadata say.
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

// describe takes up what predicting from somebody's tables needs, and the columns of labels where the data name them or the model is alone.
func (m *metadata) describe(p *pipeline.Problem, version string, alone bool) {
	named := slices.ContainsFunc(p.Target.Tasks, func(t int) bool { return p.Set.Tasks[t].Output.Name != "" })
	// Of data in the layout of MNIST-C evaluation.jsonl lists the classes, which preset paper and its prior are without.
	unlisted := (p.Config.Preset == pipeline.PresetPaper || p.Config.Head.Prior == pipeline.PriorIdentity) && len(p.Target.Tasks) > 1
	c := p.Set.Columns
	if c != nil || named || unlisted || alone {
		m.labels = outputColumns(p.Set, p.Target.Tasks)
	}
	if c == nil && named {
		m.scale = byteScale(p.Set.Pools)
	}
	if c != nil {
		m.id, m.version, m.representation = c.ID, version, p.Config.Representation
		m.features, m.words, m.means = slices.Concat([]string{}, c.Features), c.Words, c.Means
		m.knots, m.codes, m.spread = c.Knots, c.Codes, c.Spread
		if m.low, m.high = ranges(p); len(m.low) > 0 {
			m.samples = len(p.TargetSamples().Rows)
		}
		if m.sourceColumn = c.Source; c.Source != "" {
			m.own = p.Set.Pools[p.Target.Pool].Name
		}
	}
	if p.Config.Representation == pipeline.ClassConv {
		m.image = fmt.Sprintf("%d,%d", p.Set.Pools[0].Height, p.Set.Pools[0].Width)
	}
}

// byteScale is the scale of pools of bytes, 0 for 1/255, and 1 where there are no such pools.
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
