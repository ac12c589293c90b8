package k8s

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amtrl/amtrl/batch"
)

// Kind describes the engine to a command line.
var Kind = batch.Kind{
	Name: "k8s", Title: "Kubernetes", Interval: 10 * time.Second,
	NewOptions: func() batch.Options { return &Options{} },
}

// Options holds what the Kubernetes engine needs besides the resources of a task.
type Options struct {
	// Image is the container image that has amtrl.
	Image string `json:"image"`
	// Program is amtrl within the image: a path, or a name that is looked up there.
	Program string `json:"program"`
	// RunPath is the absolute path of the run folder in the containers, its path here if empty.
	RunPath string `json:"run_path,omitempty"`
	// Volumes are mounted into the containers: CLAIM:/PATH is a persistent volume claim and /HOST/PATH:/PATH a folder
	// of the nodes; :ro after it makes it read-only. The run folder must lie on a volume that can be written.
	Volumes []string `json:"volumes"`
	// Context and Namespace are the context and the namespace of kubectl, its current ones if empty.
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Queue is the Kueue queue that decides when the Job may run.
	Queue string `json:"queue,omitempty"`
	// NodeSelector are labels KEY=VALUE that a node must have.
	NodeSelector []string `json:"node_selector,omitempty"`
	// Tolerations are taints KEY[=VALUE][:EFFECT] that the pods tolerate.
	Tolerations []string `json:"tolerations,omitempty"`
	// MaxFailed is how many tasks may fail before the rest is given up; nil for any number.
	MaxFailed *int `json:"max_failed,omitempty"`
	// Setup are lines of shell executed in the container before amtrl.
	Setup []string `json:"setup,omitempty"`
	// Args are changes PATH=VALUE to the manifest, VALUE in YAML, such as spec.template.spec.priorityClassName=low.
	// Maps are merged, null deletes, and everything else is replaced; a number in PATH is a place in a list.
	// What follows a field whose keys are names, such as annotations or limits, is one key.
	Args []string `json:"args,omitempty"`
}

func optionError(option, format string, args ...any) error {
	return &batch.OptionError{Option: option, Problem: ": " + fmt.Sprintf(format, args...)}
}

// List implements [batch.Options]. Setting the context clears a namespace that was taken from another context.
func (o *Options) List() []batch.Option {
	return []batch.Option{
		{Name: "engine-arg", Usage: "a change PATH=VALUE to the manifest, such as spec.template.spec.priorityClassName=low", Value: &o.Args},
		{Name: "setup", Usage: "a shell line before the task, such as 'module load cuda'", Value: &o.Setup},
		{Name: "image", Usage: "container image that has amtrl", Value: &o.Image},
		{Name: "volume", Usage: "`CLAIM:/PATH`, a persistent volume claim and where it is mounted, or /HOST:/PATH; :ro after it for no writing",
			Value: &o.Volumes},
		{Name: "run-path", Usage: "path of RUN in the containers; by default its path here", Value: &o.RunPath},
		{Name: "context", Usage: "context of kubectl; by default the current one", Value: &o.Context, Changed: func() { o.Namespace = "" }},
		{Name: "namespace", Usage: "namespace; by default that of the context", Value: &o.Namespace},
		{Name: "queue", Usage: "Kueue queue that decides when the tasks may run", Value: &o.Queue},
		{Name: "node-selector", Usage: "label `KEY=VALUE` that a node must have", Value: &o.NodeSelector},
		{Name: "toleration", Usage: "taint `KEY[=VALUE][:EFFECT]` that is no hindrance", Value: &o.Tolerations},
		{Name: "max-failed", Usage: "give the rest up when more tasks than this have failed",
			Default: "any number may fail", Value: &o.MaxFailed},
		{Name: "program", Value: &o.Program},
	}
}

func (o *Options) Engine(string) (batch.Engine, error) { return newEngine(*o) }

