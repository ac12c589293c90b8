package pipeline

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/lbfgs"
)

// The methods that choose the samples of the sources.
const (
	// Active is Alg. 2: allocate by the relevance of the epoch before.
	Active = "active"
	// Uniform is the non-adaptive baseline: in one epoch it draws the same number of samples from every source, for as
	// much as the active run spent, or where there is none, for the total of the schedule.
	Uniform = "uniform"
	// Known is Alg. 1: like Uniform, but allocated by the true relevance. It spends the whole budget, which the
	// algorithm's max(share, floor) leaves open.
	Known = "known"
	// Target and Constant are the baselines without sources, in one round that draws nothing: a ridge regression, or
	// for classes a classifier, on the target's samples alone; and the mean of their labels (for 0/1 labels the
	// majority).
	Target   = "target"
	Constant = "constant"
	// Pooled is a baseline for SourcesPools that neither chooses samples nor fits heads: one regression, logistic for
	// classes, on the rows that Uniform draws from all sources and on the target's samples. Its outputs are those of
	// the target; the labels of a source count for the output of the same column and class.
	Pooled = "pooled"
	// Trees is a baseline for SourcesPools and tables: gradient-boosted trees on the rows that the first method drew last
	// and on the target's samples. Unlike lines, bends and products of two columns, trees follow jumps and what several
	// columns do together. Where Trees is among the methods, the predictions of Active, Uniform and Known are averaged with
	// those of trees on their own rows (see [Epoch.HeadTrees]).
	Trees = "trees"
	// Kernel is to other features what Trees is to tables: one regression with a Gaussian kernel on at most 3,000 of the
	// target's samples and of the rows that the first method drew last, for classes that are no half-spaces of the
	// features, and for sources whose rows show by where they lie which of them are like the target's. Where Kernel is
	// among the methods, the predictions of Active, Uniform and Known are averaged with its own (see [Epoch.HeadKernel]).
	Kernel = "kernel"
)

// methods lists all methods.
var methods = []string{Active, Uniform, Known, Target, Constant, Pooled, Trees, Kernel}

// Methods returns the methods that Config.Methods can list.
func Methods() []string { return slices.Clone(methods) }

// defaultMethods lists the methods of preset default.
var defaultMethods = []string{Active, Uniform, Target, Constant}

// isBaseline reports whether a method uses no source.
func isBaseline(method string) bool { return method == Target || method == Constant }

// fitsRows reports whether a method has no representation: it fits its heads to the rows themselves.
func fitsRows(method string) bool { return isBaseline(method) || method == Pooled || IsBeside(method) }

// The starting points of the empirical risk minimisation.
const (
	InitRandom  = "random"
	InitMoments = "moments"
	InitPath    = "path"
)

// MaxNu bounds the magnitude of a relevance. Within it relevances can be squared, summed over all sources and divided by
// without an overflow.
const MaxNu = 1e100

// MaxK is the largest width of a representation: the relevance and the heads solve K by K systems, which takes time
// K^3.
const MaxK = 4096

