package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/job"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/batch/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// verdict is what the API server would say of a manifest.
type verdict struct {
	// Error is empty where the Job would be accepted.
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Argv is what the kubelet would execute for the pod of index 7.
	Argv []string `json:"argv,omitempty"`
	// Job is the decoded Job as the API writes it, before defaults.
	Job json.RawMessage `json:"job,omitempty"`
}

var codecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)

// check decodes a manifest, and sets the defaults and validates as the server does on create.
func check(manifest []byte) verdict {
	var plain batchv1.Job
	if _, _, err := codecs.UniversalDeserializer().Decode(manifest, nil, &plain); err != nil {
		return verdict{Error: err.Error()}
	}
	raw, err := json.Marshal(plain)
	if err != nil {
		return verdict{Error: err.Error()}
	}
	o, _, err := codecs.UniversalDecoder(batch.SchemeGroupVersion).Decode(manifest, nil, nil)
	if err != nil {
		return verdict{Error: err.Error()}
	}
	j, ok := o.(*batch.Job)
	if !ok {
		return verdict{Error: fmt.Sprintf("expected a Job, found a %T", o)}
	}
	if j.Namespace == "" {
		j.Namespace = metav1.NamespaceDefault
	}
	j.UID = "0"
	v := verdict{
		Warnings: job.WarningsForJobSpec(context.Background(), field.NewPath("spec"), &j.Spec, nil),
		Argv:     argv(j, 7),
		Job:      raw,
	}
	// The options are those of the server's job strategy for a new Job.
	opts := validation.JobValidationOptions{
		PodValidationOptions:  podutil.GetValidationOptionsFromPodTemplate(&j.Spec.Template, nil),
		RequirePrefixedLabels: true,
	}
	if errs := validation.ValidateJob(withSelector(j), opts); len(errs) > 0 {
		v.Error = errs.ToAggregate().Error()
	}
	return v
}

// withSelector gives a Job the labels and the selector that the job strategy generates on create.
func withSelector(j *batch.Job) *batch.Job {
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = map[string]string{}
	}
	for _, prefix := range []string{"", "batch.kubernetes.io/"} {
		j.Spec.Template.Labels[prefix+"job-name"] = j.Name
		j.Spec.Template.Labels[prefix+"controller-uid"] = string(j.UID)
	}
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": string(j.UID)}}
	return j
}

// argv is the command of the first container with $(VAR) expanded as the kubelet does it for the pod of an index.
func argv(j *batch.Job, index int) []string {
	if len(j.Spec.Template.Spec.Containers) == 0 {
		return nil
	}
	c := j.Spec.Template.Spec.Containers[0]
	vars := map[string]string{"JOB_COMPLETION_INDEX": strconv.Itoa(index)}
	for _, e := range c.Env {
		vars[e.Name] = expansion.Expand(e.Value, expansion.MappingFuncFor(vars))
	}
	var out []string
	for _, word := range slices.Concat(c.Command, c.Args) {
		out = append(out, expansion.Expand(word, expansion.MappingFuncFor(vars)))
	}
	return out
}
