// Package k8s runs the tasks of a run folder as Indexed Jobs of Kubernetes, through kubectl: options, manifests, and
// what the cluster reports about them.
package k8s

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// engine runs tasks as Indexed Jobs of a Kubernetes cluster, which it reaches through kubectl.
type engine struct {
	options     Options
	volumes     []volume
	selector    object
	tolerations []any
	warnings    []string // of the server, since Warnings was last called
}

var (
	_ batch.Preparer = (*engine)(nil)
	_ batch.Warner   = (*engine)(nil)
)

// newEngine returns the engine, or an error that says which option cannot be used.
func newEngine(o Options) (*engine, error) {
	o.Program = cmp.Or(o.Program, "amtrl")
	volumes, err1 := parseVolumes(o.Volumes)
	selector, err2 := parseSelector(o.NodeSelector)
	tolerations, err3 := parseTolerations(o.Tolerations)
	_, err4 := parseChanges(o.Args)
	if err := cmp.Or(o.check(), err1, err2, err3, err4); err != nil {
		return nil, err
	}
	return &engine{options: o, volumes: volumes, selector: selector, tolerations: tolerations}, nil
}

// create runs a kubectl create and keeps what the server warns of.
func (e *engine) create(ctx context.Context, stdin []byte, argv []string) ([]byte, error) {
	out, warnings, err := runKubectlAloud(ctx, stdin, argv)
	for _, w := range warnings {
		if !slices.Contains(e.warnings, w) {
			e.warnings = append(e.warnings, w)
		}
	}
	return out, err
}

// Warnings implements [batch.Warner].
func (e *engine) Warnings() []string {
	list := e.warnings
	e.warnings = nil
	return list
}

func (e *engine) Name() string { return Kind.Name }
func (e *engine) Options() any { return e.options }

// podVariable is the environment variable that holds the name of the pod. The host name of a pod of an Indexed Job lacks its suffix.
const podVariable = "POD_NAME"

// Attempt implements [batch.Engine]: the id is the name of the pod.
func (e *engine) Attempt() batch.Attempt { return batch.Attempt{ID: os.Getenv(podVariable)} }

// Prepare implements [batch.Preparer]: it refuses what only shows with a run folder, and fixes the context and the
// namespace that kubectl would take now.
func (e *engine) Prepare(ctx context.Context, s batch.Submission) error {
	s.Tasks = []int{0}
	if s.ID == "" {
		s.ID = strings.Repeat("0", 12)
	}
	if _, err := e.Render(ctx, s); err != nil {
		return err
	}
	return e.Resolve(ctx)
}

