package runs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Unit is one target, budget and seed of a sweep. The units of a sweep can be carried out apart, in processes and on
// machines of their own, and put together afterwards: Check, RunUnit for each, WriteSweep.
type Unit struct {
	Target string  `json:"target"`
	Seed   uint64  `json:"seed"`
	Budget float64 `json:"budget,omitempty"` // 0 outside the budget schedule
}

// Name identifies the unit within its sweep and is safe as a file name, even with an ending of up to 12 bytes.
func (u Unit) Name() string {
	const most = maxFileName - len(".safetensors")
	end := fmt.Sprintf("_seed%d", u.Seed)
	if u.Budget > 0 {
		end += "_budget" + text.Number(u.Budget)
	}
	return FileName(u.Target, most-len(end)) + end
}

// maxFileName is the number of bytes that file systems take for a name.
const maxFileName = 255

// FileName returns a name, escaped as in the path of a URL, as a file name of at most room bytes, which must be 20 or
// more. What is too long is cut and ends in a hash of the name.
func FileName(name string, room int) string {
	escaped := url.PathEscape(name)
	if len(escaped) <= room {
		return escaped
	}
	end := "#" + HashOf([]byte(name))[:16] // no name has a # that is not escaped
	cut := escaped[:room-len(end)]
	if i := strings.LastIndexByte(cut, '%'); i > len(cut)-3 {
		cut = cut[:max(0, i)]
	}
	return cut + end
}

// Units lists the units of a sweep: targets, then budgets, then seeds.
func (i Identity) Units() []Unit {
	var units []Unit
	for _, t := range i.Targets {
		for _, b := range i.budgets() {
			for _, s := range i.Seeds {
				units = append(units, Unit{t, s, b})
			}
		}
	}
	return units
}

// budgets returns the budgets to visit: 0 alone outside the budget schedule.
func (i Identity) budgets() []float64 {
	switch {
	case len(i.Budgets) > 0:
		return i.Budgets
	case i.Config.Schedule.Kind == pipeline.ScheduleBudget:
		return []float64{i.Config.Schedule.Budget}
	}
	return []float64{0}
}

func (i Identity) unitConfig(u Unit) pipeline.Config {
	cfg := i.Config
	cfg.Seed = u.Seed
	if u.Budget > 0 {
		cfg.Schedule.Budget = u.Budget
	}
	return cfg
}

// Of returns the identity of one unit, without the other units of the sweep.
func (i Identity) Of(u Unit) Identity {
	i.Config, i.Targets, i.Seeds, i.Budgets = i.unitConfig(u), []string{u.Target}, []uint64{u.Seed}, nil
	return i
}

// problem returns the problem of a unit. It is an error if its first round draws no sample, or if the data have no
// labels.
func (i Identity) problem(set *dataset.Set, u Unit) (*pipeline.Problem, error) {
	target, err := i.Config.FindSource(set, u.Target)
	if err != nil {
		return nil, err
	}
	p, err := pipeline.NewProblem(set, i.unitConfig(u), target)
	if err != nil {
		return nil, err
	}
	if _, err = p.Propose(pipeline.State{}); err == nil {
		err = p.CheckLabels()
	}
	return p, err
}

// solve carries a problem on from st, the state in the checkpoint, to its end. It saves a checkpoint after each round
// in which one is due, and before it returns an error, such as that of ctx, after the last finished round. finished,
// which may be nil, is called after each round; the round counts once finished has returned.
func (c checkpoint) solve(ctx context.Context, data *pipeline.Resident, p *pipeline.Problem, st pipeline.State, spaced spacing,
	progress func(pipeline.Step), finished func(*pipeline.Learner, pipeline.State) error) (pipeline.State, error) {
	l, err := pipeline.NewLearner(data, p)
	if err != nil {
		return st, err
	}
	defer l.Close()
	if err := l.Check(st); err != nil {
		return st, fmt.Errorf("checkpoint %s: %w", c.path, err)
	}
	spaced.saved, spaced.at = len(st.Epochs), time.Now()
	var unsaved *pipeline.State
	st, err = l.Solve(ctx, st, progress, func(st pipeline.State) error {
		if finished != nil {
			if err := finished(l, st); err != nil {
				return err
			}
		}
		if !spaced.due(len(st.Epochs), p.Rounds()) {
			unsaved = &st
			return nil
		}
		unsaved = nil
		return c.save(st)
	})
	if err != nil && unsaved != nil {
		err = errors.Join(err, c.save(*unsaved))
	}
	return st, err
}

// RunUnit computes one unit of a sweep. It begins from the checkpoint in the file of that name, if there is one, which
// must be of the same identity and unit. It saves checkpoints there, in a folder that it creates: after each of the
// first 128 epochs, later once 1/128 of all epochs so far are new or ten seconds have passed, and where it ends with an
// error. The caller removes the file once the result is safe.
func RunUnit(ctx context.Context, data *pipeline.Resident, id Identity, u Unit, checkpoint string,
	progress func(pipeline.Step)) (*Result, error) {
	res, _, err := runUnit(ctx, data, id, u, checkpoint, runSpacing, progress)
	return res, err
}

// fitted counts the evaluations of a unit's objectives, and the rows of samples that they passed over. damaged is the checkpoint that the
// unit could not go on from, or nil.
type fitted struct {
	evaluations, passed int
	damaged             *DamagedCheckpoint
}

// runUnit is [RunUnit] with checkpoints as spaced says. It also returns the work of the fits.
func runUnit(ctx context.Context, data *pipeline.Resident, id Identity, u Unit, path string, spaced spacing,
	progress func(pipeline.Step)) (res *Result, w fitted, err error) {
	key, err := id.Of(u).Digest()
	if err != nil {
		return nil, w, err
	}
	p, err := id.problem(data.Set, u)
	if err != nil {
		return nil, w, err
	}
	point := checkpoint{path: path, id: key + "/" + u.Name()}
	st, err := point.load()
	if err != nil {
		return nil, w, err
	}
	if st, err = point.solve(ctx, data, p, st, spaced, progress, nil); err != nil {
		return nil, w, err
	}
	for _, e := range st.Epochs {
		w.evaluations += e.Fit.Evaluations
		w.passed += e.Fit.Evaluations * e.Samples
	}
	sum := summarise(p, id.Data.Name, p.TargetSamples(), st.Epochs)
	return &sum, w, nil
}
