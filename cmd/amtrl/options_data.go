package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

const (
	dataDigits = "digits"
	dataSparse = "synthetic:sparse"
	dataRandom = "synthetic:random"
)

// defaultSources is the default number of sources of synthetic data.
const defaultSources = 50

// defaultDigits is the default number of base images, that of MNIST-C; the default run on them takes well under a minute on two cores.
const defaultDigits = 10_000

type dataOptions struct {
	data, evaluate, sources flags.Value[string]
	digits, dim, rank, rows flags.Value[int]
	sourceCount             int // the number of sources of synthetic data
	seed                    flags.Value[uint64]
	sigma                   flags.Value[float64]
	verify                  bool // whether to read all arrays of an import, of any size, for damage
}

func (o *dataOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.data, "data", "digits (embedded), synthetic:sparse, synthetic:random, a manifest such as dataset.yaml, or a `FOLDER` "+
		"that import wrote or in the layout of MNIST-C", dataDigits)
	set.Int(&o.digits, "digits", "embedded digits: number of base images", defaultDigits)
	set.Seed(&o.seed, "data-seed", "embedded digits and synthetic data: what to generate them from")
	set.Int(&o.dim, "dim", "synthetic data: width d of a row", 50)
	set.Int(&o.rank, "rank", "synthetic data: width K of the true representation, also of --k where that is not given", 5)
	set.Number(&o.sigma, "sigma", "synthetic data: standard deviation of the noise", 1)
	set.Int(&o.rows, "rows", "synthetic data: rows of the pool", 40_000)
	set.Text(&o.sources, "sources", "what a source is: tasks, each with its own rows, or pools, whose rows are paid once for all tasks; "+
		"synthetic data: number of sources", "").DefaultText = "50 for synthetic data, tasks for digits and MNIST-C, else pools"
	set.Text(&o.evaluate, "evaluate",
		"measure on the test rows, or on validation rows held out of those to draw from: test or validation", "test")
}

func isSynthetic(data string) bool { return data == dataSparse || data == dataRandom }

func (o *dataOptions) check() error {
	digits, synthetic := o.data.V == dataDigits, isSynthetic(o.data.V)
	if o.data.V == "" || strings.HasPrefix(o.data.V, "synthetic") && !synthetic {
		return flags.Misuse("--data is %q: expected %s, %s, %s, a manifest or a folder", o.data.V, dataDigits, dataSparse, dataRandom)
	}
	refuseUnless := func(is bool, needs string, list ...flags.Origin) error {
		if is {
			return nil
		}
		return flags.Refuse("--data "+o.data.V, "--data "+needs, list...)
	}
	err := cmp.Or(
		refuseUnless(digits, dataDigits, o.digits.Origin),
		refuseUnless(synthetic, dataSparse+" or "+dataRandom,
			o.dim.Origin, o.rank.Origin, o.sigma.Origin, o.rows.Origin),
		o.readSources(synthetic))
	switch {
	case err != nil:
		return err
	case digits:
		err = checkDigits(o.digits)
	case synthetic:
		err = flags.Between(o.rank, 1, 1<<20)
	default:
		err = refuseUnless(false, flags.OrList([]string{dataDigits, dataSparse, dataRandom}), o.seed.Origin)
	}
	return cmp.Or(err, flags.OneOf(o.evaluate, "test", "validation"))
}

// readSources reads --sources, which is a number for synthetic data, and tasks or pools for other data. A value of the
// wrong kind is refused if it is given on the command line, and ignored if it comes from the environment.
func (o *dataOptions) readSources(synthetic bool) error {
	o.sourceCount = defaultSources
	n, err := strconv.Atoi(o.sources.V)
	switch {
	case o.sources.V == "" && !o.sources.Given:
	case synthetic && err == nil:
		o.sourceCount = n
	case synthetic && o.sources.Given:
		return flags.Misuse("--sources is %q: expected a number with --data %s", o.sources.V, o.data.V)
	case !synthetic && o.kindOfSources() == "" && o.sources.Given:
		return flags.Misuse("--sources is %q: expected %s or %s with --data %s", o.sources.V, pipeline.SourcesTasks,
			pipeline.SourcesPools, o.data.V)
	}
	return nil
}

