package k8s

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/batch"
)

// checkData returns an error if the data, or a file that a manifest names, lie on no volume that the container of the job mounts.
func checkData(job object, s batch.Submission) error {
	if s.Data == "" {
		return nil
	}
	at := mountPaths(job)
	mounted := func(p string) bool {
		return slices.ContainsFunc(at, func(folder string) bool { return within(p, folder) })
	}
	found := "none"
	if len(at) > 0 {
		found = fmt.Sprintf("%q", strings.Join(at, " "))
	}
	if !mounted(s.Data) {
		return optionError("volume", "expected one that is mounted where the data %q lie, found %s: the pods read them at the path that "+
			"they have here", s.Data, found)
	}
	if i := slices.IndexFunc(s.Files, func(p string) bool { return !mounted(p) }); i >= 0 {
		return optionError("volume", "expected one that is mounted where the file %q lies, which the data %q name, found %s: the pods read "+
			"it at the path that it has here", s.Files[i], s.Data, found)
	}
	return nil
}

// mountPaths returns the paths where the container of a job mounts volumes, including the changes that the user made.
func mountPaths(job object) []string {
	var out []string
	mounts, _ := treeAt(job, "spec.template.spec.containers.0.volumeMounts").([]any)
	for _, m := range mounts {
		if at, _ := treeAt(m, "mountPath").(string); at != "" {
			out = append(out, path.Clean(at))
		}
	}
	return out
}