// Config holds everything that determines the result of a run, apart from the data and the target.
type Config struct {
	// Preset is the name the settings started from.
	Preset string `json:"preset"`
	// Methods are run in this order; Uniform and Known spend as much as Active.
	Methods []string `json:"methods"`
	// Representation is the class that phi is from, ClassLinear or ClassConv.
	Representation string `json:"representation"`
	// K is the width of the representation; 0 leaves it to Complete.
	K int `json:"k"`
	// TargetSamples is the number of labelled samples of the target.
	TargetSamples int `json:"target_samples"`
	// Sources says what a source is, SourcesTasks or SourcesPools. Complete chooses where it is empty; afterwards empty
	// stands for SourcesTasks.
	Sources string `json:"sources,omitempty"`
	// IncludeTarget makes the target one of the sources too.
	IncludeTarget bool `json:"include_target"`
	// Intercept gives every output an unpenalised intercept, and centres and scales
	// features, and labels that are numbers, so that results do not depend on their
	// units.
	Intercept bool `json:"intercept,omitempty"`
	// Scaling is the unit of the features where there are intercepts, one of [Scalings]; empty stands for
	// ScalingGlobal.
	Scaling string `json:"scaling,omitempty"`
	// Centring is what is subtracted from the features where there are intercepts, one of [Centrings]; empty stands for
	// CentringGlobal.
	Centring string `json:"centring,omitempty"`
	// Seed determines all random numbers.
	Seed       uint64     `json:"seed"`
	Schedule   Schedule   `json:"schedule"`
	Allocation Allocation `json:"allocation"`
	// ERM holds the settings of ClassLinear, zero for ClassConv; Conv holds those of ClassConv, nil for ClassLinear.
	ERM       ERM       `json:"erm,omitzero"`
	Conv      *Conv     `json:"conv,omitempty"`
	Head      Head      `json:"head"`
	Relevance Relevance `json:"relevance"`
	// Costs is the cost of one sample of a source, by its name; 1 where absent.
	Costs map[string]float64 `json:"costs,omitempty"`
	// Nu is the true relevance for the method Known, by the name of the source; 0 where
	// absent. Data with a model need none.
	Nu map[string]float64 `json:"nu,omitempty"`
}

// The presets.
const (
	PresetPaper   = "paper"
	PresetDefault = "default"
)

// Presets lists the names that NewConfig takes.
func Presets() []string { return []string{PresetDefault, PresetPaper} }

// NewConfig returns the settings of a preset. Where a program changes a kind in them, [Config.Complete] fills in the
// constants of the new kind.
//
// "paper" is the regime of the paper's linear experiments: no regularisation, a least-squares head, minimum-norm
// relevance, and every epoch from a fresh random start. The problem is then under-determined, and the stopping rule,
// 1,200 iterations, is part of the method: the longer it runs, the closer it comes to the empirical risk minimiser, and
// the more the choice of samples matters.
//
// "default" has intercepts and is regularised: an ERM penalty, warm starts, a head that a ridge chosen by leave-one-out
// shrinks towards the sources, relevance by ridge between tasks and by transfer between pools, and an allocation by
// cost where costs differ. Its constants were chosen on validation rows (docs/results.md).
func NewConfig(preset string) (Config, error) {
	c := Config{
		Preset:         preset,
		Methods:        []string{Active, Uniform},
		Representation: ClassLinear,
		TargetSamples:  500,
		Schedule:       Schedule{Kind: SchedulePaper, Floor: 50},
		Allocation:     Allocation{Rule: RuleSquared},
	}
	switch preset {
	case PresetPaper:
		c.ERM = ERM{Iterations: 1200, History: 10, Init: InitRandom}
		c.Head = Head{Prior: PriorIdentity, Rcond: -1}
		c.Relevance = Relevance{Kind: MinNorm, Rcond: -1}
	case PresetDefault:
		c.Intercept, c.Scaling, c.Centring = true, ScalingAuto, CentringAuto
		c.Methods = slices.Clone(defaultMethods)
		c.Allocation = Allocation{Rule: RuleAuto, Mix: MixAuto}
		c.ERM = ERM{Lambda: LambdaAuto, Iterations: 500, Tolerance: 1e-3, History: 10, Init: InitPath, WarmStart: true}
		c.Head = Head{Ridge: RidgeAuto, Prior: PriorResidual, Loss: LossLogistic, Rcond: -1}
		c.Relevance = Relevance{Kind: RelevanceAuto, Rcond: -1}
	default:
		return Config{}, fmt.Errorf("unknown preset %q: expected %s", preset, strings.Join(Presets(), " or "))
	}
	return c, nil
}

