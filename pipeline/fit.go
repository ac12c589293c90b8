package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
)

// The settings that Fit chooses.
const (
	SettingTargetSamples = "target_samples"
	SettingK             = "k"
	SettingSchedule      = "schedule"
	SettingEpochs        = "epochs"
	SettingFloor         = "floor"
	SettingScaling       = "scaling"
	SettingAllocation    = "allocation"
)

// Choice is a setting that the data decided, with the reason.
type Choice struct {
	// Setting is SettingTargetSamples, SettingK, SettingSchedule, SettingEpochs,
	// SettingFloor, SettingScaling or SettingAllocation.
	Setting string
	// Value is written for people, such as budget 10,688.
	Value  string
	Reason string
}

// maxFitted is the largest number of target samples that Fit chooses: the time to fit a head grows with its cube.
const maxFitted = 1000

// Fit adapts settings of preset "default" to the data and returns them with the choices that it made. targets are
// names of SourcesIn under complete settings; names that the data do not have are ignored here, and refused by
// runs.Identity.Check. The command line calls Fit, so that a program that does too gets the same settings. Settings in
// given are left alone, SettingSchedule with its budget. given may have names of any settings; those that are none of
// the constants above, mistyped ones too, mean nothing.
//
// For data that name their outputs Fit chooses
//
//	target samples  all labelled rows of the smallest target, at most 1,000; half of them where
//	                sources have these rows too. With all of them the score is by leave-one-out
//	k               at most the number of outputs of the sources and the width of a row
//	schedule        that of the preset where the labelled rows of the sources cost at least
//	                twice as much, else a budget of half of what they cost, or of one row
//	                where that is more
//	epochs          under that budget, at most as many as leave the first round a row of each
//	                source
//	floor           at most the rows of the smallest source, and half of an equal share of
//	                the first round
//	scaling         ScalingFeature where features differ in their units, else ScalingGlobal
//	allocation      where it is RuleAuto, RulePriced if the costs of the sources of a target
//	                differ, which is one of the choices returned, else RuleSquared
//
// and for other data the allocation alone. It changes nothing under preset "paper", for broken data, and where the data
// have none of the targets; NewProblem and runs.Identity.Check refuse the latter two.
func (c Config) Fit(set *dataset.Set, targets []string, given ...string) (Config, []Choice) {
	if set.CheckShape() != nil || checkRows(set) != nil || c.Preset != PresetDefault || len(targets) == 0 {
		return c, nil
	}
	f := &fitting{Config: c, set: set, targets: targets, given: given}
	own := namesOutputs(set)
	if own && c.Scaling == ScalingAuto && c.Intercept && c.Representation == ClassLinear {
		var why string
		f.Scaling, why = c.scalingFor(set)
		f.choose(SettingScaling, f.Scaling, "%s", why)
	}
	full := f.Complete(set)
	f.full = &full
	if all := f.full.SourcesIn(set); !slices.ContainsFunc(all, func(s Source) bool { return slices.Contains(targets, s.Name) }) {
		return c, nil
	}
	f.allocation()
	if !own {
		return f.Config, f.choices
	}
	f.Schedule.Epochs = f.full.Schedule.Epochs
	if m := f.samples(); m.rows > 0 {
		f.width(m)
		f.schedule(m)
		f.floor(m)
	}
	return f.Config, f.choices
}

// fitting is a [Config.Fit] in progress. full holds the settings that it began with, completed.
type fitting struct {
	Config
	full           *Config
	set            *dataset.Set
	targets, given []string
	choices        []Choice
}

func (f *fitting) choose(setting, value, reason string, args ...any) {
	f.choices = append(f.choices, Choice{setting, value, fmt.Sprintf(reason, args...)})
}

func (f *fitting) open(setting string) bool { return !slices.Contains(f.given, setting) }

