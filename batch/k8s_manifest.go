package batch

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// k8sMaxCompletions bounds the indices of one Job: above it the API demands a
	// limit on failures.
	k8sMaxCompletions = 100_000
	// k8sParallel is how many pods of a Job there are at a time where nothing is
	// said: each costs the cluster's scheduler work while it waits.
	k8sParallel = 256
	// k8sGraceSeconds is the time between SIGTERM and SIGKILL, for a checkpoint.
	k8sGraceSeconds = 60

	k8sContainerName = "task"
	k8sRunLabel      = "amtrl/run"
	k8sPartLabel     = "amtrl/part"
	k8sFolderNote    = "amtrl/run-folder"
	k8sQueueLabel    = "kueue.x-k8s.io/queue-name"
	k8sIndexLabel    = "batch.kubernetes.io/job-completion-index"
	k8sGPU           = "nvidia.com/gpu"
	// k8sGPUProduct is the label by which NVIDIA's feature discovery names the type
	// of a node's GPUs.
	k8sGPUProduct = "nvidia.com/gpu.product"
)

// manifest is the YAML of the Job that carries out a part.
func (o *KubernetesOptions) manifest(s Submission, p Part, parallel int) ([]byte, error) {
	job, err := o.job(s, p, parallel)
	if err != nil {
		return nil, err
	}
	changes, err := parseK8sChanges(o.Args)
	if err != nil {
		return nil, err
	}
	tree, err := applyK8sChanges(job, changes)
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
func (o *KubernetesOptions) job(s Submission, p Part, parallel int) (*k8sJob, error) {
	run := s.Dir
	if o.RunPath != "" {
		run = path.Clean(o.RunPath)
	}
	if !utf8.ValidString(run) || strings.ContainsRune(run, 0) {
		return nil, fmt.Errorf("run folder %q: expected a path in UTF-8", run)
	}
	volumes, err := parseK8sVolumes(o.Volumes)
	if err != nil {
		return nil, err
	}
	if !k8sWritable(volumes, run) {
		return nil, optionError("volume", "expected one that is mounted where the run folder %q lies and can be written, found %s", run, describeVolumes(o.Volumes))
	}
	selector, err := parseK8sSelector(o.NodeSelector)
	if err != nil {
		return nil, err
	}
	if s.Resources.GPUType != "" {
		if !isK8sLabelValue(s.Resources.GPUType) {
			return nil, optionError("gpu-type", "expected a value of the label %s, found %q", k8sGPUProduct, s.Resources.GPUType)
		}
		selector[k8sGPUProduct] = s.Resources.GPUType
	}
	tolerations, err := parseK8sTolerations(o.Tolerations)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		"app.kubernetes.io/managed-by": "amtrl",
		k8sRunLabel:                    s.ID,
		k8sPartLabel:                   p.Key,
	}
	jobLabels := maps.Clone(labels)
	if o.Queue != "" {
		jobLabels[k8sQueueLabel] = o.Queue
	}
	name := k8sName(s.Name, p.Key, len(p.Tasks))
	if !isDNSLabel(name) {
		return nil, fmt.Errorf("job name %q: expected a DNS label", name)
	}
	pod := k8sPodSpec{
		RestartPolicy:                 "Never",
		TerminationGracePeriodSeconds: k8sGraceSeconds,
		ActiveDeadlineSeconds:         int64(s.Resources.Time.Seconds()),
		NodeSelector:                  selector,
		Tolerations:                   tolerations,
		Containers: []k8sContainer{{
			Name:                     k8sContainerName,
			Image:                    o.Image,
			Command:                  o.command(run, p),
			Resources:                k8sResourcesOf(s.Resources),
			TerminationMessagePolicy: "FallbackToLogsOnError",
		}},
	}
	for _, v := range volumes {
		pod.Volumes = append(pod.Volumes, v.volume)
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, v.mount)
	}
	spec := k8sJobSpec{
		CompletionMode:       "Indexed",
		Completions:          len(p.Tasks),
		Parallelism:          parallel,
		BackoffLimitPerIndex: s.Resources.MaxRestarts,
		PodReplacementPolicy: "Failed",
		PodFailurePolicy: k8sFailurePolicy{Rules: []k8sFailureRule{
			{Action: "Ignore", OnPodConditions: []k8sPodCondition{{"DisruptionTarget", "True"}}},
			{Action: "FailIndex", OnExitCodes: &k8sOnExitCodes{k8sContainerName, "In", []int{ExitBadInput}}},
		}},
		Template: k8sPodTemplateSpec{Metadata: k8sMeta{Labels: labels}, Spec: pod},
	}
	if o.MaxFailed != nil {
		limit := min(*o.MaxFailed, len(p.Tasks))
		spec.MaxFailedIndexes = &limit
	}
	return &k8sJob{
		APIVersion: "batch/v1",
		Kind:       "Job",
		Metadata: k8sMeta{
			Name:        name,
			Namespace:   o.Namespace,
			Labels:      jobLabels,
			Annotations: map[string]string{k8sFolderNote: run},
		},
		Spec: spec,
	}, nil
}

// command is what a pod executes: amtrl itself, or where there are lines of
// setup a shell that carries them out and then becomes amtrl. Nothing but these
// lines is ever read by a shell.
func (o *KubernetesOptions) command(run string, p Part) []string {
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

// k8sResourcesOf are the requests of a container, and the same as limits: the
// runtime then fits its threads to the processors it has. GPUs are a limit
// alone, from which the API derives the request.
func k8sResourcesOf(r Resources) k8sResources {
	requests, limits := map[string]string{}, map[string]string{}
	if r.CPUs > 0 {
		requests["cpu"] = strconv.Itoa(r.CPUs)
	}
	if r.MemMiB > 0 {
		requests["memory"] = strconv.Itoa(r.MemMiB) + "Mi"
	}
	maps.Copy(limits, requests)
	if r.GPUs > 0 {
		limits[k8sGPU] = strconv.Itoa(r.GPUs)
	}
	return k8sResources{requests, limits}
}

func describeVolumes(specs []string) string {
	if len(specs) == 0 {
		return "none"
	}
	return strconv.Quote(strings.Join(specs, " "))
}
