package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/pipeline"
)

// settings are the flags of every field of pipeline.Config but the seed, the
// costs and the true relevance. Kinds come before what belongs to a kind.
var settings = []setting{
	methods(),
	word("schedule", "how much each epoch spends: paper, theory or budget", func(c *pipeline.Config) *string { return &c.Schedule.Kind }),
	word("representation", "what phi is: linear, or conv for a convolutional network", func(c *pipeline.Config) *string { return &c.Representation }),
	word("relevance", "how nu is estimated: minnorm, ridge or l1", func(c *pipeline.Config) *string { return &c.Relevance.Kind }),

	integer("k", "width of the representation", func(c *pipeline.Config) *int { return &c.K }),
	integer("target-samples", "labelled samples of the target", func(c *pipeline.Config) *int { return &c.TargetSamples }),
	boolean("include-target", "make the target one of its own sources", func(c *pipeline.Config) *bool { return &c.IncludeTarget }),

	integer("epochs", "rounds of draw, fit and relevance", func(c *pipeline.Config) *int { return &c.Schedule.Epochs }),
	integer("floor", "least number of samples of each source", func(c *pipeline.Config) *int { return &c.Schedule.Floor }).
		only("--schedule paper or budget", func(c *pipeline.Config) bool { return c.Schedule.Kind != pipeline.ScheduleTheory }),
	number("budget", "total cost of the samples; implies --schedule budget", func(c *pipeline.Config) *float64 { return &c.Schedule.Budget }).
		only("--schedule budget", func(c *pipeline.Config) bool { return c.Schedule.Kind == pipeline.ScheduleBudget }),
	number("delta", "theory schedule: confidence", func(c *pipeline.Config) *float64 { return &c.Schedule.Theory.Delta }).only(theory()),
	number("r", "theory schedule: bound of ||w_m||", func(c *pipeline.Config) *float64 { return &c.Schedule.Theory.R }).only(theory()),
	number("sigma-min", "theory schedule: lower bound of sigma_min(W)", func(c *pipeline.Config) *float64 { return &c.Schedule.Theory.SigmaMin }).only(theory()),
	number("beta", "theory schedule: beta in place of the theorem's, which 0 stands for", func(c *pipeline.Config) *float64 { return &c.Schedule.Theory.Beta }).only(theory()),

	word("allocation", "what nu gives a source: squared (nu^2, the paper) or l1 (|nu|/sqrt(cost))", func(c *pipeline.Config) *string { return &c.Allocation.Rule }),
	number("mix", "fraction of each epoch's budget that is spread uniformly", func(c *pipeline.Config) *float64 { return &c.Allocation.Mix }),

	number("lambda", "ERM penalty on ||B||^2 + ||W||^2", func(c *pipeline.Config) *float64 { return &c.ERM.Lambda }).only(class(pipeline.ClassLinear)),
	integer("iterations", "ERM: most L-BFGS iterations an epoch", func(c *pipeline.Config) *int { return &c.ERM.Iterations }).only(class(pipeline.ClassLinear)),
	number("tolerance", "ERM: stop once ten iterations lower the objective by less than this fraction, 0 for never", func(c *pipeline.Config) *float64 { return &c.ERM.Tolerance }).only(class(pipeline.ClassLinear)),
	integer("history", "ERM: L-BFGS pairs", func(c *pipeline.Config) *int { return &c.ERM.History }).only(class(pipeline.ClassLinear)),
	word("init", "ERM: starting point, random or moments", func(c *pipeline.Config) *string { return &c.ERM.Init }).only(class(pipeline.ClassLinear)),
	boolean("warm-start", "ERM: start each epoch from the one before", warmStart),

	integers("channels", "conv: output channels of each layer", func(c *pipeline.Config) *[]int { return &c.Conv.Channels }).only(class(pipeline.ClassConv)),
	integer("passes", "conv: passes over the samples an epoch", func(c *pipeline.Config) *int { return &c.Conv.Passes }).only(class(pipeline.ClassConv)),
	integer("batch", "conv: samples in a step", func(c *pipeline.Config) *int { return &c.Conv.Batch }).only(class(pipeline.ClassConv)),
	number("rate", "conv: largest learning rate of the one-cycle schedule", func(c *pipeline.Config) *float64 { return &c.Conv.Rate }).only(class(pipeline.ClassConv)),
	number("decay", "conv: decoupled weight decay", func(c *pipeline.Config) *float64 { return &c.Conv.Decay }).only(class(pipeline.ClassConv)),
	number("validation", "conv: fraction of the sources' samples that the fit sets aside to stop by, 0 for none", func(c *pipeline.Config) *float64 { return &c.Conv.Validation }).only(class(pipeline.ClassConv)),
	integer("patience", "conv: passes without a smaller validation loss that end a fit", func(c *pipeline.Config) *int { return &c.Conv.Patience }).only(class(pipeline.ClassConv)),

	autoNumber("ridge", "ridge of the target's head in units of the mean eigenvalue; auto is leave-one-out", func(c *pipeline.Config) *float64 { return &c.Head.Ridge }),
	word("prior", "what the head's ridge shrinks towards: identity (0) or sources (what the sources' heads combine to)", func(c *pipeline.Config) *string { return &c.Head.Prior }),
	autoNumber("head-rcond", "cut-off of the head's singular values; auto is the rounding level", func(c *pipeline.Config) *float64 { return &c.Head.Rcond }),

	autoNumber("rcond", "minnorm relevance: cut-off of the singular values of W; auto is the rounding level", func(c *pipeline.Config) *float64 { return &c.Relevance.Rcond }).
		only("--relevance minnorm", func(c *pipeline.Config) bool { return c.Relevance.Kind == pipeline.MinNorm }),
	number("tau", "ridge relevance: penalty in units of the mean eigenvalue of W W'", func(c *pipeline.Config) *float64 { return &c.Relevance.Tau }).
		only("--relevance ridge", func(c *pipeline.Config) bool { return c.Relevance.Kind == pipeline.Ridge }),
	number("l1", "l1 relevance: penalty as a fraction of the smallest that gives 0", func(c *pipeline.Config) *float64 { return &c.Relevance.Lambda }).
		only("--relevance l1", func(c *pipeline.Config) bool { return c.Relevance.Kind == pipeline.L1 }),
}

// relevanceSettings are those that a finished model can be read again with.
var relevanceSettings = []string{"relevance", "rcond", "tau", "l1", "allocation", "mix"}

func theory() (needs string, used func(*pipeline.Config) bool) {
	return "--schedule theory", func(c *pipeline.Config) bool { return c.Schedule.Kind == pipeline.ScheduleTheory }
}

// class restricts a setting to one class of representations.
func class(name string) (needs string, used func(*pipeline.Config) bool) {
	return "--representation " + name, func(c *pipeline.Config) bool { return c.Representation == name }
}

// warmStart is the class's own.
func warmStart(c *pipeline.Config) *bool {
	if c.Representation == pipeline.ClassConv {
		return &c.Conv.WarmStart
	}
	return &c.ERM.WarmStart
}

func methods() setting {
	show := func(cfg *pipeline.Config) string { return strings.Join(cfg.Methods, ",") }
	return setting{
		name: "methods", show: show,
		flag: &cli.StringFlag{Name: "methods", Usage: "methods to compare, of active, uniform and known", DefaultText: presetText(show), Category: categorySettings, EnvVars: env("methods")},
		apply: func(c *cli.Context, cfg *pipeline.Config) error {
			cfg.Methods = splitList(c.String("methods"))
			return nil
		},
	}
}
