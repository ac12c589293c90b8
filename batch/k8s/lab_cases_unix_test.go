//go:build unix

package k8s

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

func (l *lab) manifests(string) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) != 9 {
		l.t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		out, err := l.command("kubectl", "create", "--dry-run=server", "-f", f).CombinedOutput()
		if bad := strings.HasPrefix(filepath.Base(f), "bad-"); (err != nil) != bad {
			l.t.Errorf("%s: %v: %s", f, err, out)
		}
	}
}

func (l *lab) check(string) {
	dir := filepath.Join(l.claim, "check $(touch x) 'a'")
	l.amtrl(0, l.submission(dir, "--check", "--queue", "gpu", "--gpus", "1", "--gpu-type", "NVIDIA-H200", "--toleration", "nvidia.com/gpu",
		"--time", "1h", "--max-failed", "2")...)
	absent := l.amtrl(1, l.submission(dir, "--check", "--volume", "absent:/data")...)
	absent.Complains(l.t, 1, `persistentvolumeclaims "absent" not found`)
	l.amtrl(1, l.submission(dir, "--check", "--engine-arg", "spec.paralelism=2")...).Complains(l.t, 1, "paralelism")
	must.Absent(l.t, dir)
}

// manual creates the objects of docs/kubernetes.md and then works as the service account among them.
func (l *lab) manual(string) {
	text := must.Get(os.ReadFile("../../docs/kubernetes.md"))(l.t)
	l.kubectl("", "create", "namespace", "team")
	blocks := strings.Split(string(text), "```")
	shown := 0
	for i, b := range blocks {
		if manifest, ok := strings.CutPrefix(b, "yaml\n"); ok && i%2 == 1 {
			if strings.Contains(manifest, "kind: Job") {
				manifest = strings.Replace(manifest, "    spec:\n      restart", "    metadata: {labels: {a: b}}\n    spec:\n      restart", 1)
				l.kubectl(manifest, "create", "--dry-run=server", "-f", "-")
			} else {
				l.kubectl(manifest, "apply", "-f", "-")
			}
			shown++
		}
	}
	if shown != 3 {
		l.t.Errorf("%d manifests", shown)
	}
	config := filepath.Join(l.root, "lab", "kubeconfig")
	raw := must.Get(os.ReadFile(config))(l.t)
	defer os.WriteFile(config, raw, 0o600)
	as := strings.Replace(string(raw), "user: {token:", "user: {as: system:serviceaccount:team:amtrl, token:", 1)
	must.Do(l.t, os.WriteFile(config, []byte(as), 0o600))
	l.amtrl(1, l.submission(filepath.Join(l.claim, "other"), "--check", "--namespace", "default")...).Complains(l.t, 1, "(Forbidden)")
	l.sweep = append(slices.Clone(l.sweep), "--namespace", "team")
	l.amtrl(0, l.submission(filepath.Join(l.claim, "manual"), "--check")...)
	dir := l.submit("manual", "--max-restarts", "0")
	l.middle(dir, 0, 1)
	l.amtrl(0, "logs", dir, "0").Prints(l.t, 0, "task 0, attempt 1")
	l.amtrl(0, "cancel", dir, "0")
	l.until("task 0 to be cancelled", func() bool { s, _ := l.states(dir); return s[0] == string(batch.Cancelled) })
	l.amtrl(0, "cancel", dir)
	l.until("the rest to be cancelled", func() bool {
		s, _ := l.states(dir)
		return s[2] == string(batch.Cancelled) && s[3] == string(batch.Cancelled)
	})
}

func (l *lab) killAndEvict(ref string) {
	dir := l.submit("kill", "--max-restarts", "1")
	killed := l.middle(dir, 0, 1)
	must.Do(l.t, syscall.Kill(killed.PID, syscall.SIGKILL))
	for attempt := range 2 { // one more than the allowed restarts
		evicted := l.middle(dir, 1, attempt+1)
		l.kubectl(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+evicted.EngineID+`","namespace":"default"}}`,
			"create", "--raw", "/api/v1/namespaces/default/pods/"+evicted.EngineID+"/eviction", "-f", "-")
	}
	l.complete(dir, ref)
	if a, b := l.starts(dir, 0), l.starts(dir, 1); a != 2 || b != 3 {
		l.t.Errorf("%d attempts of the killed task, want 2; %d of the evicted one, want 3", a, b)
	}
	l.until("the job to be complete", func() bool { return l.job(dir, 1).CompletedIndexes == "0-3" })
	if s := l.job(dir, 1); s.FailedIndexes != "" || s.Failed != 1 {
		l.t.Errorf("%+v", s)
	}
	// The evicted attempts saved their progress on SIGTERM, so no epoch was computed twice.
	if n, want := l.epochs(dir, 1), l.epochs(dir, 2); n != want {
		l.t.Errorf("%d epochs of the evicted task, want %d", n, want)
	}
	l.amtrl(0, "logs", dir, "1").Prints(l.t, 0, "attempt")
	l.amtrl(0, l.submission(dir, "--max-restarts", "1")...).Complains(l.t, 0, "nothing to hand over")
}

