package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/text"
)

// maxBytes bounds the size of a manifest.
const maxBytes = 1 << 20

// Read reads a manifest. Errors name the file, the line, what was expected and
// what was found.
func Read(path string) (*Manifest, error) {
	raw, err := atomicfile.ReadFile(path, maxBytes)
	if err != nil {
		return nil, err
	}
	return Parse(path, raw)
}

// Parse parses the text of a manifest that is, or would be, at path.
func Parse(path string, raw []byte) (*Manifest, error) {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: expected a manifest, found an empty file", path)
		}
		return nil, fmt.Errorf("%s: %s", path, text.OneLine(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	if err := dec.Decode(new(yaml.Node)); err != io.EOF {
		return nil, fmt.Errorf("%s: expected one YAML document, found more", path)
	}
	m := &Manifest{Path: path}
	r := reader{path}
	if err := r.manifest(doc.Content[0], m); err != nil {
		return nil, err
	}
	return m, m.check()
}

// reader walks the nodes of a manifest.
type reader struct{ path string }

func (r reader) fault(n *yaml.Node, expected string) error {
	found := map[yaml.Kind]string{yaml.MappingNode: "keys", yaml.SequenceNode: "a list", yaml.AliasNode: "an alias"}[n.Kind]
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		found = "nothing"
	case n.Kind == yaml.ScalarNode:
		found = strconv.Quote(text.OneLine(n.Value, 80))
	}
	return fmt.Errorf("%s: line %d: expected %s, found %s", r.path, n.Line, expected, found)
}

// field is a key and the function that reads its value.
type field struct {
	key  string
	read func(*yaml.Node) error
}

// keys reads a mapping. It refuses keys that are unknown or occur twice.
func (r reader) keys(n *yaml.Node, what string, fields ...field) error {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	if n.Kind != yaml.MappingNode {
		return r.fault(n, fmt.Sprintf("%s with the keys %s", what, strings.Join(names, ", ")))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		j := slices.Index(names, key.Value)
		if j < 0 || key.Kind != yaml.ScalarNode {
			return r.fault(key, fmt.Sprintf("for %s one of the keys %s", what, strings.Join(names, ", ")))
		}
		if seen[key.Value] {
			return fmt.Errorf("%s: line %d: the key %s is there twice", r.path, key.Line, key.Value)
		}
		seen[key.Value] = true
		if err := fields[j].read(value); err != nil {
			return err
		}
	}
	return nil
}

// text reads a text that is not empty and has no control characters.
func (r reader) text(dst *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" || !text.Printable(n.Value) {
			return r.fault(n, what)
		}
		*dst = n.Value
		return nil
	}
}

// texts reads a text or a list of texts, none of which may occur twice.
func (r reader) texts(dst *[]string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		list := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			list = n.Content
		}
		*dst = []string{}
		seen := map[string]bool{}
		for _, item := range list {
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || !text.Printable(item.Value) {
				return r.fault(item, what)
			}
			if seen[item.Value] {
				return fmt.Errorf("%s: line %d: %q is there twice", r.path, item.Line, item.Value)
			}
			seen[item.Value] = true
			*dst = append(*dst, item.Value)
		}
		return nil
	}
}

// word reads one of the given words.
func (r reader) word(dst *string, words ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || !slices.Contains(words, n.Value) {
			return r.fault(n, "one of "+strings.Join(words, ", "))
		}
		*dst = n.Value
		return nil
	}
}

// truth reads true or false.
func (r reader) truth(dst *bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			return r.fault(n, "true or false")
		}
		*dst = n.Value == "true"
		return nil
	}
}

// positive reads a number above 0.
func (r reader) positive(dst *float64, expected string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := text.ParseNumber(n.Value)
		if err != nil || n.Kind != yaml.ScalarNode || !(v > 0 && v <= table.MaxFeature) {
			return r.fault(n, expected)
		}
		*dst = v
		return nil
	}
}

// count reads a whole number from least to most.
func (r reader) count(dst *int, least, most int, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.Atoi(n.Value)
		if err != nil || n.Kind != yaml.ScalarNode || v < least || v > most {
			return r.fault(n, fmt.Sprintf("%s from %d to %d", what, least, most))
		}
		*dst = v
		return nil
	}
}