// Validate returns an error for the first setting that is out of range. The settings must be complete and canonical.
func (c *Config) Validate() error {
	if c.Preset != "" && !slices.Contains(Presets(), c.Preset) {
		return fmt.Errorf("unknown preset %q: expected %s", c.Preset, strings.Join(Presets(), " or "))
	}
	if len(c.Methods) == 0 {
		return fmt.Errorf("no methods: expected some of %s", strings.Join(methods, ", "))
	}
	if fitsRows(c.Methods[0]) {
		return fmt.Errorf("method %s comes first: expected %s or %s before it, as in %s,%s", c.Methods[0], Active, Uniform, Uniform, c.Methods[0])
	}
	for i, m := range c.Methods {
		if !slices.Contains(methods, m) {
			return fmt.Errorf("unknown method %q: expected %s", m, strings.Join(methods, ", "))
		}
		if slices.Contains(c.Methods[:i], m) {
			return fmt.Errorf("method %s is listed twice", m)
		}
		if m == Active && i > 0 {
			return fmt.Errorf("method %s comes after %s: expected it first, the others follow its sample count", m, c.Methods[0])
		}
	}
	if c.K < 1 || c.K > MaxK {
		return fmt.Errorf("k is %d, expected 1 to %d", c.K, MaxK)
	}
	if c.Sources != "" && c.Sources != SourcesTasks && c.Sources != SourcesPools {
		return fmt.Errorf("sources: unknown %q: expected %s or %s", c.Sources, SourcesTasks, SourcesPools)
	}
	if c.TargetSamples < 1 {
		return fmt.Errorf("target samples: %d, expected at least 1", c.TargetSamples)
	}
	if c.Scaling != "" && !slices.Contains(Scalings(), c.Scaling) {
		return fmt.Errorf("scaling: unknown %q: expected %s", c.Scaling, strings.Join(Scalings(), ", "))
	}
	for _, check := range []func() error{
		c.validateCentring, c.Schedule.validate, c.Allocation.validate, c.validateClass, c.Head.validate, c.Relevance.validate,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.Schedule.Kind == ScheduleTheory && (c.Allocation != Allocation{Rule: RuleSquared} || len(c.Costs) > 0) {
		return fmt.Errorf("schedule theory is Alg. 2, line 4: expected allocation %s without mix and costs", RuleSquared)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Costs)) {
		if v := c.Costs[name]; !(v >= dataset.MinCost && v <= dataset.MaxCost) {
			return fmt.Errorf("cost of %s is %g, expected a number from %g to %g", name, v, dataset.MinCost, dataset.MaxCost)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Nu)) {
		if v := c.Nu[name]; !(math.Abs(v) <= MaxNu) {
			return fmt.Errorf("nu of %s is %g, expected a number from %g to %g", name, v, -MaxNu, MaxNu)
		}
	}
	return nil
}

// headLen returns the length of the target's head for one output and rows of width d: K for w, then 1 for the intercept
// and d for delta where some method fits these.
func (c *Config) headLen(d int) int {
	switch {
	case c.Head.Prior == PriorResidual || slices.ContainsFunc(c.Methods, fitsRows):
		return c.K + 1 + d
	case c.Intercept:
		return c.K + 1
	}
	return c.K
}

// validateClass checks the settings of the representation.
func (c *Config) validateClass() error {
	switch {
	case c.Representation == ClassLinear && c.Conv != nil:
		return fmt.Errorf("representation %s has settings of %s", ClassLinear, ClassConv)
	case c.Representation == ClassLinear:
		return c.ERM.validate()
	case c.Representation == ClassConv && c.ERM != (ERM{}):
		return fmt.Errorf("representation %s has settings of %s", ClassConv, ClassLinear)
	case c.Representation == ClassConv && c.Conv == nil:
		return fmt.Errorf("representation %s has no settings", ClassConv)
	case c.Representation == ClassConv && c.Scaling == ScalingFeature:
		return fmt.Errorf("scaling %s is of representation %s: the pixels of an image have one unit", ScalingFeature, ClassLinear)
	case c.Representation == ClassConv && c.Schedule.Kind == ScheduleTheory:
		return fmt.Errorf("schedule %s is the theorem's for representation %s, not %s", ScheduleTheory, ClassLinear, ClassConv)
	case c.Representation == ClassConv:
		return c.Conv.validate()
	}
	return fmt.Errorf("unknown representation %q: expected %s or %s", c.Representation, ClassLinear, ClassConv)
}

