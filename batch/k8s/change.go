package k8s

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// change sets or merges a value at a place of the manifest.
type change struct {
	arg   string
	path  []string
	value any
}

// ownPlaces are the places of a manifest that make the Job what the run folder
// says it is.
var ownPlaces = []string{
	"apiVersion", "kind", "metadata.name", "metadata.namespace",
	"metadata.labels." + runLabel, "metadata.labels." + partLabel,
	"spec.completionMode", "spec.completions",
	"spec.template.metadata.labels." + runLabel, "spec.template.metadata.labels." + partLabel,
	"spec.template.spec.containers.0.name", "spec.template.spec.containers.0.command",
}

// parseChanges reads arguments PATH=VALUE.
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

// applyChanges is the manifest as a tree, changed.
func applyChanges(job *jobManifest, changes []change) (any, error) {
	tree, err := treeOf(job)
	if err != nil {
		return nil, err
	}
	before, err := treeOf(job)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if tree, err = setTree(tree, c.path, c.value); err != nil {
			return nil, optionError("engine-arg", "%s in %q", err, c.arg)
		}
		for _, own := range ownPlaces {
			if !reflect.DeepEqual(treeAt(before, own), treeAt(tree, own)) {
				return nil, optionError("engine-arg", "%s is for amtrl to set, found %q", own, c.arg)
			}
		}
	}
	return tree, nil
}

// treeOf is a value as its JSON has it, with whole numbers as such.
func treeOf(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return wholeNumbers(tree)
}

// wholeNumbers replaces the numbers of a tree, which are all whole.
func wholeNumbers(node any) (any, error) {
	var err error
	switch n := node.(type) {
	case json.Number:
		return n.Int64()
	case map[string]any:
		for k := range n {
			if n[k], err = wholeNumbers(n[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range n {
			if n[i], err = wholeNumbers(n[i]); err != nil {
				return nil, err
			}
		}
	}
	return node, nil
}

// setTree is node with value merged in at path.
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
	object, isMap := node.(map[string]any)
	if node != nil && !isMap {
		return nil, fmt.Errorf("expected a map or a list before %q, found %v", path[0], node)
	}
	if object == nil {
		object = map[string]any{}
	}
	if value == nil && len(path) == 1 {
		delete(object, path[0])
		return object, nil
	}
	child, err := setTree(object[path[0]], path[1:], value)
	if err != nil {
		return nil, err
	}
	object[path[0]] = child
	return object, nil
}

// mergeTree merges value into node as a JSON merge patch does (RFC 7386).
func mergeTree(node, value any) any {
	patch, ok := value.(map[string]any)
	if !ok {
		return value
	}
	object, ok := node.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for k, v := range patch {
		if v == nil {
			delete(object, k)
			continue
		}
		object[k] = mergeTree(object[k], v)
	}
	return object
}

// treeAt is the value at a dotted path, nil where there is none. The keys of
// labels hold no dots here.
func treeAt(node any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch n := node.(type) {
		case map[string]any:
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
