package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/runs"
)

func submitCommand() *cli.Command {
	return &cli.Command{
		Name:      "submit",
		Usage:     "hand a sweep to Slurm, Kubernetes or child processes, one task for each target, budget and seed",
		ArgsUsage: "RUN",
		Description: "RUN is a folder that all nodes see; it is made here and holds all that the tasks read and write.\n" +
			"The same command again hands over what was not handed over yet, and nothing twice. Then:\n" +
			"amtrl status RUN, logs RUN TASK, cancel RUN, retry RUN, collect RUN.",
		Flags: slices.Concat(
			sweepFlags(),
			[]cli.Flag{
				textFlag(categoryBatch, "to", "engine: "+orList(engines.Names()), engines[0].Name),
				intFlag(categoryBatch, "pack", "targets, budgets and seeds a task, one after the other", 1),
			},
			resourceFlags(), engineFlags(), handOverFlags(),
			[]cli.Flag{jsonFlag("what was handed over"), quietFlag()},
		),
		Action: submit,
	}
}

// handOverFlags are those of submit and retry.
func handOverFlags() []cli.Flag {
	return []cli.Flag{
		boolFlag(categoryBatch, "dry-run", "print what would be handed over and the exact command, and do nothing"),
		boolFlag(categoryBatch, "check", "as --dry-run, and ask the engine whether it would take it"),
		textFlag(categoryBatch, "program", "amtrl where the tasks run; by default this program, or the amtrl of the image", ""),
	}
}

func submit(c *cli.Context) error {
	dir, err := runArgument(c)
	if err != nil {
		return err
	}
	engine := c.String("to")
	for _, check := range []func(*cli.Context) error{checkDevice, checkData} {
		if err := check(c); err != nil {
			return err
		}
	}
	if err := oneOf(c, "to", engines.Names()...); err != nil {
		return err
	}
	if err := between(c, "pack", 1, maxUnits); err != nil {
		return err
	}
	res, err := readResources(c, nil)
	if err != nil {
		return err
	}
	if res.GPUs > 0 && c.String("backend") == "cpu" {
		return misuse(c, "--gpus %d does nothing with --backend cpu", res.GPUs)
	}
	trial := batch.Submission{Dir: dir, Name: filepath.Base(dir), Number: 1, Resources: res}
	eng, err := newEngine(c, engine, nil, trial)
	if err != nil {
		return err
	}
	p, err := planSweep(c)
	if err != nil {
		return err
	}
	plan, err := newPlan(c, p)
	if err != nil {
		return err
	}
	set, err := newSettings(c, eng, res)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") || c.Bool("check") {
		return submitDry(c, dir, plan, eng, set)
	}
	environment, err := newEnvironment()
	if err != nil {
		return err
	}
	run, _, err := batch.Create(dir, plan, environment)
	if err != nil {
		return err
	}
	unlock, err := run.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := run.Recover(c.Context, engines.Open); err != nil {
		return err
	}
	tasks, err := run.Fresh()
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		note(c, "nothing to hand over: all %d tasks of %s were handed over before", len(run.Tasks), run.Dir)
		return printHandOver(c, run, engine, nil)
	}
	return handOver(c, run, eng, set, tasks)
}

// handOver submits tasks and says what came of it.
func handOver(c *cli.Context, run *batch.Run, eng batch.Engine, set batch.Settings, tasks []int) error {
	jobs, err := run.Submit(c.Context, eng, set, tasks)
	if err != nil {
		var done []string
		for _, j := range jobs {
			done = append(done, fmt.Sprintf("%s (tasks %s)", j.ID, j.Tasks))
		}
		if len(done) > 0 {
			note(c, "handed over before it failed: %s", strings.Join(done, ", "))
		}
		var unsure *batch.Unsure
		if errors.As(err, &unsure) {
			return fmt.Errorf("%w; it may have taken the part all the same: amtrl status %s finds out", err, batch.ShellQuote(run.Dir))
		}
		return err
	}
	return printHandOver(c, run, eng.Name(), jobs)
}

// handedOver is what --json prints.
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

