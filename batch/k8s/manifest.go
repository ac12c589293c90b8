package k8s

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/amtrl/amtrl/batch"
)

const (
	// maxCompletions bounds the indices of one Job: above it the API demands a limit on failures.
	maxCompletions = 100_000
	// defaultParallel is the number of pods that a Job may have at a time by default: each pod costs the cluster's
	// scheduler work while it waits.
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
	// gpuProductLabel is the label by which NVIDIA's feature discovery names the type of a node's GPUs.
	gpuProductLabel = "nvidia.com/gpu.product"
)

// object is a part of a manifest under the names of the API, in the form in which YAML is read, so that changes can be
// merged in. k8s.io/api would add 78 packages; instead, tests check the manifests by the API server's own validation.
type object = map[string]any

func (e *engine) manifest(s batch.Submission, p batch.Part, parallel int) ([]byte, error) {
	job, err := e.job(s, p, parallel)
	if err != nil {
		return nil, err
	}
	if err := applyChanges(job, e.options.Args); err != nil {
		return nil, err
	}
	if err := checkData(job, s); err != nil {
		return nil, err
	}
	namePod(job)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(job); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// job returns the Indexed Job of a part: one pod per index, with the retries counted per index. An index fails at once
// if its task says that the input is bad. A pod that the cluster ends for reasons of its own does not count as a retry.
func (e *engine) job(s batch.Submission, p batch.Part, parallel int) (object, error) {
	o := &e.options
	run := s.Dir
	if o.RunPath != "" {
		run = path.Clean(o.RunPath)
	}
	if !isText(run) {
		return nil, fmt.Errorf("run folder %q: expected a path in UTF-8", run)
	}
	if !writable(e.volumes, run) {
		found := "none"
		if len(o.Volumes) > 0 {
			found = strconv.Quote(strings.Join(o.Volumes, " "))
		}
		return nil, optionError("volume", "expected one that is mounted where the run folder %q lies and can be written, found %s", run, found)
	}
	selector := maps.Clone(e.selector)
	if gpu := s.Resources.GPUType; gpu != "" {
		if !isLabelValue(gpu) {
			return nil, optionError("gpu-type", "expected a value of the label %s, found %q", gpuProductLabel, gpu)
		}
		selector[gpuProductLabel] = gpu
	}
	name := jobName(s.Name, p.Key, len(p.Tasks))
	if !isDNSLabel(name) {
		return nil, fmt.Errorf("job name %q: expected a DNS label", name)
	}
	labels := object{"app.kubernetes.io/managed-by": "amtrl", runLabel: s.ID, partLabel: p.Key}
	jobLabels := maps.Clone(labels)
	if o.Queue != "" {
		jobLabels[queueLabel] = o.Queue
	}
	var volumes, mounts []any
	for _, v := range e.volumes {
		volumes, mounts = append(volumes, v.volume), append(mounts, v.mount)
	}
	spec := object{
		"completionMode":       "Indexed",
		"completions":          int64(len(p.Tasks)), // int64, so that a user's change, whose numbers are ints, never equals it
		"parallelism":          parallel,
		"backoffLimitPerIndex": s.Resources.MaxRestarts,
		"podReplacementPolicy": "Failed",
		"podFailurePolicy": object{"rules": []any{
			object{"action": "Ignore", "onPodConditions": []any{object{"type": "DisruptionTarget", "status": "True"}}},
			object{"action": "FailIndex", "onExitCodes": object{"containerName": containerName, "operator": "In",
				"values": []any{batch.ExitBadInput}}},
		}},
		"template": object{"metadata": object{"labels": labels}, "spec": withoutEmpty(object{
			"restartPolicy":                 "Never",
			"terminationGracePeriodSeconds": graceSeconds,
			"activeDeadlineSeconds":         int(s.Resources.Time.Seconds()),
			"automountServiceAccountToken":  false,
			"enableServiceLinks":            false,
			"nodeSelector":                  selector,
			"tolerations":                   e.tolerations,
			"volumes":                       volumes,
			"containers": []any{object{
				"name":                     containerName,
				"image":                    o.Image,
				"command":                  o.command(run, p),
				"resources":                resourcesOf(s.Resources),
				"terminationMessagePolicy": "FallbackToLogsOnError",
				"volumeMounts":             mounts,
			}},
		})},
	}
	if o.MaxFailed != nil {
		spec["maxFailedIndexes"] = min(*o.MaxFailed, len(p.Tasks))
	}
	return object{
		"apiVersion": "batch/v1",
		"kind":       "Job",
		"metadata": withoutEmpty(object{"name": name, "namespace": o.Namespace, "labels": jobLabels,
			"annotations": object{folderNote: run}}),
		"spec": spec,
	}, nil
}

// namePod adds the variable that holds the name of the pod, behind those that the user has set by their places.
func namePod(job object) {
	container, ok := treeAt(job, "spec.template.spec.containers.0").(object)
	if env, isList := container["env"].([]any); ok && (isList || container["env"] == nil) {
		container["env"] = append(env, object{"name": podVariable, "valueFrom": object{"fieldRef": object{"fieldPath": "metadata.name"}}})
	}
}

// withoutEmpty deletes the empty texts, lists and objects, and the zeros, from o and returns o.
func withoutEmpty(o object) object {
	maps.DeleteFunc(o, func(_ string, v any) bool {
		switch v := v.(type) {
		case string:
			return v == ""
		case int:
			return v == 0
		case []any:
			return len(v) == 0
		case object:
			return len(v) == 0
		}
		return false
	})
	return o
}

// command returns the command of a pod: amtrl itself or, if there are lines of setup, a shell that executes them and
// then becomes amtrl. A shell never reads anything but these lines.
func (o *Options) command(run string, p batch.Part) []any {
	argv := []string{o.Program, "run-task", "--part", p.Key, run}
	if len(o.Setup) > 0 {
		script := "set -e\n" + strings.Join(o.Setup, "\n") + "\n" + `exec "$@"`
		argv = append([]string{"/bin/sh", "-c", script, "amtrl"}, argv...)
	}
	var words []any
	for _, word := range argv {
		// The kubelet expands $(NAME) and turns $$ into $.
		words = append(words, strings.ReplaceAll(word, "$", "$$"))
	}
	return append(words, "$(JOB_COMPLETION_INDEX)")
}

// resourcesOf returns the resources of a container. Requests and limits are the same, so that the runtime fits its
// threads to the processors it has. GPUs are only a limit, from which the API derives the request.
func resourcesOf(r batch.Resources) object {
	requests := object{}
	if r.CPUs > 0 {
		requests["cpu"] = strconv.Itoa(r.CPUs)
	}
	if r.MemMiB > 0 {
		requests["memory"] = strconv.Itoa(r.MemMiB) + "Mi"
	}
	limits := maps.Clone(requests)
	if r.GPUs > 0 {
		limits[gpuResource] = strconv.Itoa(r.GPUs)
	}
	return withoutEmpty(object{"requests": requests, "limits": limits})
}