func (o *Options) check() error {
	for _, option := range []struct {
		name   string
		values []string
	}{
		{"image", []string{o.Image}}, {"context", []string{o.Context}}, {"program", []string{o.Program}},
		{"run-path", []string{o.RunPath}}, {"setup", o.Setup}, {"volume", o.Volumes}, {"engine-arg", o.Args},
	} {
		for _, v := range option.values {
			if !isText(v) {
				return optionError(option.name, "expected UTF-8 text, found %q", v)
			}
		}
	}
	switch {
	case o.Image == "":
		return optionError("image", "Kubernetes needs a container image that has amtrl")
	case strings.ContainsAny(o.Image, " \t\r\n"):
		return optionError("image", "expected an image such as registry.example/amtrl:1.2, found %q", o.Image)
	case o.Namespace != "" && !isDNSLabel(o.Namespace):
		return optionError("namespace", "expected lower-case letters, digits and hyphens, found %q", o.Namespace)
	case o.Queue != "" && (!isDNSSubdomain(o.Queue) || len(o.Queue) > dnsLabelMax):
		return optionError("queue", "expected the name of a Kueue queue, found %q", o.Queue)
	case o.RunPath != "" && !path.IsAbs(o.RunPath):
		return optionError("run-path", "expected an absolute path, found %q", o.RunPath)
	case o.MaxFailed != nil && *o.MaxFailed < 0:
		return optionError("max-failed", "expected a number from 0 on, found %d", *o.MaxFailed)
	}
	return nil
}

// isText reports whether s can stand in a manifest and in a command.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// volume is a volume and the path at which it is mounted. The fields volume and mount are its entries in the manifest of a pod.
type volume struct {
	claim, at     string // claim is empty for a folder of the nodes
	readOnly      bool
	volume, mount object
}

// parseVolumes reads volumes such as work:/data and /mnt/nfs:/data:ro.
func parseVolumes(specs []string) ([]volume, error) {
	var out []volume
	for i, s := range specs {
		bad := func(why string) error {
			return optionError("volume", "expected CLAIM:/PATH or /HOST/PATH:/PATH, and :ro after it for no writing, found %q: %s", s, why)
		}
		parts := strings.Split(s, ":")
		readOnly := len(parts) == 3 && parts[2] == "ro"
		if len(parts) != 2 && !readOnly {
			return nil, bad(fmt.Sprintf("%d parts", len(parts)))
		}
		source, target := parts[0], path.Clean(parts[1])
		switch {
		case !path.IsAbs(target) || target == "/":
			return nil, bad("the second part is no path to mount at")
		case slices.ContainsFunc(out, func(v volume) bool { return v.at == target }):
			return nil, bad(target + " is mounted twice")
		}
		name := fmt.Sprintf("volume-%d", i)
		v := volume{at: target, readOnly: readOnly, mount: object{"name": name, "mountPath": target}}
		claim := object{"claimName": source}
		if readOnly {
			v.mount["readOnly"], claim["readOnly"] = true, true
		}
		switch {
		case path.IsAbs(source):
			if source != path.Clean(source) {
				return nil, bad("the first part is not in its shortest form, " + path.Clean(source))
			}
			v.volume = object{"name": name, "hostPath": object{"path": source, "type": "Directory"}}
		case isDNSSubdomain(source):
			v.claim, v.volume = source, object{"name": name, "persistentVolumeClaim": claim}
		default:
			return nil, bad("the first part is neither the name of a claim nor an absolute path")
		}
		out = append(out, v)
	}
	return out, nil
}

// within reports whether p is folder or lies in it.
func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// writable reports whether p lies on a volume that can be written. If several volumes hold p, the innermost decides.
func writable(volumes []volume, p string) bool {
	inner := volume{readOnly: true}
	for _, v := range volumes {
		if within(p, v.at) && len(v.at) > len(inner.at) {
			inner = v
		}
	}
	return !inner.readOnly
}

// parseSelector reads labels KEY=VALUE.
func parseSelector(specs []string) (object, error) {
	out := object{}
	for _, s := range specs {
		key, value, ok := strings.Cut(s, "=")
		if !ok || !isLabelKey(key) || !isLabelValue(value) {
			return nil, optionError("node-selector", "expected a label KEY=VALUE, found %q", s)
		}
		if old, twice := out[key]; twice && old != value {
			return nil, optionError("node-selector", "%s is both %q and %q", key, old, value)
		}
		out[key] = value
	}
	return out, nil
}

// parseTolerations reads taints KEY[=VALUE][:EFFECT].
func parseTolerations(specs []string) ([]any, error) {
	var out []any
	for _, s := range specs {
		taint, effect, hasEffect := strings.Cut(s, ":")
		key, value, hasValue := strings.Cut(taint, "=")
		known := effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute"
		if !isLabelKey(key) || !isLabelValue(value) || hasEffect && !known {
			return nil, optionError("toleration", "expected a taint KEY[=VALUE][:NoSchedule|PreferNoSchedule|NoExecute], found %q", s)
		}
		operator := "Exists"
		if hasValue {
			operator = "Equal"
		}
		out = append(out, withoutEmpty(object{"key": key, "operator": operator, "value": value, "effect": effect}))
	}
	return out, nil
}
