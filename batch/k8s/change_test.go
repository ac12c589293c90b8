package k8s

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Names that hold dots are one key, whose value is a text where the API wants one, and null deletes a field or an element. The API
// server's own validation accepts what comes of it.
func TestChanges(t *testing.T) {
	const evict, pod = "cluster-autoscaler.kubernetes.io/safe-to-evict", "spec.template.spec."
	var manifests [][]byte
	for _, c := range []struct {
		args string // between |
		at   []any  // fields and places, down to the value
		want any
	}{
		{"spec.template.metadata.annotations." + evict + "=false", []any{"spec", "template", "metadata", "annotations", evict}, "false"},
		{"spec.template.metadata.annotations={" + evict + ": false}", []any{"spec", "template", "metadata", "annotations", evict}, "false"},
		{"spec.template.metadata={annotations: {a.b/c: 1e3, d: x}}", []any{"spec", "template", "metadata", "annotations",
			"a.b/c"}, "1e3"},
		{"metadata.labels.team.example/cost-centre=0017", []any{"metadata", "labels", "team.example/cost-centre"}, "0017"},
		{"metadata.labels.a.b/c=x|metadata.labels.a.b/c=null", []any{"metadata", "labels", "a.b/c"}, nil},
		{"metadata.annotations.a.b/c=x|metadata.annotations={a.b/c: ~}", []any{"metadata", "annotations", "a.b/c"}, nil},
		{pod + "nodeSelector.cloud.example/pool=1", []any{"spec", "template", "spec", "nodeSelector", "cloud.example/pool"}, "1"},
		{pod + "nodeSelector.node-role.example/worker=", []any{"spec", "template", "spec", "nodeSelector", "node-role.example/worker"}, ""},
		{pod + "containers.0.resources.limits.example.com/nic=2", []any{"spec", "template", "spec", "containers", 0, "resources", "limits",
			"example.com/nic"}, 2},
		{pod + "topologySpreadConstraints.0={maxSkew: 1, topologyKey: a.b, whenUnsatisfiable: DoNotSchedule}|" + pod +
			"topologySpreadConstraints.0.labelSelector.matchLabels.a.b/c=yes", []any{"spec", "template", "spec", "topologySpreadConstraints", 0,
			"labelSelector", "matchLabels", "a.b/c"}, "yes"},
		{"spec.podFailurePolicy.rules.0=null", []any{"spec", "podFailurePolicy", "rules", 0, "action"}, "FailIndex"},
		{"spec.podFailurePolicy.rules.1=null", []any{"spec", "podFailurePolicy", "rules", 1}, nil},
		{"spec.podFailurePolicy.rules.1=|spec.podFailurePolicy.rules.0=|spec.podFailurePolicy=null", []any{"spec", "podFailurePolicy"}, nil},
		{pod + "securityContext={runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}|" + pod +
			"containers.0.securityContext={allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}", []any{"spec", "template", "spec",
			"containers", 0, "securityContext", "allowPrivilegeEscalation"}, false},
		{pod + "tolerations.0=null", []any{"spec", "template", "spec", "tolerations", 0, "key"}, "b"},
	} {
		args := strings.Split(c.args, "|")
		e := mustNew(t, Options{Image: "a", Volumes: []string{"w:/vol"}, Args: args, Tolerations: []string{"a", "b", "c"}})
		s := batch.Submission{Dir: "/vol/run", ID: "0123456789ab", Name: "run", Number: 1, Tasks: make([]int, maxCompletions+1)}
		for i := range s.Tasks {
			s.Tasks[i] = i
		}
		for _, p := range must.Get(e.Render(t.Context(), s))(t) { // each part is changed alike
			manifests = append(manifests, p.Content)
			var node any
			must.Do(t, yaml.Unmarshal(p.Content, &node))
			for _, step := range c.at {
				switch n := node.(type) {
				case object:
					node = n[fmt.Sprint(step)]
				case []any:
					if i := step.(int); i < len(n) {
						node = n[i]
					} else {
						node = nil
					}
				}
			}
			if node != c.want {
				t.Errorf("%s: %#v at %v of %s, expected %#v", c.args, node, c.at, p.File, c.want)
			}
		}
	}
	for arg, says := range map[string]string{
		"metadata.annotations.a.b={c: d}":                           "a.b is no text",
		"metadata={annotations: {a.b: [c]}}":                        "a.b is no text",
		"spec.podFailurePolicy.rules.2=null":                        "expected a place from 0 to 1 in the list",
		"spec.template.spec.containers.0=null":                      "is for amtrl to set",
		"spec.template.spec.containers.0.env.1={name: A, value: b}": `expected place 0 in env, a list without elements, found "1"`,
		"spec.template.spec.initContainers.2.name=a":                `expected place 0 in initContainers, a list without elements, found "2"`,
		"metadata.labels.amtrl/run=0123456789ac":                    "metadata.labels.amtrl/run is for amtrl to set",
	} {
		o := Options{Image: "a", Volumes: []string{"w:/vol"}, Args: []string{arg}}
		e, err := newEngine(o)
		if err == nil {
			_, err = e.Render(t.Context(), batch.Submission{Dir: "/vol/run", ID: "0123456789ab", Name: "run", Number: 1, Tasks: []int{0}})
		}
		must.Fail(t, arg, err, says)
	}
	for i, v := range runKubecheck(t, manifests) {
		if v.Error != "" {
			t.Errorf("refused: %s\n%s", v.Error, manifests[i])
		}
	}
}
