package main

import (
	"strconv"

	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

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
	for _, word := range append(append([]string(nil), c.Command...), c.Args...) {
		out = append(out, expansion.Expand(word, expansion.MappingFuncFor(vars)))
	}
	return out
}
