package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
)

type handOverOptions struct {
	to            flags.Value[string]
	resources     resourceOptions
	engine        engineOptions
	dryRun, probe flags.Value[bool]
	program       *flags.Field
	output
}

// addFlags adds all flags except --to, whose default differs between commands.
func (o *handOverOptions) addFlags(set *flags.Set) {
	o.resources.addFlags(set)
	set.Bool(&o.dryRun, "dry-run", "print what would be handed over and the exact command, and do nothing")
	set.Bool(&o.probe, "check", "as --dry-run, and ask the engine whether it would take it")
	o.program = set.Field(new(string), "program", "amtrl where the tasks run; by default this program, or the amtrl of the image", "")
	o.engine = engineOptions{o.program.Name: o.program}
	o.engine.addFlags(set, groupBatch)
}

func (o *handOverOptions) addOutput(set *flags.Set) {
	o.addGroup(set, "what was handed over", o.addQuiet)
}

func (o *handOverOptions) dry() bool { return o.dryRun.V || o.probe.V }

// newEngine returns the engine of a new submission. Its options are those saved by an earlier submission to the same engine
// (nil for none), overridden by the flags. Options that cannot be used are refused here, before anything is written.
func (o *handOverOptions) newEngine(ctx context.Context, name string, saved json.RawMessage, trial batch.Submission) (batch.Engine, error) {
	kind, _ := engines.Find(name)
	options, err := kind.ReadOptions(saved)
	if err != nil {
		return nil, err
	}
	o.engine.apply(options, saved != nil)
	eng, err := options.Engine(trial.Dir)
	if err != nil {
		return nil, explainOption(err)
	}
	if p, ok := eng.(batch.Preparer); ok {
		err := explainOption(p.Prepare(ctx, trial))
		var use *flags.UsageError
		// With --dry-run alone the manifest can be printed without what Prepare would settle.
		if err != nil && (errors.As(err, &use) || !o.dryRun.V || o.probe.V) {
			return nil, err
		}
	}
	return eng, nil
}

// explainOption turns a [*batch.OptionError] into a usage error. It returns other errors unchanged.
func explainOption(err error) error {
	if _, ok := errors.AsType[*batch.OptionError](err); ok {
		return asUsageError(err)
	}
	return err
}

// settings returns the settings of a submission, from which later queries and a retry start.
func (o *handOverOptions) settings(eng batch.Engine, res batch.Resources) (batch.Settings, error) {
	set := batch.Settings{Engine: eng.Name(), Resources: res}
	var err error
	if o.program.Store(&set.Program); set.Program == "" {
		set.Program, err = os.Executable()
	}
	if options := eng.Options(); err == nil && options != nil {
		set.Options, err = json.Marshal(options)
	}
	return set, err
}

const nothingHandedOver interruption = "nothing was handed over"

func (o *handOverOptions) handOver(ctx context.Context, run *batch.Run, eng batch.Engine, set batch.Settings, tasks []int) error {
	jobs, err := run.Submit(ctx, eng, set, tasks)
	o.warn(eng)
	if err != nil {
		var done []string
		for _, j := range jobs {
			done = append(done, fmt.Sprintf("%s (tasks %s)", j.ID, j.Tasks))
		}
		if len(done) > 0 {
			o.note("handed over before it failed: %s", strings.Join(done, ", "))
		}
		if _, ok := errors.AsType[*batch.Unsure](err); ok {
			return fmt.Errorf("%w; it may have taken the part all the same: amtrl status %s finds out", err, text.ShellQuote(run.Dir))
		}
		return err
	}
	return o.printHandOver(run, eng.Name(), jobs)
}

// warn prints what the engine was warned of.
func (o *handOverOptions) warn(eng batch.Engine) {
	if w, ok := eng.(batch.Warner); ok {
		for _, said := range w.Warnings() {
			o.note("%s warns: %s", eng.Name(), said)
		}
	}
}

type handedOver struct {
	Run    string       `json:"run"`
	ID     string       `json:"id"`
	Engine string       `json:"engine"`
	Tasks  int          `json:"tasks"`
	Jobs   []handedPart `json:"jobs"`
}

type handedPart struct {
	ID    string      `json:"id"`
	Key   string      `json:"key"`
	Tasks batch.Tasks `json:"tasks"`
}

func (o *handOverOptions) printHandOver(run *batch.Run, engine string, jobs []*batch.JobRecord) error {
	out := handedOver{Run: run.Dir, ID: run.Plan.ID, Engine: engine, Jobs: []handedPart{}}
	var lines strings.Builder
	task := 0 // one of these, to show how its log is read
	if len(jobs) > 0 {
		task = jobs[0].Tasks[0]
	}
	for _, j := range jobs {
		out.Tasks += len(j.Tasks)
		out.Jobs = append(out.Jobs, handedPart{j.ID, j.Key, j.Tasks})
		fmt.Fprintf(&lines, "%s %s: %s, %s\n", engine, j.ID, text.Several(len(j.Tasks), "task"), j.Tasks)
	}
	dir := text.ShellQuote(run.Dir)
	fmt.Fprintf(&lines, "run folder: %s\n", run.Dir)
	fmt.Fprintf(&lines, "  amtrl status %s --watch\n  amtrl logs %s %d\n  amtrl cancel %s\n  amtrl collect %s\n", dir, dir, task, dir, dir)
	return o.emitEither(out, lines.String())
}

// dryPart is what --dry-run --json prints for a part: the file that would be written, its content, and the command that
// would hand it over.
type dryPart struct {
	File    string      `json:"file"`
	Content string      `json:"content"`
	Argv    []string    `json:"argv"`
	Tasks   batch.Tasks `json:"tasks"`
}

// dryHandOver prints the parts that a submission of tasks would have and, with --check, asks the engine whether it
// would take them. Without tasks there are no parts.
func (o *handOverOptions) dryHandOver(ctx context.Context, run *batch.Run, eng batch.Engine, set batch.Settings, tasks []int) error {
	var parts []batch.Part
	if len(tasks) > 0 {
		var err error
		if parts, err = eng.Render(ctx, run.Submission(set, tasks)); err != nil {
			return err
		}
	}
	if err := o.printParts(run, parts); err != nil || len(parts) == 0 || !o.probe.V {
		return err
	}
	err := eng.Check(ctx, parts)
	o.warn(eng)
	if err != nil {
		return err
	}
	o.note("%s would take it", eng.Name())
	return nil
}

func (o *handOverOptions) printParts(run *batch.Run, parts []batch.Part) error {
	list := make([]dryPart, len(parts))
	var out strings.Builder
	for i, p := range parts {
		file := filepath.Join(run.Dir, batch.SubmitDir, p.File)
		list[i] = dryPart{file, string(p.Content), p.Argv, p.Tasks}
		fmt.Fprintf(&out, "# %s\n%s\n# the command\n%s\n", file, p.Content, text.ShellCommand(p.Argv))
	}
	return o.emitEither(list, out.String())
}