// kindOfSources returns tasks or pools as --sources says, or "" if the data decide.
func (o *dataOptions) kindOfSources() string {
	if o.sources.V == pipeline.SourcesTasks || o.sources.V == pipeline.SourcesPools {
		return o.sources.V
	}
	return ""
}

func checkDigits(n flags.Value[int]) error {
	return flags.Between(n, dataset.MinDigits, dataset.MaxDigits)
}

func (o *dataOptions) open(ctx context.Context, threads int, out *output) (*dataset.Set, error) {
	folder, err := o.folder(ctx, out)
	if err != nil {
		return nil, err
	}
	defer out.noteLate("reading %s", o.data.V)()
	return unlessInterrupted(ctx, func() (*dataset.Set, error) {
		set, err := o.make(threads, folder)
		if err != nil {
			return nil, err
		}
		if o.evaluate.V == "validation" {
			if set, err = set.Validation(); err != nil {
				return nil, err
			}
		}
		return set, set.Validate()
	})
}

// make generates or opens the data. An error of generated data is a usage error, since the flags describe the data.
func (o *dataOptions) make(threads int, folder string) (*dataset.Set, error) {
	generate := dataset.SparseNu
	switch o.data.V {
	case dataDigits:
		set, err := dataset.Digits(o.seed.V, o.digits.V, processors(threads))
		return set, asUsageError(err)
	case dataRandom:
		generate = dataset.RandomLinear
		fallthrough
	case dataSparse:
		set, err := generate(o.dim.V, o.rank.V, o.sourceCount, o.sigma.V, o.rows.V, o.seed.V)
		return set, asUsageError(err)
	}
	if columnar.Is(folder) {
		if o.verify {
			if err := columnar.Verify(folder); err != nil {
				return nil, err
			}
		}
		set, err := columnar.Open(folder)
		if none, ok := errors.AsType[*columnar.NoLabels](err); ok {
			target := ""
			if none.Target == "" {
				target = " --target SOURCE"
			}
			return nil, fmt.Errorf("%s: a study asks for labels: amtrl study new STUDY --data %s%s --round-budget N --target-samples N",
				none.Of(o.data.V), text.ShellQuote(o.data.V), target)
		}
		return set, err
	}
	set, err := dataset.ReadLayout(folder)
	if err != nil {
		err = cmp.Or(tablesFault(folder), err)
	}
	return set, err
}

// processors returns a number of threads, with 0 resolved to the number of processors.
func processors(threads int) int { return cmp.Or(threads, runtime.GOMAXPROCS(0)) }

// matchTargets returns, in the order of the data, the targets that a list of names and patterns selects. The word all selects
// every possible target. A name with a comma is in double quotes or is the whole list; a target named all is in double quotes.
func matchTargets(set *dataset.Set, cfg *config, list string) ([]string, error) {
	all := cfg.TargetsIn(set)
	chosen := map[string]bool{}
	words, every := []string{list}, false
	if _, err := cfg.FindSource(set, list); err != nil || list == flags.All {
		if words, every, err = flags.NamesOrAll(list); err != nil {
			return nil, err
		}
	}
	if every {
		for _, name := range all {
			chosen[name] = true
		}
	}
	if len(words) == 0 && !every {
		return nil, fmt.Errorf("expected all, names or patterns such as fog_*, found %q", list)
	}
	for _, w := range words {
		_, err := cfg.FindTarget(set, w)
		if err == nil { // names may look like patterns
			chosen[w] = true
			continue
		}
		if !strings.ContainsAny(w, "*?[") {
			return nil, err
		}
		found := false
		for _, name := range all {
			ok, err := text.Match(w, name)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", w, err)
			}
			if ok {
				chosen[name], found = true, true
			}
		}
		if !found {
			kind := "task"
			switch {
			case len(all) < len(cfg.SourcesIn(set)):
				kind = "target"
			case cfg.Sources == pipeline.SourcesPools:
				kind = "pool"
			}
			return nil, set.NoMatch(kind, w, all)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !chosen[name] }), nil
}
