package k8s

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// fakeKubectl puts a shell script in place of kubectl, for answers that no real server gives on demand. The script
// finds its arguments in $*. The returned function lists the calls so far, one line each.
func fakeKubectl(t *testing.T, script string) (calls func() []string) {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\n{ for w in \"$@\"; do printf '%s\\037' \"$w\"; done; echo; } >>" + dir + "/calls\n" + script + "\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(text), 0o755))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return func() []string {
		raw := must.Get(os.ReadFile(filepath.Join(dir, "calls")))(t)
		return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(raw), "\x1f", " ")), "\n")
	}
}

// kubernetesPart returns an engine and a part of three tasks whose file is in a run folder.
func kubernetesPart(t *testing.T) (*engine, batch.Part) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), `run, "one"`)
	e := mustNew(t, Options{Image: "amtrl", Volumes: []string{"work:" + filepath.Dir(dir)}, Context: "lab", Namespace: "team"})
	parts := must.Get(e.Render(context.Background(), batch.Submission{Dir: dir, ID: "0123456789ab", Name: filepath.Base(dir),
		Number: 1, Tasks: []int{0, 1, 2}}))(t)
	must.Do(t, os.MkdirAll(filepath.Join(dir, "submit"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(dir, "submit", parts[0].File), parts[0].Content, 0o644))
	return e, parts[0]
}

const kubectlList = `{"kind":"List","items":[{"kind":"Job","metadata":{"name":"there","namespace":"team",` +
	`"labels":{"amtrl/part":"0123456789ab-1-0"}}}]}`

// Submit reports a refusal if the server refused the job, Unsure if the server may have accepted it, and the id of the
// existing job if an earlier call created it.
func TestSubmitAnswers(t *testing.T) {
	list := "case \"$*\" in *get*) echo '" + kubectlList + "'; exit 0;; esac\n"
	for _, c := range []struct {
		name, script, id, err string
		unsure                bool
	}{
		{"taken", "echo team/there", "team/there", "", false},
		{"without a newline", "printf team/there", "team/there", "", false},
		{"nothing", "exit 0", "", "expected NAMESPACE/NAME, found nothing", true},
		{"rubbish", "head -c 5000 /dev/zero", "", "expected NAMESPACE/NAME, found", true},
		{"a web page", "echo '<html>login</html>'", "", `found "<html>login</html>`, true},
		{"refused", "echo 'Error from server (Invalid): error when creating \"x\": Job.batch \"x\" is invalid: spec: no' >&2; exit 1", "",
			"is invalid: spec: no", false},
		{"forbidden", "echo 'Error from server (Forbidden): jobs.batch is forbidden' >&2; exit 1", "", "(Forbidden)", false},
		{"quota", "echo 'Error from server (Forbidden): exceeded quota' >&2; exit 1", "", "exceeded quota", false},
		{"webhook", "echo 'Error from server: admission webhook \"v.example\" denied the request: no' >&2; exit 1", "",
			"denied the request", false},
		{"no server", "echo 'E1121 00:44:57.012345 1 memcache.go:265] \"Unhandled Error\"' >&2; echo 'The connection to the server " +
			"localhost:8080 was refused - did you specify the right host or port?' >&2; exit 1", "",
			"kubectl create: The connection to the server localhost:8080 was refused - did you specify the right host or port?", false},
		{"no server, said twice", "for i in 1 2; do echo 'The connection was refused' >&2; done; exit 1", "",
			"kubectl create: The connection was refused\x00", false},
		{"no context", "echo 'error: context \"lab\" does not exist' >&2; exit 1", "", `context "lab" does not exist`, false},
		{"cut off", "echo 'Unable to connect to the server: unexpected EOF' >&2; exit 1", "", "unexpected EOF", true},
		{"server timeout", "echo 'Error from server (Timeout): the server was unable to return a response in time' >&2; exit 1", "", "(Timeout)",
			true},
		{"silent", "exit 3", "", "exit code 3 and said nothing", true},
		{"long", "head -c 9000 /dev/zero | tr '\\0' x >&2; exit 1", "", "xxx...", true},
		{"killed", "kill -9 $$", "", "signal: killed", true},
		{"there", list + "echo 'Error from server (AlreadyExists): error when creating \"x\": jobs.batch \"x\" already exists' >&2; exit 1",
			"team/there", "", false},
		{"there of another", "case \"$*\" in *get*) echo '{\"kind\":\"List\",\"items\":[]}'; exit 0;; esac\necho 'Error from server " +
			"(AlreadyExists): jobs.batch \"x\" already exists' >&2; exit 1", "", "already exists", false},
		{"there, then silence", "case \"$*\" in *get*) exit 1;; esac\necho 'Error from server (AlreadyExists): jobs.batch \"x\" already " +
			"exists' >&2; exit 1", "", "said nothing", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeKubectl(t, c.script)
			e, p := kubernetesPart(t)
			id, err := e.Submit(context.Background(), p)
			if id != c.id {
				t.Errorf("id %q, want %q", id, c.id)
			}
			var unsure *batch.Unsure
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error()+"\x00", c.err) || errors.As(err, &unsure) != c.unsure {
				t.Errorf("%v (unsure %t), want %q (%t)", err, errors.As(err, &unsure), c.err, c.unsure)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 800) {
				t.Errorf("not a line: %q", err)
			}
		})
	}
}