func printHandOver(c *cli.Context, run *batch.Run, engine string, jobs []*batch.JobRecord) error {
	out := handedOver{Run: run.Dir, ID: run.Plan.ID, Engine: engine, Jobs: []handedPart{}}
	var text strings.Builder
	for _, j := range jobs {
		out.Tasks += len(j.Tasks)
		out.Jobs = append(out.Jobs, handedPart{j.ID, j.Key, j.Tasks})
		fmt.Fprintf(&text, "%s %s: %d tasks, %s\n", engine, j.ID, len(j.Tasks), j.Tasks)
	}
	if c.Bool("json") {
		return emitJSON(c, out)
	}
	dir := batch.ShellQuote(run.Dir)
	fmt.Fprintf(&text, "run folder: %s\n", run.Dir)
	fmt.Fprintf(&text, "  amtrl status %s --watch\n  amtrl logs %s 0\n  amtrl cancel %s\n  amtrl collect %s\n", dir, dir, dir, dir)
	return emit(c, text.String())
}

// newPlan is the plan of a sweep, with every flag that opens data and device
// spelt out.
func newPlan(c *cli.Context, p *sweepPlan) (batch.Plan, error) {
	id := runs.Identity{Version: version().Version, Data: runs.DescribeData(p.set), Config: p.cfg.Complete(p.set).Canonical()}
	p.fill(&id)
	if err := id.Check(p.set); err != nil {
		return batch.Plan{}, err
	}
	plan := batch.Plan{Identity: id, Pack: c.Int("pack")}
	for _, f := range taskFlags() {
		name := f.Names()[0]
		value := fmt.Sprint(c.Value(name))
		if name == "data" && value != dataDigits && !isSynthetic(value) {
			abs, err := filepath.Abs(value)
			if err != nil {
				return batch.Plan{}, err
			}
			value = abs
		}
		plan.Flags = append(plan.Flags, batch.Flag{Name: name, Value: value})
	}
	return plan, nil
}

// taskFlags open the data and the device of a task.
func taskFlags() []cli.Flag { return slices.Concat(dataFlags(runDigits), deviceFlags()) }

func newSettings(c *cli.Context, eng batch.Engine, res batch.Resources) (batch.Settings, error) {
	set := batch.Settings{Engine: eng.Name(), Program: c.String("program"), Resources: res}
	if set.Program == "" {
		self, err := os.Executable()
		if err != nil {
			return set, err
		}
		set.Program = self
	}
	if o := eng.Options(); o != nil {
		js, err := json.Marshal(o)
		if err != nil {
			return set, err
		}
		set.Options = js
	}
	return set, nil
}

// newEnvironment describes this process.
func newEnvironment() (batch.Environment, error) {
	e := batch.Environment{Argv: os.Args, Version: version(), Variables: []string{}}
	var err error
	if e.Dir, err = os.Getwd(); err != nil {
		return e, err
	}
	if e.Host, err = os.Hostname(); err != nil {
		return e, err
	}
	if e.Program, e.SHA256, err = programHash(); err != nil {
		return e, err
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "AMTRL_") || slices.Contains([]string{"SLURM_CONF", "KUBECONFIG", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "PATH"}, name) {
			e.Variables = append(e.Variables, v)
		}
	}
	slices.Sort(e.Variables)
	return e, nil
}

// programHash is where this program lies and the hash of its bytes.
func programHash() (path, sum string, err error) {
	if path, err = os.Executable(); err != nil {
		return "", "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", "", err
	}
	return path, hex.EncodeToString(h.Sum(nil)), nil
}

// runArgument is the one argument of a command, a run folder.
func runArgument(c *cli.Context) (string, error) {
	if c.NArg() == 0 || c.Args().First() == "" {
		return "", misuse(c, "no run folder: expected amtrl %s RUN", c.Command.Name)
	}
	if c.NArg() > 1 {
		return "", misuse(c, "unexpected argument %s: expected one run folder", strconv.Quote(c.Args().Get(1)))
	}
	return filepath.Abs(c.Args().First())
}
