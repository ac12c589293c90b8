package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
)

// dataCheckOptions holds the options of data check, which are those of data info.
type dataCheckOptions struct{ infoOptions }

type checkResult struct {
	dataset.Description
	Oddities []dataset.Oddity `json:"oddities"`
	// Refused is the error with which a run with default settings would refuse the data, empty if it would take them.
	Refused string `json:"refused,omitempty"`
}

func (o *dataCheckOptions) run(ctx context.Context) error {
	o.data.verify = true
	set, err := o.data.open(ctx, 0, &o.output)
	if err != nil {
		return err
	}
	done := o.noteLate("looking for what is odd, and computing the hash of the data")
	res, err := unlessInterrupted(ctx, func() (checkResult, error) {
		hints, err := o.groupHints()
		return checkResult{Description: set.Describe(), Oddities: append(set.Oddities(), hints...)}, err
	})
	done()
	if err != nil {
		return err
	}
	if set.TooManyForNear() {
		o.note("not looked for: near copies of rows in other sources, since there are so many vectors")
	}
	refused := refusal(set)
	if refused != nil {
		res.Refused = refused.Error()
		refused = fmt.Errorf("a run would be refused: %w", refused)
	}
	if o.json.V {
		return cmp.Or(o.emitJSON(res), refused)
	}
	text := sourceTable(res.Description).Render(o.format)
	if len(res.Filled) > 0 {
		text += "\nfilled missing cells with the mean of the column: " + filledText(res.Filled) + "\n"
	}
	if len(res.Oddities) > 0 {
		text += "\n" + oddTable(res.Oddities).Render(o.format)
	} else {
		text += "\nnothing is odd\n"
	}
	return cmp.Or(o.emit(wrapped(text)), refused)
}

// groupHints returns an oddity for each column of the manifest's data that may say which rows belong together, though
// the manifest names no group.
func (o *dataCheckOptions) groupHints() (odd []dataset.Oddity, err error) {
	m, err := o.data.manifest()
	if m == nil || err != nil {
		return nil, err
	}
	hints, err := m.GroupHints()
	for _, h := range hints {
		odd = append(odd, dataset.Oddity{Found: h.Found,
			Advice: fmt.Sprintf("where its rows belong together, write group: %s under columns", h.Column)})
	}
	return odd, err
}

// manifest reads the manifest of the data, and returns nil where they have none.
func (o *dataOptions) manifest() (*manifest.Manifest, error) {
	path := o.data.V
	if info, err := os.Stat(path); err != nil || info.IsDir() || path == dataDigits {
		return nil, nil
	}
	return manifest.Read(path)
}

// noteGroups notes the columns with a name of what rows belong to and values that several rows have, though the manifest names no group:
// where rows belong together, a run without it states an error that is too small. It does so only where the first file is small or need
// not be read whole.
func (o *output) noteGroups(data *dataOptions) {
	const most = 256 << 20
	m, err := data.manifest()
	if m == nil || err != nil {
		return
	}
	inputs, err := m.Inputs()
	if err != nil || inputs[0].Size > most && inputs[0].Format != table.Parquet {
		return
	}
	hints, _ := m.GroupHints() // a note must not stop a run
	for _, h := range hints {
		if h.Named {
			o.note("note: %s: where its rows belong together, write group: %s under columns, or the error looks too small", h.Found, h.Column)
		}
	}
}

// oddTable returns a table with one row per oddity. An oddity that more than three sources share has a single row, at
// the place of the first of them.
func oddTable(oddities []dataset.Oddity) *report.Table {
	const few = 3
	odd := &report.Table{Title: "what is odd", Header: []string{"source", "found", "what to do"}, Wrap: []int{0, 1, 2}}
	odd.Width = terminalWidth(os.Stdout)
	pools := map[dataset.Oddity][]string{}
	for _, f := range oddities {
		same := dataset.Oddity{Found: f.Found, Advice: f.Advice}
		if f.Pool != "" {
			pools[same] = append(pools[same], f.Pool)
		}
	}
	for _, f := range oddities {
		source := cmp.Or(f.Pool, "(all)")
		if names := pools[dataset.Oddity{Found: f.Found, Advice: f.Advice}]; f.Pool != "" && len(names) > few {
			if f.Pool != names[0] {
				continue
			}
			source = text.List(names, few)
		}
		odd.Rows = append(odd.Rows, []string{source, f.Found, f.Advice})
	}
	return odd
}

// refusal returns the error with which a run with default settings would refuse the data, or nil.
func refusal(set *dataset.Set) error {
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	if err != nil {
		return err
	}
	full := cfg.Complete(set)
	name := full.DefaultTarget(set)
	target, err := full.FindSource(set, name)
	if err != nil {
		return err
	}
	cfg, _ = cfg.Fit(set, []string{name})
	_, err = pipeline.NewProblem(set, cfg, target)
	return err
}
