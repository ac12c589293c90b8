package k8s

import (
	"fmt"
	"slices"
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
	"spec.template.spec.containers.0.name", "spec.template.spec.containers.0.command", "spec.template.spec.containers.0.args",
}

// keyedByName are the fields of a manifest whose keys are names that may hold dots, such as nvidia.com/gpu, and whether their values
// are texts.
var keyedByName = map[string]bool{
	"annotations": true, "labels": true, "nodeSelector": true, "matchLabels": true, "volumeAttributes": true,
	"limits": false, "requests": false, "overhead": false,
}

// splitPlace splits a place at its dots. What follows a field of keyedByName is one key.
func splitPlace(place string) []string {
	path := strings.Split(place, ".")
	for i, name := range path[:len(path)-1] {
		if _, ok := keyedByName[name]; ok {
			return append(path[:i+1], strings.Join(path[i+1:], "."))
		}
	}
	return path
}

// isTextAt reports whether the API takes the value at a path for text, whatever YAML makes of it.
func isTextAt(path []string) bool { return len(path) > 1 && keyedByName[path[len(path)-2]] }

// parseValue reads the value for a place. Numbers and the like are texts where the API wants texts, as in annotations, and an empty
// value is the empty text there.
func parseValue(path []string, text string) (any, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return nil, err
	}
	if node.Kind == 0 { // there is no value
		if isTextAt(path) {
			return "", nil
		}
		return nil, nil
	}
	if err := quote(&node, path); err != nil {
		return nil, err
	}
	var value any
	err := node.Decode(&value)
	return value, err
}

// quote makes texts of the scalars in node, the value at a path, that the API takes for texts.
func quote(node *yaml.Node, path []string) error {
	below := func(child *yaml.Node, name string) error { return quote(child, append(slices.Clone(path), name)) }
	switch {
	case node.Kind == yaml.DocumentNode:
		return quote(node.Content[0], path)
	case isTextAt(path) && node.Kind != yaml.ScalarNode:
		return fmt.Errorf("%s is no text", path[len(path)-1])
	case isTextAt(path) && node.ShortTag() != "!!null":
		node.Tag = "!!str"
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if err := below(node.Content[i+1], node.Content[i].Value); err != nil {
				return err
			}
		}
	case node.Kind == yaml.SequenceNode:
		for _, child := range node.Content {
			if err := below(child, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseChanges reads arguments of the form PATH=VALUE.
func parseChanges(args []string) ([]change, error) {
	var out []change
	for _, arg := range args {
		place, text, ok := strings.Cut(arg, "=")
		c := change{arg: arg, path: splitPlace(place)}
		if !ok || c.path[0] != "spec" && c.path[0] != "metadata" || strings.Contains("."+place+".", "..") {
			return nil, optionError("engine-arg", "expected PATH=VALUE with a PATH such as spec.template.spec.nodeSelector, found %q", arg)
		}
		var err error
		if c.value, err = parseValue(c.path, text); err != nil {
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

// setTree merges value into node at path and returns the result. A nil value deletes the field or the element of a list at the end of
// path. Lists are copied, since other parts may have them too.
func setTree(node any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return mergeTree(node, value), nil
	}
	list, ok := node.([]any)
	if ok || node == nil && path[0] == "0" {
		remove := value == nil && len(path) == 1
		most := len(list) // the first free place
		if remove {
			most--
		}
		i, err := strconv.Atoi(path[0])
		switch {
		case most < 0:
			return nil, fmt.Errorf("expected a list that is not empty before %q", path[0])
		case err != nil || i < 0 || i > most:
			return nil, fmt.Errorf("expected a place from 0 to %d in the list, found %q", most, path[0])
		case remove:
			return slices.Delete(slices.Clone(list), i, i+1), nil
		}
		list = slices.Clone(list)
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
	if _, byName := keyedByName[path[0]]; !byName && len(path) > 1 && fields[path[0]] == nil {
		if i, err := strconv.Atoi(path[1]); err == nil && i != 0 {
			return nil, fmt.Errorf("expected place 0 in %s, a list without elements, found %q", path[0], path[1])
		}
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
