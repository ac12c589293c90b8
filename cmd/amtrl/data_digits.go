package main

import (
	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
)

func dataDigitsCommand() *cli.Command {
	number := intFlag(categoryData, "digits", "number of base images", runDigits)
	number.Aliases = []string{"n"}
	return &cli.Command{
		Name:  "digits",
		Usage: "write the embedded digits and their sixteen corruptions in the layout of MNIST-C",
		Flags: []cli.Flag{
			number,
			seedFlag(categoryData, "data-seed", "what to generate them from", 0),
			intFlag(categoryDevice, "threads", "threads to generate with, 0 for all processors; the data do not depend on it", 0),
			outFlag(), quietFlag(),
		},
		Action: writeDigits,
	}
}

func writeDigits(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if err := requireOut(c); err != nil {
		return err
	}
	if err := checkDigits(c); err != nil {
		return err
	}
	if err := between(c, "threads", 0, maxThreads); err != nil {
		return err
	}
	seed, n := c.Uint64("data-seed"), c.Int("digits")
	set, err := unlessInterrupted(c, func() (*dataset.Set, error) { return dataset.Digits(seed, n, workers(c)) })
	if err != nil {
		return err
	}
	labels, err := dataset.DigitLabels(n, seed)
	if err != nil {
		return err
	}
	var names []string
	var images [][]uint8
	for _, p := range set.Pools {
		names, images = append(names, p.Name), append(images, p.U8)
	}
	if err := dataset.WriteLayout(c.String("out"), names, images, labels); err != nil {
		return err
	}
	note(c, "wrote %d images under %d corruptions to %s", n, len(names), c.String("out"))
	return nil
}
