package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/pipeline"
)

type config = pipeline.Config

// setting ties a flag to a field of the configuration. The preset gives the value; the flag, if set, overrides it.
type setting struct {
	name, usage string
	// field is a pointer into a complete configuration: to an int, a float64, a string, a bool, a list or an auto.
	field func(*config) any
	// only is the condition under which the setting has an effect, nil for always.
	only *condition
}

// condition is a property of configurations; needs is the flag that gives a configuration the property.
type condition struct {
	needs string
	holds func(*config) bool
}

// auto is a number from 0 on, or "auto", which a configuration stores as -1.
type auto float64

// autoInt is auto for whole numbers from 1 on.
type autoInt int

// The conditions of the settings.
var (
	inTheory = &condition{"--schedule theory", func(c *config) bool { return c.Schedule.Kind == pipeline.ScheduleTheory }}
	inBudget = &condition{"--schedule budget", func(c *config) bool { return c.Schedule.Kind == pipeline.ScheduleBudget }}
	hasFloor = &condition{"--schedule paper or budget, or --methods known", func(c *config) bool {
		return c.Schedule.Kind != pipeline.ScheduleTheory || slices.Contains(c.Methods, pipeline.Known)
	}}
	isLinear  = &condition{"--representation linear", func(c *config) bool { return c.Representation == pipeline.ClassLinear }}
	isScaled  = &condition{"--intercept", func(c *config) bool { return c.Intercept }}
	isConv    = &condition{"--representation conv", func(c *config) bool { return c.Representation == pipeline.ClassConv }}
	isWaiting = &condition{"--representation conv with a --validation above 0", func(c *config) bool {
		return c.Representation == pipeline.ClassConv && c.Conv.Validation > 0
	}}
	isMinNorm  = &condition{"--relevance minnorm", func(c *config) bool { return c.Relevance.Kind == pipeline.MinNorm }}
	isRidge    = &condition{"--relevance ridge", func(c *config) bool { return c.Relevance.Kind == pipeline.Ridge }}
	isResidual = &condition{"--prior residual", func(c *config) bool { return c.Head.Prior == pipeline.PriorResidual }}
	isShrunk   = &condition{"--prior identity or sources", func(c *config) bool { return c.Canonical().Head.Prior != pipeline.PriorResidual }}
	isL1       = &condition{"--relevance l1", func(c *config) bool { return c.Relevance.Kind == pipeline.L1 }}
)

