package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

// commands returns all commands in the order of the help. An empty ArgsUsage means that a command takes no arguments.
func commands() []*cli.Command {
	return []*cli.Command{
		newCommand(&runOptions{}, "run", "",
			"choose samples for one target, fit, and compare with uniform sampling",
			"Without flags it works on embedded digits. It leaves a folder with the configuration, the epochs,\n"+
				"the relevance of every source, the model and the result; a folder of unfinished work is resumed.\n"+
				"It prints the settings that it fits to the data of a manifest, each with the reason, as in chose floor 24: ..."),
		newCommand(&sweepOptions{}, "sweep", "",
			"run many targets, seeds and budgets and compare the methods over them",
			"Each target, seed and budget is one unit with a result file of its own; a folder of unfinished\n"+
				"work is resumed. Methods are compared in pairs over targets, the seeds of a target averaged."),
		studyCommands(),
		newCommand(&predictOptions{}, "predict", "RUN ROWS",
			"predict the labels of rows with the model of a run",
			"RUN is the folder of a run or a study, ROWS are Parquet, CSV, TSV, JSONL or JSON files or folders of such, or -\n"+
				"for standard input, in any of these formats but TSV. It writes the id of each row, its label and the score of\n"+
				"each class, or its number. Where rows have labels it compares them."),
		newCommand(&relevanceOptions{}, "relevance", "RUN",
			"estimate the relevance of every source again, from the model of a run",
			"RUN is the folder of a run. Without flags the settings are those of the run; with them, relevance and shares are\n"+
				"estimated in another way from the heads of the run's first method, without fitting anything."),
		newCommand(&reportOptions{}, "report", "FOLDER",
			"make a page to look at of a finished run or sweep, or of a study",
			"FOLDER is that of a run, a sweep or a study. The page is one file of HTML that needs nothing else: figures,\n"+
				"each with its numbers behind it, for screen, print and telephone."),
		newCommand(&submitOptions{}, "submit", "RUN",
			"hand a sweep to Slurm, Kubernetes or child processes, one task for each target, budget and seed",
			"RUN is a folder that all nodes see; it is made here and holds all that the tasks read and write.\n"+
				"The same command again hands over what was not handed over yet, and nothing twice; with more seeds or\n"+
				"budgets it adds their tasks behind those that are there. Then:\n"+
				"amtrl status RUN, logs RUN TASK, cancel RUN, retry RUN, collect RUN."),
		newCommand(&statusOptions{}, "status", "RUN",
			"say where the tasks of a submitted sweep stand",
			"The files of the tasks come first, then one question to the engine. Exit codes: 0 none failed (with\n"+
				"--wait: all are done), 1 some failed, 2 the engine could not be asked."),
		newCommand(&logsOptions{}, "logs", "RUN TASK",
			"print the log of a task of a submitted sweep, that of its earlier submissions first",
			"What the engine kept of standard output goes to standard output, what it kept of standard error to\n"+
				"standard error."),
		newCommand(&cancelOptions{}, "cancel", "RUN [TASKS]",
			"end the tasks of a submitted sweep that wait or run",
			"TASKS are indices such as 3 or 0-3,7; without them, all. What a task has saved stays for a retry. Exit codes:\n"+
				"0 cancelled or nothing to cancel, 1 the engine refused, 2 the engine could not be asked."),
		newCommand(&retryOptions{}, "retry", "RUN [TASKS]",
			"hand tasks of a submitted sweep over again that have no result",
			"Tasks go on from their checkpoints. Everything is as in the last submission except the flags given.\n"+
				"TASKS are indices such as 3 or 0-3,7. Exit codes: 0 handed over, or with --failed nothing to hand over,\n"+
				"1 refused, 2 the engine could not be asked."),
		newCommand(&collectOptions{}, "collect", "RUN",
			"put the results of a submitted sweep together, as the sweep leaves them on one machine", ""),
		hidden(newCommand(&runTaskOptions{}, "run-task", "RUN INDEX", "carry out one task of a submitted sweep", "")),
		hidden(newCommand(&superviseOptions{}, "supervise", "RUN", "run the tasks of a submitted sweep as child processes", "")),
		{Name: "data", Usage: "make data sets, describe files of your own, or say what is in them", Subcommands: []*cli.Command{
			newCommand(&infoOptions{}, "info", "[FOLDER]", "describe a data set: pools, tasks, splits, hash", ""),
			newCommand(&dataCheckOptions{}, "check", "[MANIFEST|FOLDER]",
				"say what is odd about a data set and what to do, and whether a run takes it",
				"It lists rows, labels and classes of each source. The exit code is 1 where a run without settings would\n"+
					"refuse the data."),
			newCommand(&initOptions{}, "init", "FILES",
				"look at files of your own and write a manifest of them",
				"It guesses which columns are the source, the label and the features, and says what it found in comments."),
			newCommand(&importOptions{}, "import", "MANIFEST",
				"read what a manifest describes and write it as the columns that runs map into memory", ""),
			newCommand(&digitsOptions{}, "digits", "",
				"write the embedded digits and their sixteen corruptions in the layout of MNIST-C", ""),
			newCommand(&mnistcOptions{}, "mnistc", "",
				"make MNIST-C, sixteen corruptions of each image, from the IDX files of MNIST", ""),
		}},
		newCommand(&devicesOptions{}, "devices", "", "list the devices that can be used, and why others cannot", ""),
		newCommand(&doctorOptions{}, "doctor", "",
			"check what computing needs: libraries, device, and results against the CPU",
			"It prints a line for each check, and ends with exit code 1 if one failed. With --backend cpu the\n"+
				"CPU alone is checked; without it a machine on which CUDA cannot be used is one that fails."),
		hidden(&cli.Command{Name: "probe-cuda", Usage: "say what there is of CUDA, as one line of JSON", Action: printProbe}),
		hidden(newCommand(&checkOptions{}, "check-cuda", "", "check CUDA, with a line of JSON for each check", "")),
		newCommand(&versionOptions{}, "version", "", "print the version, the Go version and the platform", ""),
		completionCommand(),
	}
}

