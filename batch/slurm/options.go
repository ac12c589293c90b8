package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/amtrl/amtrl/batch"
)

// Kind describes the engine to a command line.
var Kind = batch.Kind{
	Name: "slurm", Title: "Slurm", Interval: 10 * time.Second, SaveSignals: batch.SaveSignals,
	NewOptions: func() batch.Options { return &Options{} },
}

// Options holds the options of the Slurm engine.
type Options struct {
	Partition  string `json:"partition,omitempty"`
	Account    string `json:"account,omitempty"`
	QOS        string `json:"qos,omitempty"`
	Constraint string `json:"constraint,omitempty"`
	Exclude    string `json:"exclude,omitempty"`
	Nice       string `json:"nice,omitempty"`
	// Container is an image in which apptainer runs the task.
	Container string `json:"container,omitempty"`
	// Setup are lines of shell before the task, Args further arguments of sbatch.
	Setup []string `json:"setup,omitempty"`
	Args  []string `json:"args,omitempty"`
	// Tmp allows a new run folder in a place that other nodes usually do not see.
	Tmp bool `json:"-"`
}

// List implements [batch.Options].
func (o *Options) List() []batch.Option {
	return []batch.Option{
		{Name: "engine-arg", Usage: "a further argument of sbatch, such as --reservation=lab", Value: &o.Args},
		{Name: "setup", Usage: "a shell line before the task, such as 'module load cuda'", Value: &o.Setup},
		{Name: "partition", Usage: "partition", Value: &o.Partition},
		{Name: "account", Usage: "account", Value: &o.Account},
		{Name: "qos", Usage: "quality of service", Value: &o.QOS},
		{Name: "constraint", Usage: "features that a node must have", Value: &o.Constraint},
		{Name: "exclude", Usage: "nodes not to use", Value: &o.Exclude},
		{Name: "nice", Usage: "lower the priority by this much", Value: &o.Nice},
		{Name: "container", Usage: "`IMAGE` in which apptainer runs the task", Value: &o.Container},
		{Name: "tmp", Usage: "take a run folder, data or program in /tmp, which other nodes do not see", Value: &o.Tmp},
	}
}

// Engine implements [batch.Options]. Render and Prepare look at the arguments, so that a run that was submitted with some that are
// refused now can still be asked about.
func (o *Options) Engine(dir string) (batch.Engine, error) {
	if o.Nice != "" {
		if _, err := strconv.Atoi(o.Nice); err != nil {
			return nil, &batch.OptionError{Option: "nice", Problem: fmt.Sprintf(" is %q: expected an integer", o.Nice)}
		}
	}
	return &engine{dir, *o}, nil
}

// Prepare implements [batch.Preparer]: it refuses arguments of sbatch that are not the user's to give, and a new folder, a program and data
// that the nodes will not see.
func (e *engine) Prepare(_ context.Context, s batch.Submission) error {
	if _, err := sbatchArgs(e.options.Args); err != nil {
		return err
	}
	if s.Number > 1 || e.options.Tmp {
		return nil
	}
	for _, path := range append([]string{s.Dir, s.Program, s.Data}, s.Files...) {
		for _, local := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run"} {
			if path == local || strings.HasPrefix(path, local+"/") {
				return &batch.OptionError{Option: "tmp", Problem: fmt.Sprintf(": %s is on this machine alone: expected a path that all nodes see "+
					"(--tmp where %s is one)", path, local)}
			}
		}
	}
	return nil
}