// The path of the manifest reaches kubectl as one file name, also with commas and quotes in it.
func TestSubmitFile(t *testing.T) {
	calls := fakeKubectl(t, "echo team/there")
	e, p := kubernetesPart(t)
	must.Get(e.Submit(context.Background(), p))(t)
	if got := calls()[0]; !strings.HasPrefix(got, "--context=lab --namespace=team --request-timeout=30s create --filename=\"/") ||
		!strings.Contains(got, `run, ""one""/submit/1-0.yaml"`) {
		t.Error(got)
	}
}

func TestKubectlMissingAndSlow(t *testing.T) {
	e, p := kubernetesPart(t)
	t.Setenv("PATH", t.TempDir())
	_, err := e.Submit(context.Background(), p)
	var unsure *batch.Unsure
	if !errors.Is(err, errNoKubectl) || errors.As(err, &unsure) {
		t.Error(err)
	}
	if _, err := e.Query(context.Background(), []batch.Job{{Part: p, ID: "team/there"}}); !errors.Is(err, errNoKubectl) {
		t.Error(err)
	}
	fakeKubectl(t, "sleep 30 & sleep 30")
	patience := kubectlPatience
	kubectlPatience = 200 * time.Millisecond
	defer func() { kubectlPatience = patience }()
	start := time.Now()
	_, err = e.Submit(context.Background(), p)
	if !errors.As(err, &unsure) || !strings.Contains(err.Error(), "kubectl create: no answer in 200ms") || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Query(ctx, []batch.Job{{Part: p, ID: "team/there"}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Output that is not an answer of the server is an error of Query, never an empty answer.
func TestQueryRubbish(t *testing.T) {
	for _, script := range []string{"", "echo", "echo '{}'", "echo '[]'", "echo null", `echo '{"kind":"List"}'`,
		`echo '{"kind":"Status","items":[]}'`, `echo '{"kind":"List","items":[{}'`, `echo '{"kind":"List","items":[{"status":7}]}'`,
		"echo warning; echo '" + kubectlList + "'", "exit 1",
		`echo '{"kind":"List","items":[{"kind":"Job","metadata":{"name":"j","labels":{"amtrl/part":"0123456789ab-1-0"}},` +
			`"status":{"completedIndexes":"0-9"}}]}'`,
		`echo '{"kind":"List","items":[{"kind":"Job","metadata":{"name":"j","labels":{"amtrl/part":"0123456789ab-1-0"}},` +
			`"status":{"failedIndexes":"0;2"}}]}'`,
	} {
		fakeKubectl(t, script)
		e, p := kubernetesPart(t)
		seen, err := e.Query(context.Background(), []batch.Job{{Part: p, ID: "team/there"}})
		if err == nil || seen != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", script, seen, err)
		}
	}
	fakeKubectl(t, `echo '{"kind":"List","items":[]}'`)
	e, p := kubernetesPart(t)
	if seen, err := e.Query(context.Background(), []batch.Job{{Part: p, ID: "team/there"}}); err != nil || len(seen) > 0 {
		t.Errorf("%v, %v", seen, err)
	}
}

// Query asks once for all jobs of a namespace.
func TestQueryOnce(t *testing.T) {
	calls := fakeKubectl(t, "echo '"+kubectlList+"'")
	e, p := kubernetesPart(t)
	q := p
	q.Key = "0123456789ab-2-0"
	seen, err := e.Query(context.Background(), []batch.Job{{Part: p, ID: ""}, {Part: q, ID: "team/other"}})
	if err != nil || len(seen) != 3 || seen[0].Job != "team/there" || seen[0].State != batch.Queued {
		t.Errorf("%v, %v", seen, err)
	}
	want := []string{"--context=lab --namespace=team --request-timeout=30s get jobs.batch,pods --selector=amtrl/run in (0123456789ab) " +
		"--output=json"}
	if got := calls(); !slices.Equal(trimAll(got), want) {
		t.Errorf("%q", got)
	}
}

func trimAll(lines []string) []string {
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

func TestCancelAndLog(t *testing.T) {
	calls := fakeKubectl(t, "exit 0")
	e, p := kubernetesPart(t)
	p.Tasks, p.Dense = batch.Tasks{2, 5, 7}, true
	j := batch.Job{Part: p, ID: "elsewhere/there"}
	for _, tasks := range [][]int{nil, {2, 5, 7}, {7, 2}, {99}} {
		must.Do(t, e.Cancel(context.Background(), j, tasks))
	}
	const begin = "--context=lab --namespace=elsewhere --request-timeout=30s delete "
	want := []string{
		begin + "jobs.batch --selector=amtrl/part=0123456789ab-1-0 --wait=false --output=name",
		begin + "jobs.batch --selector=amtrl/part=0123456789ab-1-0 --wait=false --output=name",
		begin + "pods --selector=amtrl/part=0123456789ab-1-0,batch.kubernetes.io/job-completion-index in (2,0) " +
			"--field-selector=status.phase!=Succeeded,status.phase!=Failed --wait=false --output=name",
	}
	if got := trimAll(calls()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := strings.Join(e.Log(j, 7, true).Argv, " "); got != "kubectl --context=lab --namespace=elsewhere logs "+
		"--selector=amtrl/part=0123456789ab-1-0,batch.kubernetes.io/job-completion-index=2 --tail=-1 --follow --max-log-requests=10000" {
		t.Error(got)
	}
}

// Check asks the server about the objects to be created and about the volume claims.
func TestCheck(t *testing.T) {
	e, p := kubernetesPart(t)
	calls := fakeKubectl(t, "cat >/dev/null")
	must.Do(t, e.Check(context.Background(), []batch.Part{p}))
	if got := trimAll(calls()); len(got) != 2 || !strings.Contains(got[0], "create --dry-run=server --filename=-") ||
		!strings.Contains(got[1], "get persistentvolumeclaim work") {
		t.Errorf("%q", got)
	}
	fakeKubectl(t, `case "$*" in *create*) cat >/dev/null; exit 0;; esac; echo 'Error from server (Forbidden): no' >&2; exit 1`)
	must.Do(t, e.Check(context.Background(), []batch.Part{p}))
	fakeKubectl(t, `case "$*" in *create*) exit 0;; esac; echo 'Error from server (NotFound): persistentvolumeclaims "work" not found' >&2;`+
		` exit 1`)
	must.Fail(t, "an account that there is not", e.Check(context.Background(), []batch.Part{p}), `"work" not found`)
}

// What the server warns of when it accepts a Job, as Pod Security does, is kept, each once, until it is asked for.
func TestWarnings(t *testing.T) {
	e, p := kubernetesPart(t)
	fakeKubectl(t, `cat >/dev/null; echo 'Warning: would violate PodSecurity "restricted:latest": runAsNonRoot != true' >&2
echo 'I1121 00:44:57.012345 1 a.go:1] chatter' >&2; echo 'Warning: unknown field' >&2; echo 'Warning: unknown field' >&2; echo team/there`)
	want := []string{`would violate PodSecurity "restricted:latest": runAsNonRoot != true`, "unknown field"}
	must.Get(e.Submit(t.Context(), p))(t)
	must.Get(e.Submit(t.Context(), p))(t)
	must.EqualSlices(t, e.Warnings(), want, "warnings of a submission")
	must.EqualSlices(t, e.Warnings(), nil, "warnings that were asked for")
	must.Do(t, e.Check(t.Context(), []batch.Part{p, p}))
	must.EqualSlices(t, e.Warnings(), want, "warnings of a check")
	fakeKubectl(t, "echo 'Warning: it is late' >&2; echo 'error: context \"lab\" does not exist' >&2; exit 1")
	must.Fail(t, "a refusal", must.Err(e.Submit(t.Context(), p)), "Warning: it is late; error: ")
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ script, context, namespace, err string }{
		{`echo '{"current-context":"prod","contexts":[{"name":"prod","context":{"cluster":"c","namespace":"ml"}}]}'`, "prod", "ml", ""},
		{`echo '{"current-context":"prod","contexts":[{"name":"prod","context":{"cluster":"c"}}]}'`, "prod", "default", ""},
		{`echo 'error: current-context must exist in order to minify' >&2; exit 1`, "", "", ""},
		{`echo nonsense`, "", "", "expected JSON"},
		{`echo '{"current-context":"prod","contexts":[{"name":"prod","context":{"namespace":"$(x)"}}]}'`, "", "", "--namespace"},
		{`exit 1`, "", "", "said nothing"},
	} {
		fakeKubectl(t, c.script)
		e := mustNew(t, Options{Image: "amtrl"})
		err := e.Resolve(context.Background())
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		if err == nil && (e.options.Context != c.context || e.options.Namespace != c.namespace) {
			t.Errorf("%s: %q %q", c.script, e.options.Context, e.options.Namespace)
		}
	}
}

// The id of a job comes from a file that another user may have written: no command is called with an id of the wrong
// form.
func TestHostileJobID(t *testing.T) {
	calls := fakeKubectl(t, "exit 0")
	e, p := kubernetesPart(t)
	must.Do(t, e.Cancel(context.Background(), batch.Job{Part: p, ID: "team/there"}, nil))
	for _, id := range []string{"--all", "team", "team/", "/there", "team/../x", "team/a b", "Team/there", "team/there/x"} {
		j := batch.Job{Part: p, ID: id}
		must.Fail(t, fmt.Sprintf("cancel of %q", id), e.Cancel(context.Background(), j, nil))
		must.Fail(t, fmt.Sprintf("query of %q", id), must.Err(e.Query(context.Background(), []batch.Job{j})))
		if l := e.Log(j, 0, false); len(l.Files)+len(l.Argv) > 0 {
			t.Errorf("the log of %q: %+v", id, l)
		}
	}
	if c := calls(); len(c) != 1 {
		t.Errorf("called: %q, expected the first alone", c)
	}
}
