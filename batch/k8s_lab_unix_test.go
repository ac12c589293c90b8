//go:build unix

package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lab is a real API server and Job controller with amtrl at hand. See the
// module kubelab.
type lab struct {
	t      *testing.T
	bin    string // kubelab, kubectl and amtrl
	root   string
	claim  string // the folder behind the volume claim "work"
	mount  string // where the pods see it
	server *exec.Cmd
	sweep  []string // the arguments of what is submitted
}

// sweepArgs are a sweep whose epochs are short and many.
var sweepArgs = []string{"--targets", "fog_1,scale_2,rotate_8,shear_9", "--digits", "1500", "--target-samples", "100", "--epochs", "10", "--iterations", "40", "--lambda", "0", "--tolerance", "0"}

// TestKubelab puts Indexed Jobs of run-task through a real API server and Job
// controller. It takes minutes to build and minutes to run, so it runs where
// AMTRL_KUBELAB names the folder of the programs: make kubelab.
func TestKubelab(t *testing.T) {
	bin := os.Getenv("AMTRL_KUBELAB")
	if bin == "" {
		t.Skip("AMTRL_KUBELAB names no folder of kubelab, kubectl and amtrl: use make kubelab")
	}
	l := startLab(t, bin)
	ref := filepath.Join(l.root, "reference")
	l.amtrl(0, append([]string{"sweep", "--out", ref, "--quiet"}, sweepArgs...)...)
	for _, c := range []struct {
		name string
		f    func(l *lab, ref string)
	}{
		{"the server refuses each of the eight bad manifests and takes the good one", (*lab).manifests},
		{"check asks the server and misses a claim", (*lab).check},
		{"the manual's manifests are valid and its role is enough", (*lab).manual},
		{"a killed task is tried again from its checkpoint, an evicted one costs no attempt", (*lab).killAndEvict},
		{"one cancelled task is given up at once, and retry fills the hole", (*lab).cancelOne},
		{"bad input fails every index at its first attempt", (*lab).badInput},
		{"a suspended job ends its tasks, which go on when it is resumed", (*lab).suspend},
		{"a time limit ends a task and is told apart from a failure", (*lab).timeLimit},
		{"cancel deletes the job and ends its pods, retry completes the run", (*lab).cancelAll},
		{"a submission whose answer got lost is found and not made twice", (*lab).lostAnswer},
		{"an image that is not there and GPUs that no node has are told by status", (*lab).waiting},
		{"a job deleted behind our back is told by status", (*lab).deleted},
		{"status exits with 2 while the server is away", (*lab).noServer},
	} {
		if !t.Run(c.name, func(t *testing.T) {
			inner := *l
			inner.t = t
			c.f(&inner, ref)
		}) {
			t.Errorf("the log of the server is in %s", filepath.Join(l.root, "kubelab.log"))
		}
	}
}

