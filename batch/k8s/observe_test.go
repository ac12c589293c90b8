package k8s

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// podJSON returns a pod of kubernetesPart's part in the API's JSON. It ends with rest.
func podJSON(index int, second int, rest string) string {
	return fmt.Sprintf(`{"kind":"Pod","metadata":{"name":"p-%d-%d","namespace":"team","creationTimestamp":"2026-01-02T03:04:%02dZ",
		"labels":{"amtrl/part":"0123456789ab-1-0"},"annotations":{"batch.kubernetes.io/job-completion-index":"%d"}%s}`, index,
		second, second, index, rest)
}

const (
	podRunning = `},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}`
	podWaiting = `},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",` +
		`"message":"0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]}`
	podPulling = `},"spec":{"nodeName":"n1"},"status":{"phase":"Pending","containerStatuses":[{"name":"task",` +
		`"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image"}}}]}`
	podSucceeded = `},"spec":{"nodeName":"n1"},"status":{"phase":"Succeeded","containerStatuses":[{"name":"task",` +
		`"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}`
	podFailed = `},"spec":{"nodeName":"n1"},"status":{"phase":"Failed","containerStatuses":[{"name":"task",` +
		`"state":{"terminated":{"exitCode":65,"reason":"Error","message":"one\namtrl: the data are others\n"}}},{"name":"side",` +
		`"state":{"terminated":{"exitCode":3,"reason":"Lost"}}}]}`
	podKilled = `},"spec":{"nodeName":"n1"},"status":{"phase":"Failed","containerStatuses":[{"name":"task",` +
		`"state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}`
	podDeadline = `},"spec":{"nodeName":"n1"},"status":{"phase":"Failed","reason":"DeadlineExceeded","message":"Pod was active on the ` +
		`node longer than the specified deadline"}`
	podEvicted = `},"spec":{"nodeName":"n1"},"status":{"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True",` +
		`"reason":"EvictionByEvictionAPI"}],"containerStatuses":[{"name":"task","state":{"terminated":{"exitCode":143,"reason":"Error"}}}]}`
	podEnding    = `,"deletionTimestamp":"2026-01-02T03:05:00Z"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}`
	podEndingNew = `,"deletionTimestamp":"2026-01-02T03:05:00Z"},"status":{"phase":"Pending"}`
	podUnknown   = `},"spec":{"nodeName":"n1"},"status":{"phase":"Unknown","reason":"NodeLost"}`
)

// kubectlLab is an engine that reaches a cluster by a context.
var kubectlLab = &engine{options: Options{Context: "lab"}}

