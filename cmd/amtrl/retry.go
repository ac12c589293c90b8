package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
)

type retryOptions struct {
	runFolder
	failed flags.Value[bool]
	handOverOptions
}

func (o *retryOptions) addFlags(set *flags.Set) {
	set.Group(groupBatch)
	set.Bool(&o.failed, "failed",
		"all tasks that failed, met their time limit, were cancelled or lost, left a damaged result, or were never handed over")
	set.Text(&o.to, "to", "engine: "+flags.OrList(engines.Names())+"; by default that of the last submission", "")
	o.handOverOptions.addFlags(set)
	o.addOutput(set)
}

func (o *retryOptions) check() error {
	if (o.tasks == "") != o.failed.V {
		return flags.Misuse("expected either --failed or tasks such as 3 or 0-3,7")
	}
	return nil
}

func (o *retryOptions) run(ctx context.Context) error {
	run, list, unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	set, eng, err := o.lastSettings(ctx, run)
	if err != nil {
		return err
	}
	if err := run.Recover(ctx, engines.Open); err != nil {
		return explainEngine(ctx, err, nothingHandedOver)
	}
	s, err := run.Status(ctx, engines.Open)
	if err != nil {
		return explainEngine(ctx, err, nothingHandedOver)
	}
	if err := run.CheckResults(s); err != nil {
		return err
	}
	failed := s.Failed()
	for _, t := range list {
		if _, is := slices.BinarySearch(failed, t); !is {
			return fmt.Errorf("task %d is %s: expected one that is not", t, s.Tasks[t].State)
		}
	}
	if list == nil {
		list = failed
		if ending := s.Ending(); len(ending) > 0 {
			o.note("cancelled, but not ended yet: %s; once amtrl status %s --wait returns, retry again",
				batch.Tasks(ending), text.ShellQuote(run.Dir))
		}
	}
	if len(list) == 0 {
		o.note("nothing to hand over again: %s", countsText(s))
	}
	switch {
	case o.dry():
		return o.dryHandOver(ctx, run, eng, set, list)
	case len(list) > 0:
		if err := run.SetAside(s, list); err != nil {
			return err
		}
		return o.handOver(ctx, run, eng, set, list)
	case o.json.V:
		return o.printHandOver(run, eng.Name(), nil)
	}
	return nil
}

// lastSettings returns the settings of the last submission, overridden by the flags, and their engine.
func (o *retryOptions) lastSettings(ctx context.Context, run *batch.Run) (batch.Settings, batch.Engine, error) {
	last, submitted, err := run.LastSettings()
	if err != nil {
		return last, nil, err
	}
	if submitted {
		// A program that others may have written is not run: the program, the options and the engine then come from
		// this command line alone.
		if err := run.CheckOwner(); err != nil {
			if !o.program.Set || !o.to.Set {
				return last, nil, fmt.Errorf("%w: the program and the options of the last submission are not taken from there; "+
					"give --to, --program and the options again, or, where nobody but you wrote there, chown and chmod it", err)
			}
			last.Engine = ""
		}
	}
	name := last.Engine
	if o.to.Replaces(name != "") {
		name = o.to.V
	}
	if name == "" {
		return last, nil, flags.Misuse("%s was never submitted: expected --to", run.Dir)
	}
	if _, ok := engines.Find(name); !ok {
		return last, nil, flags.Misuse("--to is %q: expected %s", name, flags.OrList(engines.Names()))
	}
	var before *batch.Resources
	var saved json.RawMessage
	if submitted {
		before = &last.Resources
		if name == last.Engine {
			saved = last.Options
		}
	}
	res, err := o.resources.over(before)
	if err != nil {
		return last, nil, err
	}
	if err := o.engine.check(name, o.resources.origins()); err != nil {
		return last, nil, err
	}
	eng, err := o.newEngine(ctx, name, saved, run.Submission(batch.Settings{Resources: res}, nil))
	if err != nil {
		return last, nil, err
	}
	set, err := o.settings(eng, res)
	if submitted && name == last.Engine && !o.program.Given {
		set.Program = last.Program
	}
	return set, eng, err
}