// Resolve fills in the context and the namespace that kubectl would take now, so that later queries go to the same
// place. Within a cluster there may be no context; kubectl then goes by its service account.
func (e *engine) Resolve(ctx context.Context) error {
	if e.options.Context != "" && e.options.Namespace != "" {
		return nil
	}
	raw, err := runKubectl(ctx, nil, e.kubectl("", "config", "view", "--minify", "--output=json"))
	if e.options.Context == "" && kubectlSaid(err, "current-context must exist") {
		return nil
	}
	if err != nil {
		return err
	}
	var config struct {
		Current  string `json:"current-context"`
		Contexts []struct {
			Name    string `json:"name"`
			Context struct {
				Namespace string `json:"namespace"`
			} `json:"context"`
		} `json:"contexts"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return fmt.Errorf("kubectl config: expected JSON, found %s: %w", excerpt(raw), err)
	}
	e.options.Context = cmp.Or(e.options.Context, config.Current)
	for _, c := range config.Contexts {
		if c.Name == e.options.Context && e.options.Namespace == "" {
			e.options.Namespace = c.Context.Namespace
		}
	}
	e.options.Namespace = cmp.Or(e.options.Namespace, "default")
	return e.options.check()
}

// command returns a kubectl command in a namespace, that of the options if namespace is empty.
func (e *engine) command(namespace string, words ...string) []string {
	argv := []string{"kubectl"}
	if e.options.Context != "" {
		argv = append(argv, "--context="+e.options.Context)
	}
	if namespace = cmp.Or(namespace, e.options.Namespace); namespace != "" {
		argv = append(argv, "--namespace="+namespace)
	}
	return append(argv, words...)
}

// kubectl returns a command whose requests are limited to kubectlRequest each.
func (e *engine) kubectl(namespace string, words ...string) []string {
	return e.command(namespace, append([]string{"--request-timeout=" + kubectlRequest}, words...)...)
}

// Render implements [batch.Engine]. The indices of a part run from 0 without holes, as those of an Indexed Job do.
func (e *engine) Render(_ context.Context, s batch.Submission) ([]batch.Part, error) {
	chunks := slices.Collect(slices.Chunk(s.Tasks, maxCompletions))
	parallel := cmp.Or(s.Resources.Parallel, defaultParallel)
	var parts []batch.Part
	for i, tasks := range chunks {
		p := batch.Part{
			Key:   s.PartKey(i),
			File:  fmt.Sprintf("%d-%d.yaml", s.Number, i),
			Tasks: tasks,
			Dense: tasks[0] != 0 || tasks[len(tasks)-1] != len(tasks)-1,
		}
		p.Argv = e.kubectl("", "create", "--filename="+csvField(filepath.Join(s.Dir, batch.SubmitDir, p.File)),
			"--output=jsonpath={.metadata.namespace}/{.metadata.name}")
		var err error
		if p.Content, err = e.manifest(s, p, min(max(parallel/len(chunks), 1), len(tasks))); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// Check implements [batch.Engine]: a dry run by the server, and a look for the volume claims, which the server does not
// check before a pod starts.
func (e *engine) Check(ctx context.Context, parts []batch.Part) error {
	for _, p := range parts {
		if _, err := e.create(ctx, p.Content, e.kubectl("", "create", "--dry-run=server", "--filename=-", "--output=name")); err != nil {
			return err
		}
	}
	var claims []string
	for _, v := range e.volumes {
		if v.claim != "" {
			claims = append(claims, v.claim)
		}
	}
	slices.Sort(claims)
	for _, name := range slices.Compact(claims) {
		_, err := runKubectl(ctx, nil, e.kubectl("", "get", "persistentvolumeclaim", name, "--output=name"))
		if err != nil && !kubectlSaid(err, "(Forbidden)") { // not everyone may look
			return err
		}
	}
	return nil
}

// Submit implements [batch.Engine]. The id is NAMESPACE/NAME. If a Job of this part already exists, it was made by an
// earlier call whose answer got lost.
func (e *engine) Submit(ctx context.Context, p batch.Part) (string, error) {
	out, err := e.create(ctx, nil, p.Argv)
	switch {
	case kubectlSaid(err, "already exists"):
		id, findErr := e.find(ctx, p.Key)
		if findErr != nil {
			return "", &batch.Unsure{Err: findErr}
		}
		if id == "" {
			return "", err
		}
		return id, nil
	case err != nil && kubectlRefused(err):
		return "", err
	case err != nil:
		return "", &batch.Unsure{Err: err}
	}
	id := strings.TrimSpace(string(out))
	if _, err := namespaceOf(id); id == "" || err != nil {
		return "", &batch.Unsure{Err: fmt.Errorf("kubectl create: expected NAMESPACE/NAME, found %s", excerpt(out))}
	}
	return id, nil
}

// find returns the id of the Job of a part, empty if there is none.
func (e *engine) find(ctx context.Context, key string) (string, error) {
	items, err := e.list(ctx, "", "jobs.batch", partLabel+"="+key)
	for _, i := range items {
		if i.Metadata.Labels[partLabel] == key {
			return i.id(), nil
		}
	}
	return "", err
}

// list returns the items of these kinds that a label selector selects.
func (e *engine) list(ctx context.Context, namespace, kinds, selector string) ([]item, error) {
	raw, err := runKubectl(ctx, nil, e.kubectl(namespace, "get", kinds, "--selector="+selector, "--output=json"))
	if err != nil {
		return nil, err
	}
	return parseList(raw)
}

// Query implements [batch.Engine] with one question for each namespace.
func (e *engine) Query(ctx context.Context, jobs []batch.Job) ([]batch.Observation, error) {
	runs := map[string][]string{}
	for _, j := range jobs {
		namespace, err := namespaceOf(j.ID)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", j.Key, err)
		}
		namespace = cmp.Or(namespace, e.options.Namespace)
		run, _, _ := strings.Cut(j.Key, "-")
		runs[namespace] = append(runs[namespace], run)
	}
	var items []item
	for _, namespace := range slices.Sorted(maps.Keys(runs)) {
		slices.Sort(runs[namespace])
		selector := runLabel + " in (" + strings.Join(slices.Compact(runs[namespace]), ",") + ")"
		found, err := e.list(ctx, namespace, "jobs.batch,pods", selector)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	return observe(jobs, items, e.describe)
}

// describe returns the command that says what happens to a Job.
func (e *engine) describe(job *item) string {
	return text.ShellCommand(e.command(job.Metadata.Namespace, "describe", "job", job.Metadata.Name))
}

// Cancel implements [batch.Engine]. To cancel all tasks of a job it deletes the job. An Indexed Job cannot leave out an index,
// so to cancel some tasks it deletes their pods; the next attempt of each finds in the run folder that it was cancelled.
func (e *engine) Cancel(ctx context.Context, j batch.Job, tasks []int) error {
	namespace, err := namespaceOf(j.ID)
	if err != nil {
		return err
	}
	part := partLabel + "=" + j.Key
	if tasks == nil || len(tasks) == len(j.Tasks) {
		_, err := runKubectl(ctx, nil, e.kubectl(namespace, "delete", "jobs.batch", "--selector="+part, "--wait=false", "--output=name"))
		return err
	}
	var indices []string
	for _, t := range tasks {
		if i := j.Index(t); i >= 0 {
			indices = append(indices, strconv.Itoa(i))
		}
	}
	for chunk := range slices.Chunk(indices, 500) {
		selector := part + "," + indexLabel + " in (" + strings.Join(chunk, ",") + ")"
		_, err := runKubectl(ctx, nil, e.kubectl(namespace, "delete", "pods", "--selector="+selector,
			"--field-selector=status.phase!=Succeeded,status.phase!=Failed", "--wait=false", "--output=name"))
		if err != nil {
			return err
		}
	}
	return nil
}

// Log implements [batch.Engine]: the logs of the task's pods, while the cluster keeps them.
func (e *engine) Log(j batch.Job, task int, follow bool) batch.Log {
	namespace, err := namespaceOf(j.ID)
	if err != nil {
		return batch.Log{} // it never got an id that Kubernetes gives
	}
	words := []string{"logs", "--selector=" + partLabel + "=" + j.Key + "," + indexLabel + "=" + strconv.Itoa(j.Index(task)), "--tail=-1"}
	if follow {
		words = append(words, "--follow", "--max-log-requests=10000") // for all attempts: without it kubectl follows five
	}
	return batch.Log{Argv: e.command(namespace, words...)}
}

// namespaceOf returns the namespace in the id of a job, empty if the id is.
func namespaceOf(id string) (string, error) {
	namespace, name, _ := strings.Cut(id, "/")
	if id != "" && (!isDNSLabel(namespace) || !isDNSLabel(name)) {
		return "", fmt.Errorf("the id of a job is %q: expected NAMESPACE/NAME", text.OneLine(id, 80))
	}
	return namespace, nil
}
