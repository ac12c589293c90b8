package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/must"
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
		"help data mnistc":   "--from FOLDER",
		"help study ask":     "--target-rows N",
		"data mnistc --help": "--from FOLDER",
		"report RUN -h":      "--figures",
		"--version":          "amtrl version",
		"version":            "amtrl ",
		"devices":            "cpu",
	} {
		if o := amtrl(t, t.TempDir(), strings.Fields(args)...); o.Code != 0 || !strings.Contains(o.Stdout, want) || o.Stderr != "" {
			t.Errorf("amtrl %s: exit code %d, expected %q:\n%s%s", args, o.Code, want, o.Stdout, o.Stderr)
		}
	}
}

// Help groups the flags by category, the commonest first, and lists each flag once.
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
			if flag, is := strings.CutPrefix(line, "   -"); is {
				name, _, _ := strings.Cut(strings.TrimSpace(flag), " ")
				if n := strings.Count(text, "\n   -"+name+" "); n != 1 {
					t.Errorf("amtrl help %s: -%s is there %d times", command, name, n)
				}
			}
			if len(line) > helpColumns+1 {
				t.Errorf("amtrl help %s: %d columns: %s", command, len(line)-1, line)
			}
		}
	}
}

// Help says which defaults are fitted to a user's own data.
func TestHelpOfFittedDefaults(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"run":       {"budget", "target-samples", "schedule", "epochs", "floor", "k"},
		"sweep":     {"target-samples", "schedule", "epochs", "floor", "k"},
		"study new": {"target-samples", "floor", "k"},
	} {
		text := succeed(t, t.TempDir(), strings.Fields("help "+command)...).Stdout
		var fitted []string
		for _, flag := range strings.Split(text, "\n   -")[1:] {
			name, usage, _ := strings.Cut(strings.TrimPrefix(flag, "-"), " ")
			if strings.Contains(strings.Join(strings.Fields(usage), " "), "; preset default fits it to the data") {
				fitted = append(fitted, name)
			}
		}
		must.Hold(t, slices.Equal(fitted, want), "amtrl help %s: %q are fitted to the data, expected %q", command, fitted, want)
	}
}

// Every flag has an environment variable, a usage text and a category, and no two flags of a command share a name.
// Descriptions are no wider than the list of flags.
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
			const indented = 3
			for line := range strings.Lines(c.Description) {
				if n := len(strings.TrimSpace(line)); n > helpColumns-indented {
					t.Errorf("%s %s: %d columns: %s", path, c.Name, n+indented, line)
				}
			}
			check(path+" "+c.Name, c.Subcommands)
		}
	}
	check("amtrl", newApp().Commands)
	if got := flags.Env("target-samples"); !slices.Equal(got, []string{"AMTRL_TARGET_SAMPLES"}) {
		t.Errorf("--target-samples is %v in the environment", got)
	}
}

// complete returns the completions of the words by a real bash that has sourced the script.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	script := `source <(amtrl completion bash)
COMP_WORDS=(amtrl "$@"); COMP_CWORD=$#
"$(complete -p amtrl | sed 's/.*-F \([^ ]*\).*/\1/')"
printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.Command("bash", append([]string{"--norc", "-c", script, "bash"}, words...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bash: %v\n%s", err, out)
	}
	return strings.Fields(string(out))
}

func TestBashCompletion(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	for _, test := range []struct {
		words       []string
		want, avoid string
	}{
		{[]string{""}, "run", "info"},
		{[]string{"sw"}, "sweep", "run"},
		{[]string{"data", ""}, "mnistc", "run"},
		{[]string{"run", "--ta"}, "--target-samples", "--floor"},
		{[]string{"run", "--"}, "--warm-start", "--jobs"},
		{[]string{"run", "--k", "5", "--flo"}, "--floor", "--k"},
		{[]string{"data", "mnistc", "--fr"}, "--from", "--seed"},
		{[]string{"run", "--costs", ""}, "", "--costs"},
		{[]string{"completion", ""}, "fish", "run"},
	} {
		got := complete(t, test.words...)
		if test.want != "" && !slices.Contains(got, test.want) || slices.Contains(got, test.avoid) {
			t.Errorf("%q completes to %q: expected %q, not %q", test.words, got, test.want, test.avoid)
		}
		if test.want == "" && len(got) > 0 {
			t.Errorf("%q completes to %q, expected nothing", test.words, got)
		}
	}
}

// Other shells that are installed here accept their scripts.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{"zsh": "compdef", "fish": "complete -c amtrl", "powershell": "Register-ArgumentCompleter"} {
		o := succeed(t, t.TempDir(), "completion", shell)
		o.Prints(t, 0, want)
		if shell == "powershell" {
			continue
		}
		if path, err := exec.LookPath(shell); err == nil {
			file := filepath.Join(t.TempDir(), "script")
			must.Do(t, os.WriteFile(file, []byte(o.Stdout), 0o644))
			if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", shell, err, out)
			}
		}
	}
}