func startLab(t *testing.T, bin string) *lab {
	t.Helper()
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("", "kubelab")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, bin: bin, root: root, claim: filepath.Join(root, "lab", "claims", "work"), mount: filepath.Join(root, "mnt"), sweep: sweepArgs}
	for _, dir := range []string{l.claim, l.mount} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(root, "kubelab.log"))
	if err != nil {
		t.Fatal(err)
	}
	l.server = exec.Command(filepath.Join(bin, "kubelab"), "-dir", filepath.Join(root, "lab"), "-image", "amtrl:lab="+bin)
	l.server.Stderr = log
	out, err := l.server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.stop()
		log.Close()
		if !t.Failed() {
			os.RemoveAll(root)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, found := strings.CutPrefix(line, "export KUBECONFIG="); err != nil || !found {
		t.Fatalf("kubelab printed %q: %v; its log is in %s", line, err, log.Name())
	}
	l.kubectl(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"work"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}`, "create", "-f", "-")
	return l
}

func (l *lab) stop() {
	if l.server.ProcessState == nil {
		l.server.Process.Signal(syscall.SIGTERM)
		l.server.Wait()
	}
}

func (l *lab) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(l.bin, name), args...)
	cmd.Env = append(os.Environ(), "PATH="+l.bin+":"+os.Getenv("PATH"), "KUBECONFIG="+filepath.Join(l.root, "lab", "kubeconfig"))
	return cmd
}

// amtrl runs amtrl and returns what it prints on standard output and error.
func (l *lab) amtrl(code int, args ...string) (stdout, stderr string) {
	l.t.Helper()
	cmd := l.command("amtrl", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		l.t.Fatalf("amtrl %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func (l *lab) kubectl(stdin string, args ...string) string {
	l.t.Helper()
	cmd := l.command("kubectl", args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// submit submits the sweep to a folder of the claim.
func (l *lab) submit(name string, more ...string) (dir string) {
	l.t.Helper()
	dir = filepath.Join(l.claim, name)
	l.amtrl(0, l.submission(dir, more...)...)
	return dir
}

func (l *lab) submission(dir string, more ...string) []string {
	args := []string{"submit", dir, "--to", "k8s", "--image", "amtrl:lab", "--volume", "work:" + l.mount, "--run-path", filepath.Join(l.mount, filepath.Base(dir)), "--cpus", "1", "--mem", "1G", "--parallel", "2"}
	return append(append(args, l.sweep...), more...)
}

// states are the states of the tasks, and their reasons.
func (l *lab) states(dir string) (states, reasons []string) {
	l.t.Helper()
	cmd := l.command("amtrl", "status", dir, "--json")
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() > 1 {
		l.t.Fatalf("status: %v", err)
	}
	var s struct{ Tasks []TaskStatus }
	if err := json.Unmarshal(out, &s); err != nil {
		l.t.Fatalf("%s: %v", out, err)
	}
	for _, t := range s.Tasks {
		states, reasons = append(states, string(t.State)), append(reasons, t.Reason)
	}
	return states, reasons
}

// until waits for something to come true.
func (l *lab) until(what string, f func() bool) {
	l.t.Helper()
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if f() {
			return
		}
	}
	l.t.Fatalf("waited in vain for: %s", what)
}

func (l *lab) attempts(dir string, task int) []AttemptLine {
	l.t.Helper()
	r, err := Open(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	lines, err := r.Attempts(task)
	if err != nil {
		l.t.Fatal(err)
	}
	return lines
}

// middle waits until an attempt of a task is in its middle, and returns the
// line of its start.
func (l *lab) middle(dir string, task, attempt int) AttemptLine {
	l.t.Helper()
	var start AttemptLine
	l.until(fmt.Sprintf("attempt %d of task %d", attempt, task), func() bool {
		for _, a := range l.attempts(dir, task) {
			switch {
			case a.Attempt == attempt && a.Event == attemptStart:
				start = a
			case a.Attempt == attempt && a.Event == attemptEpoch:
				return true
			case a.Attempt == attempt && a.Event == attemptEnd:
				l.t.Fatalf("attempt %d of task %d has ended", attempt, task)
			}
		}
		return false
	})
	return start
}

// starts counts the attempts of a task.
func (l *lab) starts(dir string, task int) int {
	n := 0
	for _, a := range l.attempts(dir, task) {
		if a.Event == attemptStart {
			n++
		}
	}
	return n
}

// epochs counts how often an epoch of a task was computed, of both methods.
func (l *lab) epochs(dir string, task int) int {
	n := 0
	for _, a := range l.attempts(dir, task) {
		if a.Event == attemptEpoch {
			n++
		}
	}
	return n
}

// job is the status of the Job of a submission.
func (l *lab) job(dir string, try int) (status struct {
	CompletedIndexes, FailedIndexes string
	Failed, Succeeded               int
}) {
	l.t.Helper()
	r, err := Open(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	out := l.kubectl("", "get", "jobs", "-l", fmt.Sprintf("%s=%s-%d-0", k8sPartLabel, r.Plan.ID, try), "-o", "jsonpath={.items[0].status}")
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		l.t.Fatalf("%s: %v", out, err)
	}
	return status
}

// complete waits for all tasks and holds what collect writes against the sweep
// of one machine.
func (l *lab) complete(dir, ref string) {
	l.t.Helper()
	l.amtrl(0, "status", dir, "--wait", "--interval", "300ms", "--quiet")
	l.amtrl(0, "collect", dir)
	err := filepath.Walk(ref, func(path string, info os.FileInfo, err error) error {
		rel, _ := filepath.Rel(ref, path)
		if err != nil || info.IsDir() || rel == "timing.jsonl" || strings.HasPrefix(filepath.Base(rel), ".") {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, SweepDir, rel))
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("%s differs from that of the sweep on one machine", rel)
		}
		return err
	})
	if err != nil {
		l.t.Error(err)
	}
}

func (l *lab) manifests(string) {
	files, err := filepath.Glob("testdata/k8s/*.yaml")
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
	l.amtrl(0, l.submission(dir, "--check", "--queue", "gpu", "--gpus", "1", "--gpu-type", "NVIDIA-H200", "--toleration", "nvidia.com/gpu", "--time", "1h", "--max-failed", "2")...)
	_, text := l.amtrl(1, l.submission(dir, "--check", "--volume", "absent:/data")...)
	if !strings.Contains(text, `persistentvolumeclaims "absent" not found`) {
		l.t.Error(text)
	}
	if _, text = l.amtrl(1, l.submission(dir, "--check", "--engine-arg", "spec.paralelism=2")...); !strings.Contains(text, "paralelism") {
		l.t.Error(text)
	}
	if _, err := os.Stat(dir); err == nil {
		l.t.Error("check wrote the run folder")
	}
}

// manual creates what docs/kubernetes.md shows, and works as the service
// account that it makes.
func (l *lab) manual(string) {
	text, err := os.ReadFile("../docs/kubernetes.md")
	if err != nil {
		l.t.Fatal(err)
	}
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
	raw, err := os.ReadFile(config)
	if err != nil {
		l.t.Fatal(err)
	}
	defer os.WriteFile(config, raw, 0o600)
	as := strings.Replace(string(raw), "user: {token:", "user: {as: system:serviceaccount:team:amtrl, token:", 1)
	if err := os.WriteFile(config, []byte(as), 0o600); err != nil {
		l.t.Fatal(err)
	}
	if _, text := l.amtrl(1, l.submission(filepath.Join(l.claim, "other"), "--check", "--namespace", "default")...); !strings.Contains(text, "(Forbidden)") {
		l.t.Error(text)
	}
	l.sweep = append(slices.Clone(l.sweep), "--namespace", "team")
	l.amtrl(0, l.submission(filepath.Join(l.claim, "manual"), "--check")...)
	dir := l.submit("manual", "--max-restarts", "0")
	l.middle(dir, 0, 1)
	if out, _ := l.amtrl(0, "logs", dir, "0"); !strings.Contains(out, "task 0, attempt 1") {
		l.t.Error(out)
	}
	l.amtrl(0, "cancel", dir, "0")
	l.until("task 0 to be cancelled", func() bool { s, _ := l.states(dir); return s[0] == string(Cancelled) })
	l.amtrl(0, "cancel", dir)
	l.until("the rest to be cancelled", func() bool { s, _ := l.states(dir); return s[2] == string(Cancelled) && s[3] == string(Cancelled) })
}

func (l *lab) killAndEvict(ref string) {
	dir := l.submit("kill", "--max-restarts", "1")
	killed := l.middle(dir, 0, 1)
	if err := syscall.Kill(killed.PID, syscall.SIGKILL); err != nil {
		l.t.Fatal(err)
	}
	for attempt := range 2 { // one more than restarts are allowed
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
	// What was computed before a SIGTERM was saved, so no epoch was computed twice.
	if n, want := l.epochs(dir, 1), l.epochs(dir, 2); n != want {
		l.t.Errorf("%d epochs of the evicted task, want %d", n, want)
	}
	if out, _ := l.amtrl(0, "logs", dir, "1"); strings.Count(out, "attempt") < 1 {
		l.t.Errorf("logs: %s", out)
	}
	if _, text := l.amtrl(0, l.submission(dir, "--max-restarts", "1")...); !strings.Contains(text, "nothing to hand over") {
		l.t.Error(text)
	}
}

func (l *lab) cancelOne(ref string) {
	dir := l.submit("one", "--max-restarts", "5")
	l.middle(dir, 1, 1)
	begin := time.Now()
	l.amtrl(0, "cancel", dir, "1")
	l.until("task 1 to be cancelled", func() bool {
		s, _ := l.states(dir)
		return s[1] == string(Cancelled) && l.job(dir, 1).FailedIndexes == "1"
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
		if err := os.RemoveAll(data); err != nil {
			l.t.Fatal(err)
		}
		l.amtrl(0, "data", "digits", "--out", data, "--digits", "800", "--data-seed", seed, "--quiet")
	}
	write("1")
	l.sweep = []string{"--data", data, "--targets", "fog_1,scale_2,rotate_8,shear_9", "--target-samples", "50", "--epochs", "2"}
	dir := l.submit("bad", "--volume", data+":"+data+":ro", "--engine-arg", "spec.suspend=true", "--max-restarts", "5")
	if s, why := l.states(dir); s[0] != string(Queued) || why[0] != "suspended" {
		l.t.Errorf("%v %v", s, why)
	}
	write("2")
	l.kubectl("", "patch", "job", "--type=merge", "-p", `{"spec":{"suspend":false}}`, l.jobName(dir))
	begin := time.Now()
	l.amtrl(1, "status", dir, "--wait", "--interval", "300ms", "--quiet")
	l.t.Logf("all failed %.0f s after the start", time.Since(begin).Seconds())
	s, why := l.states(dir)
	for task := range s {
		if s[task] != string(Failed) || !strings.Contains(why[task], "the data here are") || l.starts(dir, task) != 1 {
			l.t.Errorf("task %d is %s (%s) after %d attempts", task, s[task], why[task], l.starts(dir, task))
		}
	}
	l.until("the job to have failed", func() bool { return l.job(dir, 1).FailedIndexes == "0-3" })
	if j := l.job(dir, 1); j.Failed != 4 {
		l.t.Errorf("%+v", j)
	}
}

// jobName is the name of the Job of the first submission.
func (l *lab) jobName(dir string) string {
	l.t.Helper()
	r, err := Open(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	_, name := splitK8sID(r.Jobs[0].ID)
	return name
}

func (l *lab) suspend(ref string) {
	dir := l.submit("suspend", "--max-restarts", "0")
	pid := l.middle(dir, 0, 1).PID
	l.kubectl("", "patch", "job", "--type=merge", "-p", `{"spec":{"suspend":true}}`, l.jobName(dir))
	l.until("the process to end", func() bool { return syscall.Kill(pid, 0) != nil })
	l.until("all tasks to wait", func() bool {
		s, why := l.states(dir)
		for i := range s {
			if s[i] != string(Done) && !strings.HasPrefix(why[i], "suspended") {
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
		if s[task] != string(Timeout) || !strings.Contains(why[task], "DeadlineExceeded") {
			l.t.Errorf("task %d is %s (%s)", task, s[task], why[task])
		}
	}
}

func (l *lab) cancelAll(ref string) {
	dir := l.submit("all", "--max-restarts", "3")
	l.until("a task to be done", func() bool { s, _ := l.states(dir); return slices.Contains(s, string(Done)) })
	l.amtrl(0, "cancel", dir)
	r, err := Open(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	l.until("the job and its pods to be gone", func() bool {
		return strings.TrimSpace(l.kubectl("", "get", "jobs,pods", "-l", k8sRunLabel+"="+r.Plan.ID, "-o", "name")) == ""
	})
	s, _ := l.states(dir)
	before := make([]int, len(s))
	for task := range s {
		before[task] = l.starts(dir, task)
		if s[task] != string(Done) && s[task] != string(Cancelled) {
			l.t.Errorf("task %d is %s", task, s[task])
		}
	}
	l.amtrl(0, "retry", dir, "--failed")
	l.complete(dir, ref)
	for task := range s {
		if s[task] == string(Done) && l.starts(dir, task) != before[task] {
			l.t.Errorf("task %d was done and was begun again", task)
		}
	}
}

func (l *lab) lostAnswer(ref string) {
	dir := l.submit("lost", "--max-restarts", "3")
	path := filepath.Join(dir, jobsFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	at := bytes.LastIndexByte(bytes.TrimSpace(raw), '\n')
	if err := os.WriteFile(path, raw[:at+9], 0o644); err != nil { // as if killed while it noted the answer
		l.t.Fatal(err)
	}
	if s, _ := l.states(dir); slices.Contains(s, string(Lost)) || slices.Contains(s, string(New)) {
		l.t.Errorf("%v", s)
	}
	if _, text := l.amtrl(0, l.submission(dir, "--max-restarts", "3")...); !strings.Contains(text, "nothing to hand over") {
		l.t.Error(text)
	}
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
			return s[0] == string(Queued) && strings.Contains(why[0], c[0])
		})
		l.amtrl(0, "cancel", dir)
		l.until("all tasks to be cancelled", func() bool {
			s, _ := l.states(dir)
			return len(slices.Compact(s)) == 1 && s[0] == string(Cancelled)
		})
	}
}

func (l *lab) deleted(string) {
	dir := l.submit("deleted", "--engine-arg", "spec.suspend=true")
	l.kubectl("", "delete", "job", l.jobName(dir))
	s, why := l.states(dir)
	if len(slices.Compact(slices.Clone(s))) != 1 || s[0] != string(Lost) || !strings.Contains(why[0], "does not know it") {
		l.t.Errorf("%v %v", s, why)
	}
}

func (l *lab) noServer(string) {
	dir := l.submit("away", "--engine-arg", "spec.suspend=true")
	l.stop()
	out, text := l.amtrl(2, "status", dir)
	if out != "" || strings.Count(strings.TrimSpace(text), "\n") != 0 || !strings.Contains(text, "k8s could not be asked: kubectl get: ") {
		l.t.Errorf("%s%s", out, text)
	}
	l.t.Log(strings.TrimSpace(text))
}
