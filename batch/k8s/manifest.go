package k8s

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/amtrl/amtrl/batch"
)

const (
	// maxCompletions bounds the indices of one Job: above it the API demands a
	// limit on failures.
	maxCompletions = 100_000
	// defaultParallel is how many pods of a Job there are at a time where nothing is
	// said: each costs the cluster's scheduler work while it waits.
	defaultParallel = 256
	// graceSeconds is the time between SIGTERM and SIGKILL, for a checkpoint.
	graceSeconds = 60

	containerName = "task"
	runLabel      = "amtrl/run"
	partLabel     = "amtrl/part"
	folderNote    = "amtrl/run-folder"
	queueLabel    = "kueue.x-k8s.io/queue-name"
	indexLabel    = "batch.kubernetes.io/job-completion-index"
	gpuResource   = "nvidia.com/gpu"
	// gpuProductLabel is the label by which NVIDIA's feature discovery names the type
	// of a node's GPUs.
	gpuProductLabel = "nvidia.com/gpu.product"
)

// manifest is the YAML of the Job that carries out a part.
func (o *Options) manifest(s batch.Submission, p batch.Part, parallel int) ([]byte, error) {
	job, err := o.job(s, p, parallel)
	if err != nil {
		return nil, err
	}
	changes, err := parseChanges(o.Args)
	if err != nil {
		return nil, err
	}
	tree, err := applyChanges(job, changes)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// job is the Indexed Job of a part: one pod an index, tried again by index, and
// given up at once where the task says that its input is bad. A pod that the
// cluster ends for reasons of its own costs no attempt.
func (o *Options) job(s batch.Submission, p batch.Part, parallel int) (*jobManifest, error) {
	run := s.Dir
	if o.RunPath != "" {
		run = path.Clean(o.RunPath)
	}
	if !utf8.ValidString(run) || strings.ContainsRune(run, 0) {
		return nil, fmt.Errorf("run folder %q: expected a path in UTF-8", run)
	}
	volumes, err := parseVolumes(o.Volumes)
	if err != nil {
		return nil, err
	}
	if !writable(volumes, run) {
		return nil, optionError("volume", "expected one that is mounted where the run folder %q lies and can be written, found %s", run,
			describeVolumes(o.Volumes))
	}
	selector, err := parseSelector(o.NodeSelector)
	if err != nil {
		return nil, err
	}
	if s.Resources.GPUType != "" {
		if !isLabelValue(s.Resources.GPUType) {
			return nil, optionError("gpu-type", "expected a value of the label %s, found %q", gpuProductLabel, s.Resources.GPUType)
		}
		selector[gpuProductLabel] = s.Resources.GPUType
	}
	tolerations, err := parseTolerations(o.Tolerations)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		"app.kubernetes.io/managed-by": "amtrl",
		runLabel:                       s.ID,
		partLabel:                      p.Key,
	}
	jobLabels := maps.Clone(labels)
	if o.Queue != "" {
		jobLabels[queueLabel] = o.Queue
	}
	name := jobName(s.Name, p.Key, len(p.Tasks))
	if !isDNSLabel(name) {
		return nil, fmt.Errorf("job name %q: expected a DNS label", name)
	}
	pod := podSpec{
		RestartPolicy:                 "Never",
		TerminationGracePeriodSeconds: graceSeconds,
		ActiveDeadlineSeconds:         int64(s.Resources.Time.Seconds()),
		NodeSelector:                  selector,
		Tolerations:                   tolerations,
		Containers: []container{{
			Name:                     containerName,
			Image:                    o.Image,
			Command:                  o.command(run, p),
			Resources:                resourcesOf(s.Resources),
			TerminationMessagePolicy: "FallbackToLogsOnError",
		}},
	}
	for _, v := range volumes {
		pod.Volumes = append(pod.Volumes, v.volume)
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, v.mount)
	}
	spec := jobSpec{
		CompletionMode:       "Indexed",
		Completions:          len(p.Tasks),
		Parallelism:          parallel,
		BackoffLimitPerIndex: s.Resources.MaxRestarts,
		PodReplacementPolicy: "Failed",
		PodFailurePolicy: failurePolicy{Rules: []failureRule{
			{Action: "Ignore", OnPodConditions: []podCondition{{"DisruptionTarget", "True"}}},
			{Action: "FailIndex", OnExitCodes: &onExitCodes{containerName, "In", []int{batch.ExitBadInput}}},
		}},
		Template: podTemplateSpec{Metadata: metadata{Labels: labels}, Spec: pod},
	}
	if o.MaxFailed != nil {
		limit := min(*o.MaxFailed, len(p.Tasks))
		spec.MaxFailedIndexes = &limit
	}
	return &jobManifest{
		APIVersion: "batch/v1",
		Kind:       "Job",
		Metadata: metadata{
			Name:        name,
			Namespace:   o.Namespace,
			Labels:      jobLabels,
			Annotations: map[string]string{folderNote: run},
		},
		Spec: spec,
	}, nil
}

// command is what a pod executes: amtrl itself, or where there are lines of
// setup a shell that carries them out and then becomes amtrl. Nothing but these
// lines is ever read by a shell.
func (o *Options) command(run string, p batch.Part) []string {
	argv := []string{o.Program, "run-task", "--part", p.Key, run}
	if len(o.Setup) > 0 {
		script := "set -e\n" + strings.Join(o.Setup, "\n") + "\n" + `exec "$@"`
		argv = append([]string{"/bin/sh", "-c", script, "amtrl"}, argv...)
	}
	for i, word := range argv {
		// The kubelet expands $(NAME) and turns $$ into $.
		argv[i] = strings.ReplaceAll(word, "$", "$$")
	}
	return append(argv, "$(JOB_COMPLETION_INDEX)")
}

// resourcesOf are the requests of a container, and the same as limits: the
// runtime then fits its threads to the processors it has. GPUs are a limit
// alone, from which the API derives the request.
func resourcesOf(r batch.Resources) containerResources {
	requests, limits := map[string]string{}, map[string]string{}
	if r.CPUs > 0 {
		requests["cpu"] = strconv.Itoa(r.CPUs)
	}
	if r.MemMiB > 0 {
		requests["memory"] = strconv.Itoa(r.MemMiB) + "Mi"
	}
	maps.Copy(limits, requests)
	if r.GPUs > 0 {
		limits[gpuResource] = strconv.Itoa(r.GPUs)
	}
	return containerResources{requests, limits}
}

func describeVolumes(specs []string) string {
	if len(specs) == 0 {
		return "none"
	}
	return strconv.Quote(strings.Join(specs, " "))
}