func (l *lab) cancelOne(ref string) {
	dir := l.submit("one", "--max-restarts", "5")
	l.middle(dir, 1, 1)
	begin := time.Now()
	l.amtrl(0, "cancel", dir, "1")
	l.until("task 1 to be cancelled", func() bool {
		s, _ := l.states(dir)
		return s[1] == string(batch.Cancelled) && l.job(dir, 1).FailedIndexes == "1"
	})
	l.t.Logf("given up %.0f s after cancel", time.Since(begin).Seconds())
	l.amtrl(1, "status", dir, "--wait", "--interval", "300ms", "--quiet")
	if s, _ := l.states(dir); !slices.Equal(s, []string{"done", "cancelled", "done", "done"}) {
		l.t.Errorf("%v", s)
	}
	l.amtrl(0, "retry", dir, "--failed")
	l.complete(dir, ref)
	l.until("the second job to be complete", func() bool { return l.job(dir, 2).CompletedIndexes == "0" })
	for task, want := range []int{1, 2, 1, 1} {
		if got := l.starts(dir, task); got != want {
			l.t.Errorf("task %d was begun %d times, want %d", task, got, want)
		}
	}
}

func (l *lab) badInput(string) {
	data := filepath.Join(l.root, "data")
	write := func(seed string) {
		must.Do(l.t, os.RemoveAll(data))
		l.amtrl(0, "data", "digits", "--out", data, "--digits", "800", "--data-seed", seed, "--quiet")
	}
	write("1")
	l.sweep = []string{"--data", data, "--targets", "fog_1,scale_2,rotate_8,shear_9", "--target-samples", "50", "--epochs", "2"}
	dir := l.submit("bad", "--volume", data+":"+data+":ro", "--engine-arg", "spec.suspend=true", "--max-restarts", "5")
	if s, why := l.states(dir); s[0] != string(batch.Queued) || why[0] != "suspended" {
		l.t.Errorf("%v %v", s, why)
	}
	write("2")
	l.kubectl("", "patch", "job", "--type=merge", "-p", `{"spec":{"suspend":false}}`, l.jobName(dir))
	begin := time.Now()
	l.amtrl(1, "status", dir, "--wait", "--interval", "300ms", "--quiet")
	l.t.Logf("all failed %.0f s after the start", time.Since(begin).Seconds())
	s, why := l.states(dir)
	for task := range s {
		if s[task] != string(batch.Failed) || !strings.Contains(why[task], "the data here are") || l.starts(dir, task) != 1 {
			l.t.Errorf("task %d is %s (%s) after %d attempts", task, s[task], why[task], l.starts(dir, task))
		}
	}
	l.until("the job to have failed", func() bool { return l.job(dir, 1).FailedIndexes == "0-3" })
	if j := l.job(dir, 1); j.Failed != 4 {
		l.t.Errorf("%+v", j)
	}
}

func (l *lab) suspend(ref string) {
	dir := l.submit("suspend", "--max-restarts", "0")
	pid := l.middle(dir, 0, 1).PID
	l.kubectl("", "patch", "job", "--type=merge", "-p", `{"spec":{"suspend":true}}`, l.jobName(dir))
	l.until("the process to end", func() bool { return syscall.Kill(pid, 0) != nil })
	l.until("all tasks to wait", func() bool {
		s, why := l.states(dir)
		for i := range s {
			if s[i] != string(batch.Done) && !strings.HasPrefix(why[i], "suspended") {
				return false
			}
		}
		return true
	})
	l.kubectl("", "patch", "job", "--type=merge", "-p", `{"spec":{"suspend":false}}`, l.jobName(dir))
	l.complete(dir, ref)
	if n, want := l.epochs(dir, 0), l.epochs(dir, 3); l.starts(dir, 0) != 2 || n != want {
		l.t.Errorf("%d attempts, %d epochs, want 2 and %d", l.starts(dir, 0), n, want)
	}
}

