package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// randomSubmission returns a submission of up to 40 tasks, or at times of 10,000 or more; the indices of half of them
// have holes.
func randomSubmission(rng *rand.Rand) batch.Submission {
	n := 1 + rng.IntN(40)
	if rng.IntN(20) == 0 {
		n = 10_000 + rng.IntN(100_000)
	}
	var tasks []int
	holes := rng.IntN(2) == 0
	for i := range n {
		if !holes || rng.IntN(3) > 0 {
			tasks = append(tasks, i)
		}
	}
	if len(tasks) == 0 {
		tasks = []int{n - 1}
	}
	name := hostileName(rng)
	return batch.Submission{
		Dir:     "/vol" + strings.Repeat("/deep er", rng.IntN(3)) + "/" + name,
		ID:      fmt.Sprintf("%012x", rng.Uint64()>>16),
		Name:    name,
		Number:  1 + rng.IntN(12),
		Tasks:   tasks,
		Program: "/usr/local/bin/amtrl",
		Resources: batch.Resources{
			GPUs: rng.IntN(3), CPUs: rng.IntN(65), MemMiB: rng.IntN(3) * rng.IntN(1<<20),
			Time: time.Duration(rng.IntN(3)*rng.IntN(1_000_000)) * time.Second, Parallel: rng.IntN(4) * rng.IntN(400), MaxRestarts: rng.IntN(9),
		},
	}
}

// randomOptions returns options that are valid on every cluster.
func randomOptions(rng *rand.Rand) Options {
	some := func(values ...string) []string {
		var out []string
		for _, v := range values {
			if rng.IntN(3) == 0 {
				out = append(out, v)
			}
		}
		return out
	}
	o := Options{
		Image: []string{"amtrl", "registry.example:5000/team/amtrl:1.2",
			"registry.example/amtrl@sha256:" + strings.Repeat("ab", 32)}[rng.IntN(3)],
		Volumes: append([]string{[]string{"work-claim:/vol", "a.b.c:/vol/", "/mnt/shared folder:/vol"}[rng.IntN(3)]},
			some("data:/data:ro", "/srv/data:/srv/data", "cache:/cache$(HOME)")...),
		NodeSelector: some("kubernetes.io/arch=amd64", "pool=gpu_big.1", "empty="),
		Tolerations:  some("nvidia.com/gpu", "nvidia.com/gpu:NoSchedule", "pool=gpu:NoExecute", "spot=", "x=y:PreferNoSchedule"),
		Setup:        some("ulimit -c 0", "export X='a b' Y=$(date) Z=$HOME", "echo \"$$\"", hostileText(rng)),
		Args: some("spec.ttlSecondsAfterFinished=86400", "spec.template.spec.priorityClassName=low",
			"spec.template.spec.securityContext={runAsUser: 1000, fsGroup: 1000}",
			"spec.template.spec.containers.0.env.0={name: A, value: \"$(B)\"}", `metadata.annotations={"example.org/a.b": "c d"}`,
			"spec.template.spec.containers.0.imagePullPolicy=Always"),
		Context: []string{"", "a b"}[rng.IntN(2)], Namespace: []string{"", "team-a"}[rng.IntN(2)], Queue: []string{"", "gpu-queue"}[rng.IntN(2)],
	}
	if rng.IntN(3) == 0 {
		n := rng.IntN(60)
		o.MaxFailed = &n
	}
	if rng.IntN(3) == 0 {
		o.RunPath = "/vol/" + hostileName(rng)
	}
	return o
}

