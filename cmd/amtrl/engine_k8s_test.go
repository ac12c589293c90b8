//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// k8sArgs are a submission to Kubernetes of a folder with a hostile name, and the folder.
func k8sArgs(dir string, more ...string) (args []string, run string) {
	run = filepath.Join(dir, "a $(touch x) 'b' \"c\"\nd")
	args = append(tiny("submit", "--targets", "fog_1,fog_2"), run, "--to", "k8s", "--image",
		"registry.example/amtrl:1", "--volume", "work:"+dir)
	return append(args, more...), run
}

// Without kubectl a manifest is printed, and nothing else works or is written.
func TestSubmitKubernetesWithoutKubectl(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", t.TempDir())
	args, run := k8sArgs(dir, "--dry-run", "--gpus", "1", "--context", "lab", "--namespace", "team")
	o := succeed(t, dir, args...)
	for _, want := range []string{"kind: Job\n", "completions: 2\n", `nvidia.com/gpu: "1"`,
		"kubectl --context=lab --namespace=team", " create "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in %s", want, o.stdout)
		}
	}
	for _, more := range [][]string{{"--check"}, nil} {
		args, _ := k8sArgs(dir, more...)
		if o := amtrl(t, dir, args...); o.code != 1 || strings.Count(o.stderr, "\n") != 1 ||
			!strings.Contains(o.stderr, "kubectl is not in PATH") {
			t.Errorf("exit code %d: %s", o.code, o.stderr)
		}
	}
	if _, err := os.Stat(run); !os.IsNotExist(err) {
		t.Errorf("%s was made: %v", run, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); !os.IsNotExist(err) {
		t.Errorf("a name was executed: %v", err)
	}
}

// Every flag of Kubernetes that cannot be used is wrong use, in one line, before anything is written.
func TestSubmitKubernetesFlags(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", t.TempDir())
	for _, more := range [][]string{
		{"--image", ""}, {"--volume", "work"}, {"--volume", "Work:/data"}, {"--namespace", "A"}, {"--run-path", "data"}, {"--queue", "a b"},
		{"--node-selector", "a"}, {"--toleration", "a:b:c"}, {"--max-failed", "-1"}, {"--engine-arg", "x=1"},
		{"--engine-arg", "spec.completions=9"},
		{"--gpus", "1", "--gpu-type", "a b"}, {"--partition", "main"}, {"--tmp"},
	} {
		args, run := k8sArgs(dir, more...)
		o := amtrl(t, dir, args...)
		lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
		if o.code != exitUsage || len(lines) != 2 || !strings.Contains(lines[0], more[len(more)-min(2, len(more))]) || o.stdout != "" {
			t.Errorf("%q: exit code %d: %s%s", more, o.code, o.stdout, o.stderr)
		}
		if _, err := os.Stat(run); !os.IsNotExist(err) {
			t.Errorf("%q made the run folder", more)
		}
	}
	if o := amtrl(t, dir, tiny("submit", "run", "--image", "a")...); o.code != exitUsage ||
		!strings.Contains(o.stderr, "--image does nothing with --to local") {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
}

// The answers of kubectl, from a submission to a retry, and what is made of them where they are none.
func TestSubmitKubernetesAnswers(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	kubectl := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "kubectl"),
			[]byte("#!/bin/sh\ncase \"$*\" in *config*) echo '{\"current-context\":\"lab\",\"contexts\":[{\"name\":\"lab\",\"context\":{}}]}'; "+
				"exit 0;; esac\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args, run := k8sArgs(dir)

	kubectl("echo 'Error from server (Forbidden): quota' >&2; exit 1")
	if o := amtrl(t, dir, args...); o.code != 1 || !strings.Contains(o.stderr, "(Forbidden): quota") {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	if o := amtrl(t, dir, "status", run); o.code != 0 || !strings.Contains(o.stdout, "2 new") {
		t.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}

	kubectl("echo rubbish")
	if o := amtrl(t, dir, args...); o.code != 1 || !strings.Contains(o.stderr, "may have taken the part") {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	if o := amtrl(t, dir, "status", run); o.code != 2 || !strings.Contains(o.stderr, "k8s could not be asked") {
		t.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if o := amtrl(t, dir, "retry", run, "--failed"); o.code != 2 {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}

	kubectl(`echo '{"kind":"List","items":[]}'`)
	if o := amtrl(t, dir, "status", run); o.code != 1 || !strings.Contains(o.stdout, "2 lost") {
		t.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}
	kubectl(`case "$*" in *get*) echo '{"kind":"List","items":[]}';; *) case "$*" in *--context=lab*--namespace=default*) echo ` +
		`default/there;; esac;; esac`)
	if o := amtrl(t, dir, "retry", run, "--failed", "--json"); o.code != 0 || !strings.Contains(o.stdout, `"default/there"`) {
		t.Errorf("exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}
}
