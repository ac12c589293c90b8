package k8s

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Each of these options is refused in one line, under the name of its flag.
func TestOptionsRefused(t *testing.T) {
	bad := -1
	for flag, list := range map[string][]Options{
		"image": {{}, {Image: "a b"}, {Image: "a\n"}, {Image: "\xff"}},
		"namespace": {{Image: "a", Namespace: "Team"}, {Image: "a", Namespace: "-a"}, {Image: "a", Namespace: "a.b"},
			{Image: "a", Namespace: strings.Repeat("a", 64)}, {Image: "a", Namespace: "--all-namespaces"}},
		"queue":      {{Image: "a", Queue: "A"}, {Image: "a", Queue: "a b"}, {Image: "a", Queue: strings.Repeat("a", 64)}},
		"run-path":   {{Image: "a", RunPath: "data"}, {Image: "a", RunPath: "/\xff"}},
		"max-failed": {{Image: "a", MaxFailed: &bad}},
		"setup":      {{Image: "a", Setup: []string{"a\x00b"}}},
		"volume": {{Image: "a", Volumes: []string{"work"}}, {Image: "a", Volumes: []string{"work:"}},
			{Image: "a", Volumes: []string{"work:data"}}, {Image: "a", Volumes: []string{"work:/"}},
			{Image: "a", Volumes: []string{"Work:/data"}}, {Image: "a", Volumes: []string{":/data"}},
			{Image: "a", Volumes: []string{"work:/data:rw"}}, {Image: "a", Volumes: []string{"a:/data", "b:/data/"}},
			{Image: "a", Volumes: []string{"/a/../b:/data"}}, {Image: "a", Volumes: []string{"work:/data:ro:ro"}},
			{Image: "a", Volumes: []string{"../x:/data"}}, {Image: "a", Volumes: []string{"work:/\xff"}}},
		"node-selector": {{Image: "a", NodeSelector: []string{"gpu"}}, {Image: "a", NodeSelector: []string{"=b"}},
			{Image: "a", NodeSelector: []string{"a=b c"}}, {Image: "a", NodeSelector: []string{"a=b", "a=c"}},
			{Image: "a", NodeSelector: []string{"a/=b"}}},
		"toleration": {{Image: "a", Tolerations: []string{""}}, {Image: "a", Tolerations: []string{"a:Never"}},
			{Image: "a", Tolerations: []string{"a=b c"}}},
		"engine-arg": {{Image: "a", Args: []string{"spec"}}, {Image: "a", Args: []string{"=1"}}, {Image: "a", Args: []string{"status.x=1"}},
			{Image: "a", Args: []string{"spec..x=1"}}, {Image: "a", Args: []string{"spec.x={"}},
			{Image: "a", Args: []string{"spec.x={a: 1, a: 2}"}}, {Image: "a", Args: []string{"spec.x=\xff"}}},
	} {
		for _, o := range list {
			_, err := newEngine(o)
			var oe *batch.OptionError
			if !errors.As(err, &oe) || oe.Option != flag || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%+v: %v, want one of --%s", o, err, flag)
			}
		}
	}
}

// Errors in options that show only with a run folder are found by Render, before anything is asked of the cluster.
func TestRenderRefused(t *testing.T) {
	for want, c := range map[string]struct {
		o Options
		s batch.Submission
	}{
		"--volume: expected one that is mounted where": {Options{Volumes: []string{"w:/vol"}}, batch.Submission{Dir: "/volshop/run"}},
		"found none":                             {Options{Volumes: []string{}}, batch.Submission{}},
		"can be written":                         {Options{Volumes: []string{"w:/vol", "w:/vol/run:ro"}}, batch.Submission{}},
		"expected a path in UTF-8":               {Options{}, batch.Submission{Dir: "/vol/\xff"}},
		"--gpu-type":                             {Options{}, batch.Submission{Resources: batch.Resources{GPUType: "a b"}}},
		"spec.completions is for amtrl to set":   {Options{Args: []string{"spec.completions=3"}}, batch.Submission{}},
		"metadata.name is for amtrl to set":      {Options{Args: []string{"metadata={name: x}"}}, batch.Submission{}},
		"metadata.labels.amtrl/run is for amtrl": {Options{Args: []string{"metadata.labels=null"}}, batch.Submission{}},
		"expected a place from 0 to 1":           {Options{Args: []string{"spec.template.spec.volumes.2=1"}}, batch.Submission{}},
		"expected a map or a list":               {Options{Args: []string{"spec.parallelism.x=1"}}, batch.Submission{}},
		"spec.template.spec.containers.0.command is for": {Options{Args: []string{"spec.template.spec.containers.0.command.0=sh"}},
			batch.Submission{}},
		`job name "amtrl-NOT": expected a DNS label`: {Options{}, batch.Submission{ID: "NOT"}},
		`--volume: expected one that is mounted where the data "/data/mnist_c" lie, found "/vol"`: {Options{},
			batch.Submission{Data: "/data/mnist_c"}},
		`where the file "/data/b.csv" lies, which the data "/vol/a.yaml" name, found "/vol /volum"`: {
			Options{Volumes: []string{"w:/vol", "x:/volum"}}, batch.Submission{Data: "/vol/a.yaml", Files: []string{"/vol/a.csv", "/data/b.csv"}}},
		`the data "/volume/x" lie`: {
			Options{Args: []string{"spec.template.spec.containers.0.volumeMounts.1={name: volume-0, mountPath: /volum}"}},
			batch.Submission{Data: "/volume/x"}},
	} {
		if c.s.Dir = cmp.Or(c.s.Dir, "/vol/run"); c.o.Volumes == nil {
			c.o.Volumes = []string{"w:/vol"}
		}
		c.o.Image, c.s.Name, c.s.Number, c.s.Tasks = "a", "", 1, []int{0, 1}
		e := mustNew(t, c.o)
		parts, err := e.Render(context.Background(), c.s)
		if err == nil || parts != nil || !strings.Contains(strings.ReplaceAll(err.Error(), "-1-0", ""), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Data may lie on any volume that the pods mount, under the path that they have on this machine.
func TestRenderData(t *testing.T) {
	for data, o := range map[string]Options{
		"":                   {},
		"/vol":               {},
		"/vol/a/rows.yaml":   {},
		"/data/mnist_c":      {Volumes: []string{"x:/data/:ro"}},
		"/baked/in/mnist_c ": {Args: []string{"spec.template.spec.containers.0.volumeMounts.1={name: volume-0, mountPath: /baked/in/}"}},
	} {
		o.Image, o.Volumes = "a", append(o.Volumes, "work:/vol")
		s := batch.Submission{Dir: "/vol/run", Data: data, Files: []string{"/vol/x.csv"}, Number: 1, Tasks: []int{0, 1}}
		must.Get(mustNew(t, o).Render(context.Background(), s))(t)
	}
}

// A change is a JSON merge patch of the value at its place (RFC 7386, from which these examples are taken).
func TestMergePatch(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		var v [3]any
		for i := range c {
			must.Do(t, json.Unmarshal([]byte(c[i]), &v[i]))
		}
		if got := mergeTree(v[0], v[1]); !reflect.DeepEqual(got, v[2]) {
			t.Errorf("%s with %s became %v", c[0], c[1], got)
		}
	}
}
