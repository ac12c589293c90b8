package main

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

// Every flag has an environment variable, a usage and a category, and no name
// twice.
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