func (f *fitting) allocation() {
	if f.Allocation.Rule != RuleAuto || f.Schedule.Kind == ScheduleTheory {
		return
	}
	costs := f.full.costsFor(f.set, f.targets)
	if f.Allocation = f.Allocation.For(costs); f.Allocation.Rule != RuleSquared {
		f.choose(SettingAllocation, f.Allocation.Rule, "sources cost between %s and %s",
			text.Digits(slices.Min(costs)), text.Digits(slices.Max(costs)))
	}
}

// samples chooses the number of target samples and returns the extent of the data for that number.
func (f *fitting) samples() extent {
	samples := maxFitted
	if !f.open(SettingTargetSamples) {
		samples = f.TargetSamples
	}
	m := f.full.measure(f.set, f.targets, samples)
	if !f.open(SettingTargetSamples) {
		return m
	}
	samples = min(m.target, samples)
	shared := m.shared
	if shared {
		samples = min(m.target/2, maxFitted)
		m = f.full.measure(f.set, f.targets, samples)
	}
	f.TargetSamples = max(1, samples)
	value, rows := text.Count(f.TargetSamples), text.Several(m.target, "labelled row")
	switch {
	case shared:
		f.choose(SettingTargetSamples, value, "of %s of the target, which sources have too; a fifth is for tests", rows)
	case m.tested:
		f.choose(SettingTargetSamples, value, "of %s of the target that %s not for tests", rows, text.Form(m.target, "is", "are"))
	case 5*(m.target-f.TargetSamples) >= m.target:
		f.choose(SettingTargetSamples, value, "of %s of the target; the others are for tests", rows)
	case f.TargetSamples < m.target:
		f.choose(SettingTargetSamples, value, "of %s of the target; scores leave one%s out", rows, m.group)
	default:
		f.choose(SettingTargetSamples, value, "all labelled rows of the target; scores leave one%s out", m.group)
	}
	return m
}

func (f *fitting) width(m extent) {
	cols := f.set.Pools[0].Cols
	if width := min(m.outputs, cols); f.open(SettingK) && f.full.K > width {
		f.K = width
		f.choose(SettingK, text.Count(width), "the sources have %s, of rows %s wide", text.Several(m.outputs, "output"), text.Count(cols))
	}
}

// schedule chooses a budget and, under it, the number of rounds.
func (f *fitting) schedule(m extent) {
	if plan := f.Schedule.plan(); !f.open(SettingSchedule) || 2*plan[len(plan)-1].Cost*m.meanCost() <= m.cost {
		return
	}
	half := math.Floor(m.cost / 2)
	if m.cost/2 < 1 {
		half = m.cost / 2
	}
	f.Schedule.Kind, f.Schedule.Budget = ScheduleBudget, max(half, m.cheapest)
	reason := "half of what the " + text.Several(m.rows, "labelled row") + " of the sources cost"
	if half < m.cheapest {
		reason = "a row of the cheapest source"
	}
	f.choose(SettingSchedule, "budget "+text.Amount(f.Schedule.Budget), "%s", reason)
	if !f.open(SettingEpochs) {
		return
	}
	f.Schedule.Epochs = f.DefaultEpochs()
	epochs := f.Schedule.Epochs
	for f.Schedule.Epochs > 1 && f.Schedule.plan()[0].Cost < m.each {
		f.Schedule.Epochs--
	}
	if f.Schedule.Epochs < epochs {
		f.choose(SettingEpochs, strconv.Itoa(f.Schedule.Epochs), "with %d, the first round would draw less than a row of each source", epochs)
	}
}

func (f *fitting) floor(m extent) {
	if !f.open(SettingFloor) || f.Schedule.Kind == ScheduleTheory {
		return
	}
	floor := int(min(float64(m.least), f.Schedule.plan()[0].Cost/m.each/2)) // a budget may be too large for an integer
	if floor >= f.Schedule.Floor {
		return
	}
	f.Schedule.Floor = floor
	switch {
	case floor == m.least:
		f.choose(SettingFloor, strconv.Itoa(floor), "source %s has %s", m.smallest, text.Several(m.least, "labelled row"))
	case floor > 0:
		f.choose(SettingFloor, strconv.Itoa(floor), "half of an equal share of the first round")
	default:
		f.choose(SettingFloor, "0", "half of an equal share of the first round is less than a row")
	}
}

