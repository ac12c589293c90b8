package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

// dryPart is what --dry-run --json prints of a part: the file that would be
// written, its content, and the command that would hand it over.
type dryPart struct {
	File    string      `json:"file"`
	Content string      `json:"content"`
	Argv    []string    `json:"argv"`
	Tasks   batch.Tasks `json:"tasks"`
}

// submitDry prints what a submission would hand over.
func submitDry(c *cli.Context, dir string, plan batch.Plan, eng batch.Engine, set batch.Settings) error {
	run, err := batch.Find(dir, plan)
	if err != nil {
		return err
	}
	if run == nil {
		plan.ID = strings.Repeat("0", 12)
		run = &batch.Run{Dir: dir, Plan: plan, Tasks: plan.Tasks()}
	}
	tasks, err := run.Fresh()
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		note(c, "nothing to hand over: all %d tasks of %s were handed over before", len(run.Tasks), run.Dir)
	}
	return dryHandOver(c, run, eng, set, tasks)
}

// dryHandOver prints the parts and, with --check, asks the engine. Without
// tasks there are no parts.
func dryHandOver(c *cli.Context, run *batch.Run, eng batch.Engine, set batch.Settings, tasks []int) error {
	var parts []batch.Part
	if len(tasks) > 0 {
		var err error
		if parts, err = run.Render(c.Context, eng, set, tasks); err != nil {
			return err
		}
	}
	if err := printParts(c, run, parts); err != nil || len(parts) == 0 || !c.Bool("check") {
		return err
	}
	if err := eng.Check(c.Context, parts); err != nil {
		return err
	}
	note(c, "%s would take it", eng.Name())
	return nil
}

func printParts(c *cli.Context, run *batch.Run, parts []batch.Part) error {
	list := make([]dryPart, len(parts))
	var text strings.Builder
	for i, p := range parts {
		file := filepath.Join(run.Dir, "submit", p.File)
		list[i] = dryPart{file, string(p.Content), p.Argv, p.Tasks}
		fmt.Fprintf(&text, "# %s\n%s\n# the command\n%s\n", file, p.Content, batch.ShellCommand(p.Argv))
	}
	if c.Bool("json") {
		return emitJSON(c, list)
	}
	return emit(c, text.String())
}
