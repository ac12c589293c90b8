package k8s

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// change is a value to set, or to merge, at a place of the manifest.
type change struct {
	arg   string
	path  []string
	value any
}

// ownPlaces are the places of a manifest that make the Job what the run folder says it is; changes to them are refused.
var ownPlaces = []string{
	"apiVersion", "kind", "metadata.name", "metadata.namespace",
	"metadata.labels." + runLabel, "metadata.labels." + partLabel,
	"spec.completionMode", "spec.completions",
	"spec.template.metadata.labels." + runLabel, "spec.template.metadata.labels." + partLabel,
	"spec.template.spec.containers.0.name", "spec.template.spec.containers.0.command",
}

// parseChanges reads arguments of the form PATH=VALUE.
func parseChanges(args []string) ([]change, error) {
	var out []change
	for _, arg := range args {
		place, text, ok := strings.Cut(arg, "=")
		c := change{arg: arg, path: strings.Split(place, ".")}
		if !ok || c.path[0] != "spec" && c.path[0] != "metadata" || strings.Contains("."+place+".", "..") {
			return nil, optionError("engine-arg", "expected PATH=VALUE with a PATH such as spec.template.spec.nodeSelector, found %q", arg)
		}
		if err := yaml.Unmarshal([]byte(text), &c.value); err != nil {
			return nil, optionError("engine-arg", "expected a value in YAML in %q: %s", arg, strings.ReplaceAll(err.Error(), "\n", " "))
		}
		out = append(out, c)
	}
	return out, nil
}

func applyChanges(tree object, args []string) error {
	changes, err := parseChanges(args)
	if err != nil {
		return err
	}
	before := ownValues(tree)
	for _, c := range changes {
		if _, err := setTree(tree, c.path, c.value); err != nil {
			return optionError("engine-arg", "%s in %q", err, c.arg)
		}
		for i, now := range ownValues(tree) {
			if now != before[i] {
				return optionError("engine-arg", "%s is for amtrl to set, found %q", ownPlaces[i], c.arg)
			}
		}
	}
	return nil
}

// ownValues returns the values at ownPlaces with their types, for comparison.
func ownValues(tree object) []string {
	values := make([]string, len(ownPlaces))
	for i, place := range ownPlaces {
		v := treeAt(tree, place)
		values[i] = fmt.Sprintf("%T %#v", v, v)
	}
	return values
}

// setTree merges value into node at path and returns the result. A nil value deletes the field at the end of path.
func setTree(node any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return mergeTree(node, value), nil
	}
	list, ok := node.([]any)
	if ok || node == nil && path[0] == "0" {
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i > len(list) {
			return nil, fmt.Errorf("expected a place from 0 to %d in the list, found %q", len(list), path[0])
		}
		if i == len(list) {
			list = append(list, nil)
		}
		list[i], err = setTree(list[i], path[1:], value)
		return list, err
	}
	fields, isMap := node.(object)
	switch {
	case node == nil:
		fields = object{}
	case !isMap:
		return nil, fmt.Errorf("expected a map or a list before %q, found %v", path[0], node)
	}
	if value == nil && len(path) == 1 {
		delete(fields, path[0])
		return fields, nil
	}
	child, err := setTree(fields[path[0]], path[1:], value)
	if err == nil {
		fields[path[0]] = child
	}
	return fields, err
}

// mergeTree merges value into node as a JSON merge patch does (RFC 7386), and returns the result.
func mergeTree(node, value any) any {
	patch, ok := value.(object)
	if !ok {
		return value
	}
	fields, ok := node.(object)
	if !ok {
		fields = object{}
	}
	for k, v := range patch {
		if v == nil {
			delete(fields, k)
		} else {
			fields[k] = mergeTree(fields[k], v)
		}
	}
	return fields
}

// treeAt returns the value at a dotted path, nil if there is none. The keys of labels in these paths hold no dots.
func treeAt(node any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch n := node.(type) {
		case object:
			node = n[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(n) {
				return nil
			}
			node = n[i]
		default:
			return nil
		}
	}
	return node
}