// The settings are every field of the configuration except the seed, the costs
// and the true relevance, in the order of the help.
var (
	// budgetSetting does not belong to sweeps, which have a list of budgets.
	budgetSetting = setting{"budget", "total cost of the samples; implies --schedule budget",
		func(c *config) any { return &c.Schedule.Budget }, inBudget}
	scheduleSetting = setting{"schedule", "how much each epoch spends: paper, theory or budget",
		func(c *config) any { return &c.Schedule.Kind }, nil}
	epochsSetting = setting{"epochs", "rounds of draw, fit and relevance; 5 of a budget with the linear class of preset default",
		func(c *config) any { return &c.Schedule.Epochs }, nil}
	widthSetting = setting{"k", "width of the representation", func(c *config) any { return &c.K }, nil}

	samplingSettings = []*setting{
		{"target-samples", "labelled samples of the target", func(c *config) any { return &c.TargetSamples }, nil},
		{"methods", "methods to compare, of active, uniform, known, target, constant and, with --sources pools, pooled, trees (tables) " +
			"and kernel (other features)",
			func(c *config) any { return &c.Methods }, nil},
		&scheduleSetting,
		&epochsSetting,
		{"floor", "least number of samples of each source", func(c *config) any { return &c.Schedule.Floor }, hasFloor},
		{"include-target", "make the target one of its own sources", func(c *config) any { return &c.IncludeTarget }, nil},
	}
	// relevanceSettings are the settings with which relevance can be estimated again from a finished model.
	relevanceSettings = []*setting{
		{"relevance", "how nu is estimated: minnorm, ridge, l1 or transfer; auto is transfer for pools and networks, else ridge",
			func(c *config) any { return &c.Relevance.Kind }, nil},
		{"tau", "ridge relevance: penalty in units of the mean eigenvalue of W W'", func(c *config) any { return &c.Relevance.Tau }, isRidge},
		{"l1", "l1 relevance: penalty as a fraction of the smallest that gives 0", func(c *config) any { return &c.Relevance.Lambda }, isL1},
		{"rcond", "minnorm relevance: cut-off of the singular values of W; auto is the rounding level",
			func(c *config) any { return (*auto)(&c.Relevance.Rcond) }, isMinNorm},
		{"allocation", "rows that nu gives a source: squared (nu^2, the paper), priced (nu^2/sqrt(cost)), l1 (|nu|/sqrt(cost)), or auto " +
			"(priced where costs differ, else squared)",
			func(c *config) any { return &c.Allocation.Rule }, nil},
		{"mix", "fraction of each epoch's budget that is spread uniformly; auto explores what the sources leave unexplained",
			func(c *config) any { return (*auto)(&c.Allocation.Mix) }, nil},
	}
	modelSettings = []*setting{
		{"representation", "what phi is: linear, or conv for a convolutional network", func(c *config) any { return &c.Representation }, nil},
		&widthSetting,
		{"intercept", "an unpenalised intercept for every output; features are centred and scaled",
			func(c *config) any { return &c.Intercept }, nil},
		{"scaling", "what features are measured in: global (one unit for all), feature (each in its own spread), none, or auto (by their ranges)",
			func(c *config) any { return &c.Scaling }, isScaled},
		{"centring", "what is subtracted from features: global (one mean), source (each source's mean), or auto (by the labels of own data)",
			func(c *config) any { return &c.Centring }, isScaled},
		{"lambda", "ERM penalty on ||B||^2 + ||W||^2; auto follows the noise of the labels",
			func(c *config) any { return (*auto)(&c.ERM.Lambda) }, isLinear},
		{"iterations", "ERM: most L-BFGS iterations per epoch", func(c *config) any { return &c.ERM.Iterations }, isLinear},
		{"tolerance", "ERM: stop once ten iterations lower the objective by less than this fraction, 0 for that of rounding",
			func(c *config) any { return &c.ERM.Tolerance }, isLinear},
		{"history", "ERM: L-BFGS pairs", func(c *config) any { return &c.ERM.History }, isLinear},
		{"init", "ERM: starting point: random, moments, or path for a path of falling penalties",
			func(c *config) any { return &c.ERM.Init }, isLinear},
		{"warm-start", "ERM: start each epoch from the one before", warmStart, nil},
		{"ridge", "ridge of the target's head in units of the mean eigenvalue; auto chooses it by the target's samples",
			func(c *config) any { return (*auto)(&c.Head.Ridge) }, nil},
		{"prior", "what the head's ridge shrinks towards: identity (0), sources (what their heads combine to) or residual (also the own rows)",
			func(c *config) any { return &c.Head.Prior }, nil},
		{"head-loss", "prior residual: what the head of a class is fitted by: logistic or squared",
			func(c *config) any { return &c.Head.Loss }, isResidual},
		{"head-rcond", "cut-off of the head's singular values; auto is the rounding level",
			func(c *config) any { return (*auto)(&c.Head.Rcond) }, isShrunk},
	}
	theorySettings = []*setting{
		{"delta", "theory schedule: confidence", func(c *config) any { return &c.Schedule.Theory.Delta }, inTheory},
		{"r", "theory schedule: bound of ||w_m||", func(c *config) any { return &c.Schedule.Theory.R }, inTheory},
		{"sigma-min", "theory schedule: lower bound of sigma_min(W)", func(c *config) any { return &c.Schedule.Theory.SigmaMin }, inTheory},
		{"beta", "theory schedule: beta in place of the theorem's, which 0 stands for",
			func(c *config) any { return &c.Schedule.Theory.Beta }, inTheory},
	}
	convSettings = []*setting{
		{"channels", "conv: output channels of each layer", func(c *config) any { return &c.Conv.Channels }, isConv},
		{"passes", "conv: passes over the samples per epoch; auto is 8, and more of fewer than 5,000 samples",
			func(c *config) any { return (*autoInt)(&c.Conv.Passes) }, isConv},
		{"batch", "conv: samples in a step", func(c *config) any { return &c.Conv.Batch }, isConv},
		{"rate", "conv: largest learning rate of the one-cycle schedule", func(c *config) any { return &c.Conv.Rate }, isConv},
		{"decay", "conv: decoupled weight decay", func(c *config) any { return &c.Conv.Decay }, isConv},
		{"validation", "conv: fraction of the sources' samples that the fit sets aside to stop by, 0 for none",
			func(c *config) any { return &c.Conv.Validation }, isConv},
		{"patience", "conv: passes without a smaller validation loss that end a fit",
			func(c *config) any { return &c.Conv.Patience }, isWaiting},
	}
)