func TestObservations(t *testing.T) {
	const (
		jobOpen      = `"spec":{"parallelism":2},"status":{"active":1}`
		jobSuspended = `"spec":{"suspend":true},"status":{"conditions":[{"type":"Suspended","status":"True"}]}`
		jobSome      = `"status":{"completedIndexes":"0","failedIndexes":"1-2"}`
		jobTooMany   = `"status":{"completedIndexes":"0","conditions":[{"type":"Failed","status":"True","reason":"MaxFailedIndexesExceeded",` +
			`"message":"Job has exceeded the specified maximal number of failed indexes"}]}`
		jobLate = `"status":{"conditions":[{"type":"Failed","status":"True","reason":"DeadlineExceeded","message":"Job was active longer ` +
			`than specified deadline"}]}`
		jobOpen0     = `"spec":{"parallelism":2},"status":{}`
		podless      = "queued no pod was made: kubectl --context=lab --namespace=team describe job there says why"
		jobNotFailed = `"status":{"conditions":[{"type":"Failed","status":"False","reason":"DeadlineExceeded"}]}`
	)
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
	// made returns a Job that was made some time ago, behind whose metadata rest stands.
	made := func(d time.Duration, rest string) string {
		return `"creationTimestamp":"` + ago(d) + `"` + "\x00" + rest
	}
	for _, c := range []struct {
		name, job string // if job is empty, there is no Job
		pods      []string
		want      string // STATE REASON (EXIT) of each of the three tasks, separated by ;
	}{
		{"nothing", "", nil, ""},
		{"fresh", jobOpen, nil, "queued;queued;queued"},
		{"no pod for long", made(time.Hour, jobOpen0), nil, podless + ";" + podless + ";" + podless},
		{"no pod for a while", made(time.Second, jobOpen0), nil, "queued;queued;queued"},
		{"resumed a while ago", made(time.Hour, strings.Replace(jobOpen0, "{}", `{"startTime":"`+ago(time.Second)+`"}`, 1)), nil,
			"queued;queued;queued"},
		{"pods that nobody lists", made(time.Hour, jobOpen), nil, "queued;queued;queued"},
		{"suspended for long", made(time.Hour, jobSuspended), nil, "queued suspended;queued suspended;queued suspended"},
		{"some pods", made(time.Hour, jobOpen0), []string{podJSON(0, 1, podRunning)}, "running;queued;queued"},
		{"suspended", jobSuspended, []string{podJSON(1, 1, podFailed)},
			"queued suspended;requeued suspended: amtrl: the data are others (65);queued suspended"},
		{"starting", jobOpen, []string{podJSON(0, 1, podRunning), podJSON(1, 1, podWaiting), podJSON(2, 1, podPulling)},
			"running;queued Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.;queued ImagePullBackOff: Back-off pulling image"},
		{"second pods", jobOpen, []string{podJSON(1, 9, podWaiting), podJSON(1, 2, podKilled), podJSON(0, 8, podRunning),
			podJSON(0, 10, podEvicted)},
			"requeued EvictionByEvictionAPI (143);requeued Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.;queued"},
		{"ended", jobSome, []string{podJSON(0, 1, podSucceeded), podJSON(1, 1, podFailed), podJSON(2, 1, podKilled)},
			"done (0);failed amtrl: the data are others (65);failed OOMKilled (137)"},
		{"ended and swept", jobSome, nil, "done;failed;failed"},
		{"not yet counted", jobOpen, []string{podJSON(0, 1, podSucceeded), podJSON(2, 1, podFailed)},
			"done (0);queued;requeued amtrl: the data are others (65)"},
		{"time limit", `"status":{"failedIndexes":"0"}`, []string{podJSON(0, 1, podDeadline)},
			"timeout DeadlineExceeded: Pod was active on the node longer than the specified deadline;queued;queued"},
		{"given up", jobTooMany, []string{podJSON(1, 1, podKilled)},
			"done;cancelled MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes (137);cancelled " +
				"MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes"},
		{"late", jobLate, nil, "timeout DeadlineExceeded: Job was active longer than specified deadline;timeout DeadlineExceeded: Job was " +
			"active longer than specified deadline;timeout DeadlineExceeded: Job was active longer than specified deadline"},
		{"a condition that does not hold", jobNotFailed, nil, "queued;queued;queued"},
		{"being ended", jobOpen, []string{podJSON(0, 1, podEnding), podJSON(1, 1, podEndingNew), podJSON(2, 1, podUnknown)},
			"running is being ended;cancelled is being ended;running its node does not answer: NodeLost"},
		{"deleted, one goes on", "", []string{podJSON(0, 1, podRunning), podJSON(1, 1, podFailed)}, "running is being ended"},
		{"no index, or another part's", jobOpen, []string{strings.Replace(podJSON(0, 1, podRunning), `"0"}`, `"x"}`, 1),
			podJSON(77, 1, podRunning), strings.Replace(podJSON(1, 1, podRunning), "ab-1-0", "ab-1-1", 1)}, "queued;queued;queued"},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := c.pods
			if c.job != "" {
				created, rest, ok := strings.Cut(c.job, "\x00")
				if !ok {
					created, rest = `"uid":"u"`, c.job
				}
				items = append([]string{`{"kind":"Job","metadata":{"name":"there","namespace":"team","labels":{"amtrl/part":"0123456789ab-1-0"},` +
					created + `},` + rest + `}`}, items...)
			}
			list := must.Get(parseList([]byte(`{"kind":"List","items":[` + strings.Join(items, ",") + `]}`)))(t)
			seen := must.Get(observe([]batch.Job{{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{4, 6, 9}, Dense: true}}}, list,
				kubectlLab.describe))(t)
			var got []string
			for i, o := range seen {
				text := join(" ", string(o.State), o.Reason)
				if o.Exit != "" {
					text += " (" + o.Exit + ")"
				}
				got = append(got, text)
				if o.Key != "0123456789ab-1-0" || c.job != "" && (o.Job != "team/there" || o.Task != []int{4, 6, 9}[i]) {
					t.Errorf("%+v", o)
				}
			}
			if s := strings.Join(got, ";"); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// The tasks of a Job that is being deleted are cancelled, except those that are done.
func TestDeletedJob(t *testing.T) {
	list := must.Get(parseList([]byte(`{"kind":"List","items":[{"kind":"Job","metadata":{"deletionTimestamp":"2026-01-02T03:05:00Z",` +
		`"labels":{"amtrl/part":"k"}},"status":{"completedIndexes":"1"}}]}`)))(t)
	seen, err := observe([]batch.Job{{Part: batch.Part{Key: "k", Tasks: batch.Tasks{0, 1}}}}, list, kubectlLab.describe)
	if err != nil || len(seen) != 2 || seen[0].State != batch.Cancelled || seen[1].State != batch.Done {
		t.Errorf("%v, %v", seen, err)
	}
}

// parseIndexes reads the notation of Tasks.String, and nothing else.
func TestIndexes(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		var want batch.Tasks
		n := 1 + rng.IntN(200)
		for i := range n {
			if rng.IntN(3) > 0 {
				want = append(want, i)
			}
		}
		if got, err := parseIndexes(want.String(), n); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s became %s: %v", want, got, err)
		}
		if len(want) > 0 {
			must.Fail(t, want.String(), must.Err(parseIndexes(want.String(), want[len(want)-1])))
		}
	}
	for _, bad := range []string{",", "1,", "-1", "1-", "3-1", "a", "0-99999999999999999999", " 1"} {
		must.Fail(t, bad, must.Err(parseIndexes(bad, 9)))
	}
}

// Whatever the API answers, the result is an error or observations of tasks that belong to the part.
func FuzzQuery(f *testing.F) {
	f.Add([]byte(kubectlList))
	f.Add([]byte(`{"kind":"List","items":[` + podJSON(0, 1, podFailed) + `,` + podJSON(1, 1, podEvicted) + `]}`))
	part := batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{4, 6, 9}, Dense: true}
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := parseList(raw)
		if err != nil {
			return
		}
		seen, err := observe([]batch.Job{{Part: part, ID: ""}}, list, kubectlLab.describe)
		if err != nil {
			return
		}
		for _, o := range seen {
			if part.Index(o.Task) < 0 || o.State == "" || o.State == batch.New || o.State == batch.Lost {
				t.Fatalf("%+v", o)
			}
			must.Get(json.Marshal(o))(t)
		}
	})
}