// options is the implementation of a command: addFlags binds the flags to its fields, and run does its work. Two
// methods are optional: readArguments reads the arguments and is called first; check is called next and finds the
// errors that can be known before anything is opened.
type options interface {
	addFlags(*flags.Set)
	run(context.Context) error
}

func newCommand(o options, name, arguments, usage, description string) *cli.Command {
	var set flags.Set
	o.addFlags(&set)
	return &cli.Command{
		Name: name, ArgsUsage: arguments, Usage: usage, Description: description, Flags: set.Flags,
		Action: func(c *cli.Context) error {
			set.Resolve(c)
			return withHelp(c, carryOut(c, o))
		},
	}
}

func carryOut(c *cli.Context, o options) error {
	if r, ok := o.(interface{ readArguments(*cli.Context) error }); ok {
		if err := r.readArguments(c); err != nil {
			return err
		}
	} else if c.Args().Present() {
		return flags.Misuse("unexpected argument %q: expected flags only", c.Args().First())
	}
	if r, ok := o.(interface{ check() error }); ok {
		if err := r.check(); err != nil {
			return err
		}
	}
	return o.run(c.Context)
}

// takeArguments stores the arguments in the places of to. It returns a usage error unless there is exactly one argument
// per place and none is empty. The format expected is the text of that error and takes the number of arguments found.
func takeArguments(c *cli.Context, expected string, to ...*string) error {
	if c.NArg() != len(to) || slices.Contains(c.Args().Slice(), "") {
		return flags.Misuse(expected, c.NArg())
	}
	for i, place := range to {
		*place = c.Args().Get(i)
	}
	return nil
}

func hidden(c *cli.Command) *cli.Command {
	c.Hidden = true
	return c
}

// withHelp adds to a usage error the command line that shows the help of the command of c. It returns other errors unchanged.
func withHelp(c *cli.Context, err error) error {
	var usage *flags.UsageError
	if !errors.As(err, &usage) || usage.Help != "" {
		return err
	}
	usage.Help = c.App.Name + " help"
	if path := strings.Fields(c.Command.HelpName); len(path) > 1 {
		last := len(path) - 1
		usage.Help = strings.Join(path[:last], " ") + " help " + path[last]
	}
	return err
}