func allSettings() []*setting {
	return slices.Concat([]*setting{&budgetSetting}, samplingSettings, relevanceSettings, modelSettings, theorySettings, convSettings)
}

// warmStart returns the field of the representation in use.
func warmStart(c *config) any {
	if c.Representation == pipeline.ClassConv {
		return &c.Conv.WarmStart
	}
	return &c.ERM.WarmStart
}

func (s *setting) active(c *config) bool { return s.only == nil || s.only.holds(c) }

// emptyMeans maps the name of a setting to what an empty text in the configuration stands for.
var emptyMeans = map[string]string{
	"scaling": pipeline.ScalingGlobal, "centring": pipeline.CentringGlobal, "head-loss": pipeline.LossSquared,
}

// show returns the value of the configuration in the form that the flag takes.
func (s *setting) show(c *config) string {
	switch v := s.field(c).(type) {
	case *auto:
		if *v < 0 {
			return "auto"
		}
		return fmt.Sprint(*v)
	case *autoInt:
		if *v < 0 {
			return "auto"
		}
		return fmt.Sprint(*v)
	case *[]int:
		return strings.Join(texts(*v), ",")
	case *[]string:
		return strings.Join(*v, ",")
	default: // a number, a bool or a text
		return cmp.Or(fmt.Sprint(reflect.ValueOf(v).Elem()), emptyMeans[s.name])
	}
}

// presetText lists the value of each preset, or returns the one value that all presets share.
func (s *setting) presetText() string {
	var values, all []string
	for _, name := range pipeline.Presets() {
		if c, err := pipeline.NewConfig(name); err == nil {
			c = c.Complete(nil)
			values = append(values, s.show(&c))
			all = append(all, fmt.Sprintf("%s in preset %s", s.show(&c), name))
		}
	}
	if len(slices.Compact(values)) == 1 {
		return values[0]
	}
	return strings.Join(all, ", ")
}

type boundSetting struct {
	*setting
	*flags.Field
}

// defaultText returns the default value as the help states it. Preset default fits some settings to a user's own data
// ([pipeline.Config.Fit]); of a study, whose data always are that, neither the budget nor its division into rounds.
func (s *setting) defaultText(study bool) string {
	out := s.presetText()
	switch s.name {
	case "target-samples", "floor", "k":
	case "budget", "schedule", "epochs":
		if study {
			return out
		}
	default:
		return out
	}
	if study {
		return out + "; preset default fits it to the data"
	}
	return out + "; preset default fits it to the data of a manifest"
}

func (s *setting) bind(set *flags.Set, study bool) boundSetting {
	sample := config{}.Complete(nil)
	field, usage := s.field(&sample), s.usage
	switch field.(type) {
	case *bool:
		usage += "; --" + s.name + "=false for not"
	case *auto, *autoInt, *[]int, *[]string: // parsed by apply
		field = new(string)
	}
	return boundSetting{s, set.Field(field, s.name, usage, s.defaultText(study))}
}

func (s boundSetting) apply(c *config) error {
	var text string
	switch field := s.field(c).(type) {
	case *[]string:
		s.Store(&text)
		*field = flags.Words(text)
	case *[]int:
		s.Store(&text)
		*field = nil
		for _, word := range flags.Words(text) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return flags.Misuse("--%s is %q: expected whole numbers such as 16,32", s.name, text)
			}
			*field = append(*field, n)
		}
	case *auto:
		s.Store(&text)
		n, err := strconv.ParseFloat(text, 64)
		if text == "auto" {
			n = -1
		} else if err != nil || !(n >= 0) {
			return flags.Misuse("--%s is %q: expected auto or a number from 0 on", s.name, text)
		}
		*field = auto(n)
	case *autoInt:
		s.Store(&text)
		n, err := strconv.Atoi(text)
		if text == "auto" {
			n = -1
		} else if err != nil || n < 1 {
			return flags.Misuse("--%s is %q: expected auto or a whole number from 1 on", s.name, text)
		}
		*field = autoInt(n)
	default:
		s.Store(field)
	}
	return nil
}