func mustNew(t testing.TB, o Options) *engine {
	t.Helper()
	e, err := newEngine(o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return e
}

// The API server accepts the manifests of any submission and decodes them to the intended values, and the kubelet
// executes exactly the intended words.
func TestManifests(t *testing.T) {
	rng := testrand.New(t)
	type made struct {
		engine *engine
		s      batch.Submission
		part   batch.Part
	}
	var all []made
	var manifests [][]byte
	for range 400 {
		e, s := mustNew(t, randomOptions(rng)), randomSubmission(rng)
		if rng.IntN(4) == 0 {
			s.Resources.GPUType = []string{"NVIDIA-H200", "NVIDIA-A100-SXM4-80GB"}[rng.IntN(2)]
		}
		parts, err := e.Render(context.Background(), s)
		if err != nil {
			t.Fatalf("%+v\n%+v: %v", e.options, s, err)
		}
		covered := 0
		for _, p := range parts {
			covered += len(p.Tasks)
			for at, task := range p.Tasks {
				if p.Index(task) != at || p.Task(at) != task {
					t.Fatalf("task %d of %s has index %d, want %d", task, p.Tasks, p.Index(task), at)
				}
			}
			all, manifests = append(all, made{e, s, p}), append(manifests, p.Content)
		}
		if covered != len(s.Tasks) {
			t.Fatalf("%d of %d tasks", covered, len(s.Tasks))
		}
	}
	for i, v := range runKubecheck(t, manifests) {
		m, o := all[i], all[i].engine.options
		if v.Error != "" || len(v.Warnings) > 0 {
			t.Fatalf("refused: %s %q\n%s", v.Error, v.Warnings, manifests[i])
		}
		run := m.s.Dir
		if o.RunPath != "" {
			run = path.Clean(o.RunPath)
		}
		want := []string{"amtrl", "run-task", "--part", m.part.Key, run, "7"}
		if len(o.Setup) > 0 {
			want = append([]string{"/bin/sh", "-c", "set -e\n" + strings.Join(o.Setup, "\n") + "\nexec \"$@\"", "amtrl"}, want...)
		}
		if !slices.Equal(v.Argv, want) {
			t.Fatalf("executes %q, want %q\n%s", v.Argv, want, manifests[i])
		}
		checkDecoded(t, o, m.s, m.part, v.Job, manifests[i])
	}
}

// A Job has at most 100,000 indices: a larger submission is divided into several Jobs, and so is the number of tasks
// that may run at a time.
func TestChunks(t *testing.T) {
	s := batch.Submission{Dir: "/vol/run", ID: "0123456789ab", Name: "run", Number: 2, Resources: batch.Resources{Parallel: 11}}
	for i := range 250_000 {
		s.Tasks = append(s.Tasks, i)
	}
	parts, err := mustNew(t, Options{Image: "a", Volumes: []string{"w:/vol"}}).Render(context.Background(), s)
	if err != nil || len(parts) != 3 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	var manifests [][]byte
	for i, p := range parts {
		want := fmt.Sprintf("completions: %d\n  parallelism: 3\n", []int{100_000, 100_000, 50_000}[i])
		if !strings.Contains(string(p.Content), want) || p.Key != s.PartKey(i) ||
			p.File != fmt.Sprintf("2-%d.yaml", i) || p.Task(0) != i*100_000 {
			t.Errorf("%s: %s\n%s", p.Key, p.File, p.Content)
		}
		manifests = append(manifests, p.Content)
	}
	for _, v := range runKubecheck(t, manifests) {
		if v.Error != "" {
			t.Error(v.Error)
		}
	}
}

// checkDecoded compares the Job that the API decoded from a manifest with the submission.
func checkDecoded(t *testing.T, o Options, s batch.Submission, p batch.Part, raw, manifest []byte) {
	t.Helper()
	var job any
	must.Do(t, json.Unmarshal(raw, &job))
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\n%s", append(args, manifest)...)
	}
	fields := func(path string) object { m, _ := treeAt(job, path).(object); return m }
	count := func(path string) int { l, _ := treeAt(job, path).([]any); return len(l) }
	const pod, c = "spec.template.spec.", "spec.template.spec.containers.0."
	for path, want := range map[string]any{
		"spec.completions":                           float64(len(p.Tasks)),
		"spec.backoffLimitPerIndex":                  float64(s.Resources.MaxRestarts),
		"metadata.labels." + partLabel:               p.Key,
		"spec.podReplacementPolicy":                  "Failed",
		"spec.completionMode":                        "Indexed",
		pod + "restartPolicy":                        "Never",
		c + "terminationMessagePolicy":               "FallbackToLogsOnError",
		c + "resources.requests.memory":              treeAt(job, c+"resources.limits.memory"),
		"spec.template.metadata.labels." + partLabel: p.Key,
		"spec.template.metadata.labels." + runLabel:  s.ID,
		pod + "terminationGracePeriodSeconds":        60.,
		pod + "automountServiceAccountToken":         false,
		pod + "enableServiceLinks":                   false,
		"spec.podFailurePolicy.rules": []any{
			object{"action": "Ignore", "onPodConditions": []any{object{"type": "DisruptionTarget", "status": "True"}}},
			object{"action": "FailIndex", "onExitCodes": object{"containerName": treeAt(job, c+"name"), "operator": "In", "values": []any{65.}}},
		},
	} {
		if got := treeAt(job, path); !reflect.DeepEqual(got, want) {
			fail("%s is %v, want %v", path, got, want)
		}
	}
	env, _ := treeAt(job, c+"env").([]any)
	name, _ := env[len(env)-1].(object)
	if want := (object{"fieldPath": "metadata.name"}); name["name"] != podVariable ||
		!reflect.DeepEqual(treeAt(name, "valueFrom.fieldRef"), want) {
		fail("the last variable is %v, want the name of the pod", name)
	}
	if n, _ := treeAt(job, "spec.parallelism").(float64); n < 1 || int(n) > len(p.Tasks) ||
		s.Resources.Parallel > 0 && int(n) > s.Resources.Parallel {
		fail("parallelism is %v", n)
	}
	if name := fields("metadata")["name"].(string); len(name+"-"+strconv.Itoa(len(p.Tasks)-1)) > 63 || !strings.HasSuffix(name, p.Key) {
		fail("name is %s", name)
	}
	if queue, _ := fields("metadata.labels")[queueLabel].(string); queue != o.Queue || strings.Contains(string(raw), `"suspend"`) {
		fail("queue %q, or suspend is set", queue)
	}
	limits, want := fields(c+"resources.limits"), object{}
	if n := s.Resources.GPUs; n > 0 {
		want[gpuResource] = strconv.Itoa(n)
	}
	if limits[gpuResource] != want[gpuResource] || s.Resources.CPUs > 0 && limits["cpu"] != strconv.Itoa(s.Resources.CPUs) {
		fail("limits are %v", limits)
	}
	memory, _ := limits["memory"].(string)
	if got := mebibytes(memory); got != s.Resources.MemMiB {
		fail("memory is %d MiB, want %d", got, s.Resources.MemMiB)
	}
	deadline, _ := treeAt(job, pod+"activeDeadlineSeconds").(float64)
	if int64(deadline) != int64(s.Resources.Time/time.Second) || count(pod+"volumes") != len(o.Volumes) ||
		count(c+"volumeMounts") != len(o.Volumes) {
		fail("time %v, %d volumes", deadline, count(pod+"volumes"))
	}
	gpu, selector := s.Resources.GPUType, fields(pod+"nodeSelector")
	if count(pod+"tolerations") != len(o.Tolerations) || gpu != "" && selector[gpuProductLabel] != gpu {
		fail("%d tolerations, node selector %v", count(pod+"tolerations"), selector)
	}
	if (treeAt(job, "spec.maxFailedIndexes") == nil) != (o.MaxFailed == nil) {
		fail("maxFailedIndexes")
	}
	for _, arg := range o.Args {
		word, _, _ := strings.Cut(arg[strings.IndexAny(arg, "=")+1:], ":")
		if !strings.Contains(string(raw), strings.Trim(word, `{"`)) {
			fail("%s is not there", arg)
		}
	}
}

