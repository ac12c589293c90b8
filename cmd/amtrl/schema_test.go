package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

const schemaFolder = "../../docs/schema"

// Each schema has exactly the fields of the type that it describes, and requires those that are always written.
func TestSchemasHaveTheFields(t *testing.T) {
	for name, v := range map[string]any{"result.json": runs.Result{}, "summary.json": runs.Summary{}, "study-status.json": study.Status{},
		"evaluation.json": runs.Evaluation{}} {
		sameFields(t, name, name, readSchema(t, name), reflect.TypeOf(v))
	}
}

func readSchema(t *testing.T, name string) map[string]any {
	t.Helper()
	var s map[string]any
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(schemaFolder, name)))(t), &s))
	return s
}

// sameFields compares a part of a schema with its Go type.
func sameFields(t *testing.T, file, where string, schema map[string]any, typ reflect.Type) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		to, path, _ := strings.Cut(ref, "#")
		file = cmp.Or(to, file)
		schema = readSchema(t, file)
		for _, key := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
			schema, _ = schema[key].(map[string]any)
		}
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array:
		items, ok := schema["items"].(map[string]any)
		if !ok {
			t.Errorf("%s: expected a list", where)
			return
		}
		sameFields(t, file, where+"[]", items, typ.Elem())
	case reflect.Struct:
		fields := map[string]reflect.StructField{}
		collectFields(typ, false, fields)
		properties, _ := schema["properties"].(map[string]any)
		if got, want := slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %v, what is written %v", where, got, want)
			return
		}
		var required []string
		for _, r := range schema["required"].([]any) {
			required = append(required, r.(string))
		}
		for name, f := range fields {
			if always := !strings.Contains(f.Tag.Get("json"), ",omitempty"); always != slices.Contains(required, name) {
				t.Errorf("%s.%s: always there %v, required %v", where, name, always, !always)
			}
			sameFields(t, file, where+"."+name, properties[name].(map[string]any), f.Type)
		}
	}
}

// collectFields collects the fields of typ by their JSON names, as encoding/json finds them; those in an embedded
// pointer may be absent.
func collectFields(typ reflect.Type, mayLack bool, out map[string]reflect.StructField) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			collectFields(inner, mayLack || f.Type.Kind() == reflect.Pointer, out)
		case f.IsExported() && tag != "-":
			if mayLack {
				f.Tag = reflect.StructTag(`json:"` + tag + `,omitempty"`)
			}
			out[tag] = f
		}
	}
}

// The files that runs, sweeps and studies write are valid by the schemas; changed files are refused.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schemas := map[string]*jsonschema.Schema{}
	names := []string{"result.json", "summary.json", "study-status.json", "evaluation.json"}
	for _, name := range names {
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(must.Get(os.ReadFile(filepath.Join(schemaFolder, name)))(t))))(t)
		must.Do(t, compiler.AddResource(readSchema(t, name)["$id"].(string), doc))
	}
	for _, name := range names {
		schemas[name] = must.Get(compiler.Compile(readSchema(t, name)["$id"].(string)))(t)
	}
	check := func(name, what string, raw []byte) {
		t.Helper()
		v := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
		if err := schemas[name].Validate(v); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	read := func(path ...string) []byte {
		t.Helper()
		return must.Get(os.ReadFile(filepath.Join(append([]string{dir}, path...)...)))(t)
	}
	succeed(t, dir, tiny("run", "--out", "run")...)
	check("result.json", "a run", read("run", "result.json"))
	check("evaluation.json", "a run", read("run", "evaluation.jsonl"))
	succeed(t, dir, tiny("run", "--out", "paper", "--preset", "paper", "--methods", "active")...)
	check("result.json", "a run of one method", read("paper", "result.json"))
	succeed(t, dir, tiny("sweep", "--out", "sweep", "--targets", "fog_1,fog_2", "--budgets", "600,900")...)
	check("summary.json", "a sweep", read("sweep", "summary.json"))
	units := must.Get(os.ReadDir(filepath.Join(dir, "sweep", "results")))(t)
	for _, u := range units {
		check("result.json", u.Name(), read("sweep", "results", u.Name()))
	}
	succeed(t, dir, tiny("sweep", "--out", "one", "--targets", "fog_1", "--methods", "active")...)
	check("summary.json", "a sweep of one method", read("one", "summary.json"))

	c := newCampaign(t, testrand.New(t), false, func(source string, i int) bool { return source == "zoo" && i < 20 })
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--k", "3", "--floor", "2", "--epochs", "2",
		"--budget", "80", "--methods", "active,target,constant")
	check("study-status.json", "a new study", []byte(succeed(t, c.dir, "study", "status", "S", "--json").Stdout))
	succeed(t, c.dir, "study", "ask", "S", "--out", "ask.csv")
	var asked []string
	for _, row := range c.read(t, "ask.csv") {
		asked = append(asked, row["id"])
	}
	succeed(t, c.dir, "study", "tell", "S", c.answer(t, "answers.csv", asked...))
	succeed(t, c.dir, "study", "fit", "S")
	check("evaluation.json", "a study", must.Get(os.ReadFile(filepath.Join(c.dir, "S", "rounds", "0001", "evaluation.jsonl")))(t))
	check("study-status.json", "a study", []byte(succeed(t, c.dir, "study", "status", "S", "--json").Stdout))
	c = newCampaign(t, testrand.New(t), true, func(source string, i int) bool { return source == "zoo" && i < 20 })
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--round-budget", "40", "--k", "2")
	check("study-status.json", "a study of two columns", []byte(succeed(t, c.dir, "study", "status", "S", "--json").Stdout))

	var broken map[string]any
	must.Do(t, json.Unmarshal(read("run", "result.json"), &broken))
	for what, damage := range map[string]func(map[string]any){
		"an unknown field": func(m map[string]any) { m["more"] = 1 },
		"no methods":       func(m map[string]any) { delete(m, "methods") },
		"a text for a number": func(m map[string]any) {
			m["sources"].([]any)[0].(map[string]any)["share"] = "much"
		},
	} {
		m := maps.Clone(broken)
		m["sources"] = []any{maps.Clone(broken["sources"].([]any)[0].(map[string]any))}
		damage(m)
		if schemas["result.json"].Validate(m) == nil {
			t.Errorf("%s is valid by the schema", what)
		}
	}
}

// The Python code of docs/report.md reads a run.
func TestReportPython(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, tiny("run", "--out", "run")...)
	out := runPage(t, dir, "report.md", "pandas", "log = lambda d: print(json.dumps(d))\n",
		"\nprint(methods.loc['active', 'score.value'])")
	var res runs.Result
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "run", "result.json")))(t), &res))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var last struct {
		Recommended string
		Relevant    string `json:"most relevant"`
		Rows        int
	}
	must.Do(t, json.Unmarshal([]byte(lines[len(lines)-2]), &last))
	share := 0.0
	for _, s := range res.Sources {
		share = max(share, s.Share)
	}
	if want := res.Method("active"); last.Recommended != res.Recommended || last.Rows != want.Samples || len(lines) != 8 {
		t.Errorf("the lines say %+v, %d lines:\n%s", last, len(lines), out)
	}
	for _, s := range res.Sources {
		if s.Source == last.Relevant && s.Share != share {
			t.Errorf("the lines take %s for the most relevant", last.Relevant)
		}
	}
}