func (e ERM) validate() error {
	switch {
	case e.Lambda != LambdaAuto && !(e.Lambda >= 0) || math.IsInf(e.Lambda, 1):
		return fmt.Errorf("erm: lambda is %g, expected a number from 0 on, or auto for the noise to choose", e.Lambda)
	case e.Iterations < 1:
		return fmt.Errorf("erm: %d iterations, expected at least 1", e.Iterations)
	case !(e.Tolerance >= 0 && e.Tolerance < 1):
		return fmt.Errorf("erm: tolerance is %g, expected a number from 0 to below 1", e.Tolerance)
	case e.History < 1 || e.History > lbfgs.MaxPairs:
		return fmt.Errorf("erm: history is %d, expected 1 to %d", e.History, lbfgs.MaxPairs)
	case e.Init != InitRandom && e.Init != InitMoments && e.Init != InitPath:
		return fmt.Errorf("erm: unknown init %q: expected %s, %s or %s", e.Init, InitRandom, InitMoments, InitPath)
	}
	return nil
}

// leastRidge is the least ridge of [PriorResidual], whose kernels have a mean eigenvalue of at most 1: with less, rounding decides.
const leastRidge = 1e-12

func (h Head) validate() error {
	if h.Ridge != RidgeAuto && !(h.Ridge >= 0) || math.IsInf(h.Ridge, 1) {
		return fmt.Errorf("head: ridge is %g, expected a number from 0 on, or auto for leave-one-out", h.Ridge)
	}
	if h.Prior != PriorIdentity && h.Prior != PriorSources && h.Prior != PriorResidual {
		return fmt.Errorf("head: unknown prior %q: expected %s, %s or %s", h.Prior, PriorIdentity, PriorSources, PriorResidual)
	}
	if h.Prior == PriorResidual && h.Ridge != RidgeAuto && h.Ridge < leastRidge {
		return fmt.Errorf("head: prior %s with ridge %g, expected a ridge of at least %g, or auto for leave-one-out", PriorResidual, h.Ridge,
			leastRidge)
	}
	if h.Loss != "" && h.Loss != LossSquared && h.Loss != LossLogistic {
		return fmt.Errorf("head: unknown loss %q: expected %s or %s", h.Loss, LossSquared, LossLogistic)
	}
	if h.Loss == LossLogistic && h.Prior != PriorResidual {
		return fmt.Errorf("head: loss %s with prior %s, expected prior %s", LossLogistic, h.Prior, PriorResidual)
	}
	return validateRcond("head", h.Rcond)
}

func (r Relevance) validate() error {
	switch {
	case !slices.Contains([]string{MinNorm, Ridge, L1, Transfer, RelevanceAuto}, r.Kind):
		return fmt.Errorf("unknown relevance %q: expected %s, %s, %s, %s or %s", r.Kind, MinNorm, Ridge, L1, Transfer, RelevanceAuto)
	case r.Kind == Ridge && (!(r.Tau > 0) || math.IsInf(r.Tau, 1)):
		return fmt.Errorf("relevance ridge: tau is %g, expected a positive number", r.Tau)
	case r.Kind == L1 && !(r.Lambda > 0 && r.Lambda <= 1):
		return fmt.Errorf("relevance l1: lambda is %g, expected a number above 0, at most 1", r.Lambda)
	}
	return validateRcond("relevance", r.Rcond)
}

func validateRcond(what string, rcond float64) error {
	if !(rcond < 1) || math.IsInf(rcond, -1) {
		return fmt.Errorf("%s: rcond is %g, expected a number below 1, negative for the rounding level", what, rcond)
	}
	return nil
}