// mebibytes returns the MiB of a quantity in the API's notation.
func mebibytes(q string) int {
	units := map[string]float64{"Ki": 1. / 1024, "Mi": 1, "Gi": 1024, "Ti": 1 << 20}
	for _, u := range slices.Sorted(maps.Keys(units)) {
		if n, ok := strings.CutSuffix(q, u); ok {
			v, _ := strconv.Atoi(n)
			return int(float64(v) * units[u])
		}
	}
	return 0
}

// Kubecheck finds errors: each of these manifests differs in one place from the valid one.
func TestKubecheckRefuses(t *testing.T) {
	want := map[string]string{
		"good.yaml":        "",
		"bad-enum.yaml":    "spec.completionMode",
		"bad-field.yaml":   `unknown field "spec.paralelism"`,
		"bad-gpureq.yaml":  "must be equal to nvidia.com/gpu limit",
		"bad-name.yaml":    "metadata.name",
		"bad-noimage.yaml": "containers[0].image: Required value",
		"bad-qty.yaml":     "quantities must match",
		"bad-restart.yaml": "restartPolicy",
		"bad-type.yaml":    "backoffLimitPerIndex",
	}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var manifests [][]byte
	for _, f := range files {
		raw := must.Get(os.ReadFile(f))(t)
		manifests = append(manifests, raw)
	}
	for i, v := range runKubecheck(t, manifests) {
		text, ok := want[filepath.Base(files[i])]
		if !ok || (text == "") != (v.Error == "") || !strings.Contains(v.Error, text) {
			t.Errorf("%s: %q, want %q", files[i], v.Error, text)
		}
	}
}

// Different parts never have the same name, and the same part always gets the same name.
func TestNames(t *testing.T) {
	rng := testrand.New(t)
	seen := map[string]string{}
	for range 3000 {
		s := randomSubmission(rng)
		n := []int{1, 2, 11, 100_000}[rng.IntN(4)]
		key := s.PartKey(rng.IntN(10))
		name := jobName(s.Name, key, n)
		if name != jobName(s.Name, key, n) || !isDNSLabel(name) || !isDNSLabel(fmt.Sprintf("%s-%d", name, n-1)) {
			t.Fatalf("%q became %q", s.Name, name)
		}
		if old, ok := seen[name]; ok && old != key {
			t.Fatalf("%s and %s are both %s", old, key, name)
		}
		seen[name] = key
	}
	if got := jobName("My Sweep (2)", "0123456789ab-1-0", 8); got != "amtrl-my-sweep-2-0123456789ab-1-0" {
		t.Error(got)
	}
}

// An engine made from saved options renders the same manifest.
func TestOptionsRoundTrip(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		e, s := mustNew(t, randomOptions(rng)), randomSubmission(rng)
		raw := must.Get(json.Marshal(e.Options()))(t)
		var o Options
		must.Do(t, json.Unmarshal(raw, &o))
		a, err1 := e.Render(context.Background(), s)
		b, err2 := mustNew(t, o).Render(context.Background(), s)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: %v, %v", raw, err1, err2)
		}
	}
}
