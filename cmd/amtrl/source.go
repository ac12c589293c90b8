package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

const (
	dataDigits = "digits"
	dataSparse = "synthetic:sparse"
	dataRandom = "synthetic:random"
)

// dataFlags choose the data set.
func dataFlags(digits int) []cli.Flag {
	return []cli.Flag{
		textFlag(categoryData, "data", "digits (embedded), synthetic:sparse, synthetic:random, or a `FOLDER` in the layout of MNIST-C", dataDigits),
		intFlag(categoryData, "digits", "embedded digits: number of base images", digits),
		seedFlag(categoryData, "data-seed", "embedded digits and synthetic data: what to generate them from", 0),
		intFlag(categoryData, "dim", "synthetic data: width d of a row", 50),
		intFlag(categoryData, "rank", "synthetic data: width K of the true representation, also of --k where that is not given", 5),
		intFlag(categoryData, "sources", "synthetic data: number of sources", 50),
		numberFlag(categoryData, "sigma", "synthetic data: standard deviation of the noise", 1),
		intFlag(categoryData, "rows", "synthetic data: rows of the pool", 40_000),
		textFlag(categoryData, "evaluate", "measure on the test rows, or on validation rows held out of those to draw from: test or validation", "test"),
	}
}

// The flags that only one kind of data takes.
var (
	digitsOnly    = []string{"digits"}
	syntheticOnly = []string{"dim", "rank", "sources", "sigma", "rows"}
)

func isSynthetic(data string) bool { return data == dataSparse || data == dataRandom }

// checkData refuses data flags that are wrong or would do nothing.
func checkData(c *cli.Context) error {
	data := c.String("data")
	if data == "" || strings.HasPrefix(data, "synthetic") && !isSynthetic(data) {
		return misuse(c, "--data is %q: expected %s, %s, %s or a folder", data, dataDigits, dataSparse, dataRandom)
	}
	refuse := func(names []string, needs string) error {
		for _, name := range names {
			if given(c, name) {
				return misuse(c, "--%s does nothing with --data %s: it needs --data %s", name, data, needs)
			}
		}
		return nil
	}
	if data != dataDigits {
		if err := refuse(digitsOnly, dataDigits); err != nil {
			return err
		}
	}
	if !isSynthetic(data) {
		if err := refuse(syntheticOnly, dataSparse+" or "+dataRandom); err != nil {
			return err
		}
	}
	if data != dataDigits && !isSynthetic(data) {
		if err := refuse([]string{"data-seed"}, orList([]string{dataDigits, dataSparse, dataRandom})); err != nil {
			return err
		}
	}
	if data == dataDigits {
		if err := checkDigits(c); err != nil {
			return err
		}
	}
	if isSynthetic(data) {
		if err := between(c, "rank", 1, 1<<20); err != nil {
			return err
		}
	}
	return oneOf(c, "evaluate", "test", "validation")
}

// openData makes or reads the data set that the flags ask for.
func openData(c *cli.Context) (*dataset.Set, error) {
	return unlessInterrupted(c, func() (*dataset.Set, error) {
		set, err := makeData(c)
		if err != nil {
			return nil, err
		}
		if c.String("evaluate") == "validation" {
			if set, err = set.Validation(); err != nil {
				return nil, err
			}
		}
		return set, set.Validate()
	})
}

func makeData(c *cli.Context) (*dataset.Set, error) {
	data, seed := c.String("data"), c.Uint64("data-seed")
	generate := map[string]func(d, k, sources int, sigma float64, rows int, seed uint64) (*dataset.Set, error){
		dataSparse: dataset.SparseNu,
		dataRandom: dataset.RandomLinear,
	}
	switch {
	case data == dataDigits:
		set, err := dataset.Digits(seed, c.Int("digits"), workers(c))
		return set, asMisuse(c, err)
	case isSynthetic(data):
		set, err := generate[data](c.Int("dim"), c.Int("rank"), c.Int("sources"), c.Float64("sigma"), c.Int("rows"), seed)
		return set, asMisuse(c, err)
	}
	return dataset.ReadLayout(data)
}

// asMisuse marks an error of generated data, which is one of its flags.
func asMisuse(c *cli.Context, err error) error {
	if err == nil {
		return nil
	}
	return misuse(c, "%s", err)
}

// pickTarget is the target that --target names, or the default one.
func pickTarget(c *cli.Context, set *dataset.Set) (string, error) {
	name := c.String("target")
	if name == "" {
		return pipeline.DefaultTarget(set), nil
	}
	if _, err := set.TaskIndex(name); err != nil {
		return "", misuse(c, "--target: %s", err)
	}
	return name, nil
}
