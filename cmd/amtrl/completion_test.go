package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// complete asks a real bash, which has read the script, what can follow.
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

// The other scripts are read by their shells where those are here.
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