// costsFor returns the costs of the sources of each target, one after the other, under complete settings.
func (c *Config) costsFor(set *dataset.Set, targets []string) []float64 {
	var costs []float64
	for i, s := range c.SourcesIn(set) {
		if slices.Contains(targets, s.Name) {
			costs = append(costs, c.CostsOf(c.SourcesFor(set, i))...)
		}
	}
	return costs
}

// plan returns the rounds of the schedule without its floor, of SchedulePaper in the place of ScheduleTheory: they do
// not depend on the data.
func (s Schedule) plan() []EpochPlan {
	if s.Kind == ScheduleTheory {
		s.Kind = SchedulePaper
	}
	s.Epochs, s.Floor = max(1, s.Epochs), 0
	return s.Plan([]float64{1}, 1, 1)
}

// extent measures the data that the targets of a set have. Of several targets, each number is that of the target with
// the least, unless its comment says otherwise.
type extent struct {
	target   int     // labelled rows of a target that are not for tests
	group    string  // " group" where these have groups
	tested   bool    // whether every target has test rows
	shared   bool    // whether sources draw from the rows of a target without test rows
	outputs  int     // number of outputs of the sources of a target
	rows     int     // labelled rows that can at least be drawn from its sources
	cost     float64 // cost of these rows
	each     float64 // cost of one row of each source; the most, of several targets
	cheapest float64 // cost of a row of the cheapest source; the most, of several targets
	least    int     // rows of the smallest source
	smallest string  // its name
}

func (m *extent) meanCost() float64 { return m.cost / float64(max(1, m.rows)) }

// measure returns the extent of the data under complete settings, for targets with the given number of samples, or with
// all their rows where there are fewer.
func (c *Config) measure(set *dataset.Set, targets []string, samples int) extent {
	var out extent
	all := c.SourcesIn(set)
	rows := make([]int, len(all))
	for i, s := range all {
		rows[i] = len(s.trainRows(set))
	}
	first := true
	for _, name := range targets {
		t := slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
		if t < 0 {
			continue
		}
		m := extent{target: rows[t], tested: len(all[t].testRows(set)) > 0}
		if set.Pools[all[t].Pool].Groups != nil {
			m.group = " group"
		}
		for j, s := range all {
			if j == t || set.Pools[s.Pool].Target {
				continue
			}
			cost, n := c.Cost(s.Name), rows[j]
			shares := s.Pool == all[t].Pool && all[t].keepsApart(set)
			if shares { // less all rows that the target may take for itself
				both := s.shares(set, all[t].trainRows(set))
				m.shared = m.shared || both > 0
				n -= min(both, samples+fifth(rows[t]))
			}
			if (n > 0 || !shares) && (m.smallest == "" || n < m.least) {
				m.least, m.smallest = n, s.Name
			}
			if n > 0 && (m.cheapest == 0 || cost < m.cheapest) {
				m.cheapest = cost
			}
			m.outputs, m.rows = m.outputs+len(s.Tasks), m.rows+n
			m.cost, m.each = m.cost+cost*float64(n), m.each+cost
		}
		if first {
			out, first = m, false
			continue
		}
		out.target, out.tested, out.shared = min(out.target, m.target), out.tested && m.tested, out.shared || m.shared
		out.outputs, out.each = min(out.outputs, m.outputs), max(out.each, m.each)
		out.cheapest = max(out.cheapest, m.cheapest)
		if m.cost < out.cost {
			out.cost, out.rows = m.cost, m.rows
		}
		if m.least < out.least {
			out.least, out.smallest = m.least, m.smallest
		}
	}
	return out
}
