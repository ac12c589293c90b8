//go:build unix

package k8s

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// lab holds a real API server and Job controller, and amtrl beside them. See the module kubelab.
type lab struct {
	t      *testing.T
	bin    string // folder of kubelab, kubectl and amtrl
	root   string
	claim  string // the folder behind the volume claim "work"
	mount  string // path of that volume in the pods
	server *exec.Cmd
	sweep  []string // arguments of the sweep that is submitted
}

// sweepArgs are the arguments of a sweep with many short epochs.
var sweepArgs = []string{"--targets", "fog_1,scale_2,rotate_8,shear_9", "--digits", "1500", "--target-samples", "100", "--epochs", "10",
	"--iterations", "40", "--lambda", "0", "--tolerance", "0"}

// TestKubelab runs Indexed Jobs of run-task by a real API server and Job controller. Building and running take minutes
// each, so the test runs only if AMTRL_KUBELAB names the folder of the programs: make kubelab.
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
	bin = must.Get(filepath.Abs(bin))(t)
	root := must.Get(os.MkdirTemp("", "kubelab"))(t)
	l := &lab{t: t, bin: bin, root: root, claim: filepath.Join(root, "lab", "claims", "work"),
		mount: filepath.Join(root, "mnt"), sweep: sweepArgs}
	for _, dir := range []string{l.claim, l.mount} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	log := must.Get(os.Create(filepath.Join(root, "kubelab.log")))(t)
	l.server = exec.Command(filepath.Join(bin, "kubelab"), "-dir", filepath.Join(root, "lab"), "-image", "amtrl:lab="+bin)
	l.server.Stderr = log
	out := must.Get(l.server.StdoutPipe())(t)
	must.Do(t, l.server.Start())
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
	l.kubectl(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"work"},"spec":{"accessModes":["ReadWriteMany"],`+
		`"resources":{"requests":{"storage":"1Gi"}}}}`, "create", "-f", "-")
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

// amtrl runs amtrl, which must exit with the code, and returns its output.
func (l *lab) amtrl(code int, args ...string) amtrltest.Outcome {
	l.t.Helper()
	o := amtrltest.Run(l.t, l.command("amtrl", args...))
	if o.Code != code {
		l.t.Fatalf("amtrl %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), o.Code, code, o.Stdout, o.Stderr)
	}
	return o
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

// submit submits the sweep to a folder on the volume claim and returns the folder.
func (l *lab) submit(name string, more ...string) (dir string) {
	l.t.Helper()
	dir = filepath.Join(l.claim, name)
	l.amtrl(0, l.submission(dir, more...)...)
	return dir
}

func (l *lab) submission(dir string, more ...string) []string {
	args := []string{"submit", dir, "--to", "k8s", "--image", "amtrl:lab", "--volume", "work:" + l.mount, "--run-path",
		filepath.Join(l.mount, filepath.Base(dir)), "--cpus", "1", "--mem", "1G", "--parallel", "2"}
	return append(append(args, l.sweep...), more...)
}

// states returns the states of all tasks and their reasons.
func (l *lab) states(dir string) (states, reasons []string) {
	l.t.Helper()
	cmd := l.command("amtrl", "status", dir, "--json")
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() > 1 {
		l.t.Fatalf("status: %v", err)
	}
	var s struct{ Tasks []batch.TaskStatus }
	if err := json.Unmarshal(out, &s); err != nil {
		l.t.Fatalf("%s: %v", out, err)
	}
	for _, t := range s.Tasks {
		states, reasons = append(states, string(t.State)), append(reasons, t.Reason)
	}
	return states, reasons
}

// until waits until f returns true, at most four minutes.
func (l *lab) until(what string, f func() bool) {
	l.t.Helper()
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if f() {
			return
		}
	}
	l.t.Fatalf("waited in vain for: %s", what)
}

func (l *lab) attempts(dir string, task int) []batch.AttemptLine {
	l.t.Helper()
	return amtrltest.Attempts(l.t, dir, task)
}

// middle waits until the attempt of a task has finished an epoch, and returns the attempt's start line. The attempt
// must not have ended before.
func (l *lab) middle(dir string, task, attempt int) batch.AttemptLine {
	l.t.Helper()
	var start batch.AttemptLine
	l.until(fmt.Sprintf("attempt %d of task %d", attempt, task), func() bool {
		for _, a := range l.attempts(dir, task) {
			switch {
			case a.Attempt == attempt && a.Event == "start":
				start = a
			case a.Attempt == attempt && a.Event == "epoch":
				return true
			case a.Attempt == attempt && a.Event == "end":
				l.t.Fatalf("attempt %d of task %d has ended", attempt, task)
			}
		}
		return false
	})
	return start
}

// starts counts the attempts of a task.
func (l *lab) starts(dir string, task int) int {
	return amtrltest.Count(l.attempts(dir, task), "start")
}

// epochs returns the number of epochs that all attempts of a task have computed, over both methods.
func (l *lab) epochs(dir string, task int) int {
	return amtrltest.Count(l.attempts(dir, task), "epoch")
}

// job returns the status of the Job of a submission.
func (l *lab) job(dir string, try int) (status struct {
	CompletedIndexes, FailedIndexes string
	Failed, Succeeded               int
}) {
	l.t.Helper()
	r := must.Get(batch.Open(dir))(l.t)
	out := l.kubectl("", "get", "jobs", "-l", fmt.Sprintf("%s=%s-%d-0", partLabel, r.Plan.ID, try), "-o", "jsonpath={.items[0].status}")
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		l.t.Fatalf("%s: %v", out, err)
	}
	return status
}

// complete waits for all tasks and compares the files that collect writes with those of ref, a sweep on one machine.
func (l *lab) complete(dir, ref string) {
	l.t.Helper()
	l.amtrl(0, "status", dir, "--wait", "--interval", "300ms", "--quiet")
	l.amtrl(0, "collect", dir)
	foldertest.Same(l.t, filepath.Join(dir, batch.SweepDir), ref)
}

// jobName returns the name of the first submission's Job.
func (l *lab) jobName(dir string) string {
	l.t.Helper()
	r := must.Get(batch.Open(dir))(l.t)
	_, name, _ := strings.Cut(r.Jobs[0].ID, "/")
	return name
}