func (l *lab) timeLimit(string) {
	dir := l.submit("time", "--max-restarts", "0", "--time", "1s", "--parallel", "4")
	l.amtrl(1, "status", dir, "--wait", "--interval", "300ms", "--quiet")
	s, why := l.states(dir)
	for task := range s {
		if s[task] != string(batch.Timeout) || !strings.Contains(why[task], "DeadlineExceeded") {
			l.t.Errorf("task %d is %s (%s)", task, s[task], why[task])
		}
	}
}

func (l *lab) cancelAll(ref string) {
	dir := l.submit("all", "--max-restarts", "3")
	l.until("a task to be done", func() bool { s, _ := l.states(dir); return slices.Contains(s, string(batch.Done)) })
	l.amtrl(0, "cancel", dir)
	r := must.Get(batch.Open(dir))(l.t)
	l.until("the job and its pods to be gone", func() bool {
		return strings.TrimSpace(l.kubectl("", "get", "jobs,pods", "-l", runLabel+"="+r.Plan.ID, "-o", "name")) == ""
	})
	s, _ := l.states(dir)
	before := make([]int, len(s))
	for task := range s {
		before[task] = l.starts(dir, task)
		if s[task] != string(batch.Done) && s[task] != string(batch.Cancelled) {
			l.t.Errorf("task %d is %s", task, s[task])
		}
	}
	l.amtrl(0, "retry", dir, "--failed")
	l.complete(dir, ref)
	for task := range s {
		if s[task] == string(batch.Done) && l.starts(dir, task) != before[task] {
			l.t.Errorf("task %d was done and was begun again", task)
		}
	}
}

func (l *lab) lostAnswer(ref string) {
	dir := l.submit("lost", "--max-restarts", "3")
	path := filepath.Join(dir, "jobs.jsonl")
	raw := must.Get(os.ReadFile(path))(l.t)
	at := bytes.LastIndexByte(bytes.TrimSpace(raw), '\n')
	must.Do(l.t, os.WriteFile(path, raw[:at+9], 0o644)) // as if the submitter was killed while it recorded the answer
	if s, _ := l.states(dir); slices.Contains(s, string(batch.Lost)) || slices.Contains(s, string(batch.New)) {
		l.t.Errorf("%v", s)
	}
	l.amtrl(0, l.submission(dir, "--max-restarts", "3")...).Complains(l.t, 0, "nothing to hand over")
	l.complete(dir, ref)
	for task := range 4 {
		if n := l.starts(dir, task); n != 1 {
			l.t.Errorf("task %d was begun %d times", task, n)
		}
	}
}

func (l *lab) waiting(string) {
	for _, c := range [][]string{{"ErrImagePull", "--image", "amtrl:absent"}, {"Insufficient nvidia.com/gpu", "--gpus", "3"}} {
		dir := l.submit("waiting"+c[1], c[1:]...)
		l.until("status to say "+c[0], func() bool {
			s, why := l.states(dir)
			return s[0] == string(batch.Queued) && strings.Contains(why[0], c[0])
		})
		l.amtrl(0, "cancel", dir)
		l.until("all tasks to be cancelled", func() bool {
			s, _ := l.states(dir)
			return len(slices.Compact(s)) == 1 && s[0] == string(batch.Cancelled)
		})
	}
}

func (l *lab) deleted(string) {
	dir := l.submit("deleted", "--engine-arg", "spec.suspend=true")
	l.kubectl("", "delete", "job", l.jobName(dir))
	s, why := l.states(dir)
	if len(slices.Compact(slices.Clone(s))) != 1 || s[0] != string(batch.Lost) || !strings.Contains(why[0], "does not know it") {
		l.t.Errorf("%v %v", s, why)
	}
}

func (l *lab) noServer(string) {
	dir := l.submit("away", "--engine-arg", "spec.suspend=true")
	l.stop()
	o := l.amtrl(2, "status", dir)
	o.ComplainsOnce(l.t, 2, "k8s could not be asked: kubectl get: ")
	l.t.Log(strings.TrimSpace(o.Stderr))
}
