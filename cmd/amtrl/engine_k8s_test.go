//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// k8sArgs returns the arguments of a submission to Kubernetes, and its run folder, which has a hostile name.
func k8sArgs(dir string, more ...string) (args []string, run string) {
	run = filepath.Join(dir, "a $(touch x) 'b' \"c\"\nd")
	args = append(tiny("submit", "--targets", "fog_1,fog_2"), run, "--to", "k8s", "--image",
		"registry.example/amtrl:1", "--volume", "work:"+dir)
	return append(args, more...), run
}

// Without kubectl --dry-run prints the manifest; everything else fails and writes nothing.
func TestSubmitKubernetesWithoutKubectl(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", t.TempDir())
	args, run := k8sArgs(dir, "--dry-run", "--gpus", "1", "--context", "lab", "--namespace", "team")
	o := succeed(t, dir, args...)
	o.Prints(t, 0, "kind: Job\n", "completions: 2\n", `nvidia.com/gpu: "1"`,
		"kubectl --context=lab --namespace=team", " create ")
	for _, more := range [][]string{{"--check"}, nil} {
		args, _ := k8sArgs(dir, more...)
		amtrl(t, dir, args...).ComplainsOnce(t, 1, "kubectl is not in PATH")
	}
	must.Absent(t, run)
	must.Absent(t, filepath.Join(dir, "x")) // the name was not executed
}

// Kubernetes flags with values that cannot be used are refused in one line with a hint, before anything is written.
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
		lines := strings.Split(strings.TrimSpace(o.Stderr), "\n")
		if o.Code != exitUsage || len(lines) != 2 || !strings.Contains(lines[0], more[len(more)-min(2, len(more))]) || o.Stdout != "" {
			t.Errorf("%q: exit code %d: %s%s", more, o.Code, o.Stdout, o.Stderr)
		}
		must.Absent(t, run)
	}
	amtrl(t, dir, tiny("submit", "run", "--image", "a")...).Complains(t, exitUsage, "--image does nothing with --to local")
}

// Submissions, status and retry handle kubectl's answers, and its outputs that are no answer.
func TestSubmitKubernetesAnswers(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	kubectl := func(script string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(bin, "kubectl"),
			[]byte("#!/bin/sh\ncase \"$*\" in *config*) echo '{\"current-context\":\"lab\",\"contexts\":[{\"name\":\"lab\",\"context\":{}}]}'; "+
				"exit 0;; esac\n"+script+"\n"), 0o755))
	}
	args, run := k8sArgs(dir)

	kubectl("echo 'Error from server (Forbidden): quota' >&2; exit 1")
	amtrl(t, dir, args...).Complains(t, 1, "(Forbidden): quota")
	amtrl(t, dir, "status", run).Prints(t, 0, "2 new")

	kubectl("echo 'The connection to the server localhost:8080 was refused' >&2; exit 1")
	amtrl(t, dir, args...).Complains(t, 1, "was refused")
	amtrl(t, dir, "status", run).Prints(t, 0, "2 new")

	kubectl("echo rubbish")
	amtrl(t, dir, args...).Complains(t, 1, "may have taken the part")
	amtrl(t, dir, "status", run).Complains(t, 2, "k8s could not be asked")
	kubectl("echo 'The connection to the server localhost:8080 was refused' >&2; exit 1")
	amtrl(t, dir, "retry", run, "--failed").Prints(t, 2)
	amtrl(t, dir, args...).Complains(t, 2, "k8s could not be asked")

	kubectl(`echo '{"kind":"List","items":[]}'`)
	amtrl(t, dir, "status", run).Prints(t, 1, "2 lost")
	kubectl(`case "$*" in *get*) echo '{"kind":"List","items":[]}';; *) case "$*" in *--context=lab*--namespace=default*) echo ` +
		`default/there;; esac;; esac`)
	amtrl(t, dir, "retry", run, "--failed", "--json").Prints(t, 0, `"default/there"`)

	kubectl("kill -INT $PPID; exec sleep 60")
	amtrl(t, dir, "logs", run, "0", "-f").ComplainsLast(t, exitInterrupted, "interrupted; the task goes on")
}

// What the server warns of reaches the user, and a Job for which no pod is made is said to have none, and what to ask.
func TestPodsThatAreRefused(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	args, run := k8sArgs(dir, "--context", "lab", "--namespace", "team")
	kubectl := func(list string) {
		must.Do(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte("#!/bin/sh\ncase \"$*\" in *get*) echo '{\"kind\":\"List\",\"items\":["+
			list+"]}';; *) echo 'Warning: would violate PodSecurity' >&2; echo team/there;; esac\n"), 0o755))
	}
	kubectl("")
	amtrl(t, dir, append(args, "--check")...).Complains(t, 0, "k8s warns: would violate PodSecurity", "k8s would take it")
	amtrl(t, dir, args...).Complains(t, 0, "k8s warns: would violate PodSecurity")
	r := must.Get(batch.Open(run))(t)
	kubectl(`{"kind":"Job","metadata":{"name":"there","namespace":"team","creationTimestamp":"2026-01-02T03:04:05Z","labels":` +
		`{"amtrl/part":"` + r.Jobs[0].Key + `"}},"spec":{},"status":{}}`)
	amtrl(t, dir, "status", run).Prints(t, 0, "2 queued: no pod was made: kubectl --context=lab --namespace=team describe job there says why")
}
