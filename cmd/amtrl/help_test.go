package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                   "COMMANDS:",
		"help":               "COMMANDS:",
		"help run":           "--target-samples value",
		"run --help":         "$AMTRL_TARGET_SAMPLES",
		"help data":          "mnistc",
		"data":               "mnistc",
		"data help mnistc":   "--from FOLDER",
		"data mnistc --help": "--from FOLDER",
		"--version":          "amtrl version",
		"version":            "amtrl ",
		"devices":            "cpu",
	} {
		if o := amtrl(t, t.TempDir(), strings.Fields(args)...); o.Code != 0 || !strings.Contains(o.Stdout, want) || o.Stderr != "" {
			t.Errorf("amtrl %s: exit code %d, expected %q:\n%s%s", args, o.Code, want, o.Stdout, o.Stderr)
		}
	}
}

// Help groups the flags by what they belong to, the commonest first, and lists each once.
func TestHelpGroups(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"run": {"\n   data\n", "--target ", "--data ", "\n   sampling\n", "--budget ", "--target-samples ", "--seed ",
			"\n   model\n", "--representation ",
			"\n   schedule theory\n", "--delta ", "\n   convolution\n", "--channels ", "\n   device\n", "--backend ",
			"\n   output\n", "--out ", "--dry-run "},
		"sweep": {"\n   data\n", "--targets ", "\n   sampling\n", "--budgets ", "--seeds ", "\n   device\n", "--jobs ",
			"\n   output\n", "--risk "},
		"submit": {"\n   batch\n", "--to ", "--gpus ", "\n   Slurm\n", "--partition ", "\n   Kubernetes\n", "--image ", "\n   data\n",
			"--targets ", "\n   output\n"},
	} {
		text := succeed(t, t.TempDir(), "help", command).Stdout
		at := 0
		for _, part := range want {
			i := strings.Index(text[at:], part)
			if i < 0 {
				t.Errorf("amtrl help %s: %q is not where it is expected:\n%s", command, part, text)
				break
			}
			at += i
		}
		for line := range strings.Lines(text) {
			if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "-") && strings.Count(text, "\n   "+name+" ") != 1 {
				t.Errorf("amtrl help %s: %s is there %d times", command, name, strings.Count(text, "\n   "+name+" "))
			}
		}
	}
}

// Every flag has an environment variable, a usage and a category, and no name twice.
func TestFlags(t *testing.T) {
	var check func(path string, commands []*cli.Command)
	check = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			var seen []string
			for _, f := range c.Flags {
				name := f.Names()[0]
				doc := f.(cli.DocGenerationFlag)
				if !slices.Equal(doc.GetEnvVars(), flags.Env(name)) || doc.GetUsage() == "" || f.(cli.CategorizableFlag).GetCategory() == "" {
					t.Errorf("%s %s --%s: environment %v, usage %q", path, c.Name, name, doc.GetEnvVars(), doc.GetUsage())
				}
				for _, n := range f.Names() {
					if slices.Contains(seen, n) {
						t.Errorf("%s %s --%s is there twice", path, c.Name, n)
					}
					seen = append(seen, n)
				}
			}
			if c.Usage == "" || c.Action == nil {
				t.Errorf("%s %s has no usage or does nothing", path, c.Name)
			}
			check(path+" "+c.Name, c.Subcommands)
		}
	}
	check("amtrl", newApp().Commands)
	if got := flags.Env("target-samples"); !slices.Equal(got, []string{"AMTRL_TARGET_SAMPLES"}) {
		t.Errorf("--target-samples is %v in the environment", got)
	}
}
