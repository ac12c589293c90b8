package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
)

// dataCheckOptions are those of data check, which takes what data info takes.
type dataCheckOptions struct{ infoOptions }

type checkResult struct {
	dataDescription
	Oddities []dataset.Oddity `json:"oddities"`
	// Refused says why a run without settings would refuse the data.
	Refused string `json:"refused,omitempty"`
}

func (o *dataCheckOptions) run(ctx context.Context) error {
	set, err := o.data.open(ctx, 0, &o.output)
	if err != nil {
		return err
	}
	res, err := unlessInterrupted(ctx, func() (checkResult, error) {
		return checkResult{dataDescription: describe(set), Oddities: set.Oddities()}, nil
	})
	if err != nil {
		return err
	}
	refused := refusal(set)
	if refused != nil {
		res.Refused = refused.Error()
		refused = fmt.Errorf("a run would be refused: %w", refused)
	}
	if o.json.V {
		return cmp.Or(o.emitJSON(res), refused)
	}
	text := sourceTable(res.dataDescription).Render(o.format)
	if len(res.Filled) > 0 {
		text += "\nfilled missing cells with the mean of the column: " + filledText(res.Filled) + "\n"
	}
	if len(res.Oddities) > 0 {
		odd := report.Table{Title: "what is odd", Header: []string{"source", "found", "what to do"}}
		for _, f := range res.Oddities {
			odd.Rows = append(odd.Rows, []string{cmp.Or(f.Pool, "(all)"), f.Found, f.Advice})
		}
		text += "\n" + odd.Render(o.format)
	} else {
		text += "\nnothing is odd\n"
	}
	return cmp.Or(o.emit(text), refused)
}

// refusal is why a run without settings would refuse data.
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