func (r reader) manifest(n *yaml.Node, m *Manifest) error {
	return r.keys(n, "a manifest",
		field{"files", r.texts(&m.Files, "a file or a list of files")},
		field{"format", r.word(&m.Format, table.Formats()...)},
		field{"encoding", func(n *yaml.Node) error { return r.encoding(n, m) }},
		field{"columns", func(n *yaml.Node) error {
			return r.keys(n, "columns",
				field{"id", r.text(&m.ID, "the name of a column")},
				field{"source", r.text(&m.Source, "the name of a column")},
				field{"features", func(n *yaml.Node) error { return r.features(n, m) }},
				field{"categories", r.texts(&m.Categories, "the name of a column of words, or a list of names")},
				field{"knots", r.count(&m.Knots, 1, maxKnots, "a number of knots")},
				field{"products", r.truth(&m.Products)},
				field{"scale", r.word(&m.Scale, ScaleFeature, ScaleNone)},
				field{"fill", r.word(&m.Fill, FillMean, FillIndicator)},
				field{"missing", func(n *yaml.Node) error { return r.codes(n, m) }},
				field{"absent", r.texts(&m.Absent, "the name of a column that some files lack, or a list of names")},
				field{"split", r.text(&m.Split, "the name of a column")},
				field{"cost", r.text(&m.Cost, "the name of a column")},
				field{"group", r.text(&m.Group, "the name of a column")})
		}},
		field{"labels", func(n *yaml.Node) error { return r.labels(n, m) }},
		field{"target", func(n *yaml.Node) error {
			return r.keys(n, "target",
				field{"source", r.text(&m.Target.Source, "the name of a source")},
				field{"folds", r.count(&m.Target.Folds, 2, MaxFolds, "a number of folds")})
		}},
		field{"sources", func(n *yaml.Node) error {
			return r.keys(n, "sources",
				field{"include", r.texts(&m.Sources.Include, "a name or a list of names")},
				field{"exclude", r.texts(&m.Sources.Exclude, "a name or a list of names")},
				field{"cost", func(n *yaml.Node) error { return r.costs(n, m) }})
		}})
}

func (r reader) encoding(n *yaml.Node, m *Manifest) error {
	if m.Encoding = n.Value; n.Kind != yaml.ScalarNode || table.CheckEncoding(n.Value) != nil {
		return r.fault(n, "an encoding of text such as windows-1252, shift_jis or gb18030")
	}
	return nil
}

// features reads the names of columns, or the files of vectors and how to join them.
func (r reader) features(n *yaml.Node, m *Manifest) error {
	if n.Kind != yaml.MappingNode {
		return r.texts(&m.Features, "the name of a column of lists, or a list of names, or {file: vectors.npy, join: row}")(n)
	}
	v := &Vectors{Join: table.JoinRow}
	if err := r.keys(n, "features in a file of their own",
		field{"file", r.texts(&v.Files, "a file or a list of files")},
		field{"join", r.word(&v.Join, table.JoinRow, table.JoinID)},
		field{"column", r.text(&v.Column, "the name of a tensor")}); err != nil {
		return err
	}
	if len(v.Files) == 0 {
		return r.fault(n, "features with the key file")
	}
	m.Vectors = v
	return nil
}

func (r reader) labels(n *yaml.Node, m *Manifest) error {
	if n.Kind != yaml.SequenceNode {
		return r.fault(n, "a list of labels, each with a column")
	}
	for _, item := range n.Content {
		l := Label{Type: Classes, Missing: DefaultMissing()}
		if err := r.keys(item, "a label",
			field{"column", r.text(&l.Column, "the name of a column")},
			field{"type", r.word(&l.Type, Classes, Binary, Number)},
			field{"log", r.truth(&l.Log)},
			field{"plus", r.positive(&l.Plus, "a number above 0 that is added to each label before the logarithm")},
			field{"classes", r.texts(&l.Classes, "a list of classes")},
			field{"missing", r.texts(&l.Missing, "a list of values")}); err != nil {
			return err
		}
		if l.Column == "" {
			return r.fault(item, "a label with a column")
		}
		m.Labels = append(m.Labels, l)
	}
	return nil
}

// codes reads the numbers that stand for a missing value, by column.
func (r reader) codes(n *yaml.Node, m *Manifest) error {
	const expected = "columns of features, each with the number, or a list of numbers, that stands for none"
	if n.Kind != yaml.MappingNode {
		return r.fault(n, expected)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
		}
		c := table.Codes{Column: key.Value}
		for _, of := range values {
			x, err := text.ParseNumber(of.Value)
			if err != nil || of.Kind != yaml.ScalarNode || x-x != 0 {
				return r.fault(of, "a number that stands for none")
			}
			c.Values = append(c.Values, x)
		}
		if len(c.Values) == 0 {
			return r.fault(value, expected)
		}
		if slices.ContainsFunc(m.Codes, func(of table.Codes) bool { return of.Column == c.Column }) {
			return fmt.Errorf("%s: line %d: the column %q is there twice", r.path, key.Line, key.Value)
		}
		m.Codes = append(m.Codes, c)
	}
	return nil
}

func (r reader) costs(n *yaml.Node, m *Manifest) error {
	if n.Kind != yaml.MappingNode {
		return r.fault(n, "sources and what a row of each costs")
	}
	m.Sources.Cost = map[string]float64{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		v, err := text.ParseNumber(value.Value)
		if err != nil || value.Kind != yaml.ScalarNode || !(v >= dataset.MinCost && v <= dataset.MaxCost) {
			return r.fault(value, fmt.Sprintf("a cost from %g to %g", dataset.MinCost, dataset.MaxCost))
		}
		if _, twice := m.Sources.Cost[key.Value]; twice {
			return fmt.Errorf("%s: line %d: the source %q is there twice", r.path, key.Line, key.Value)
		}
		m.Sources.Cost[key.Value] = v
	}
	return nil
}
