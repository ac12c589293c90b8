//go:build unix

package slurm

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

// fake puts a shell script on PATH as the named command.
func fake(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func arrayPart(tasks ...int) batch.Part {
	return batch.Part{Key: "0123456789ab-1-0", File: "1-0.sh", Tasks: tasks, Argv: []string{"sbatch", "--parsable", "file"}}
}

func TestSbatchAnswers(t *testing.T) {
	for _, c := range []struct {
		name, script, id string
		unsure           bool
		says             string
	}{
		{"an id", "echo 12", "12", false, ""},
		{"an id and a cluster", "echo '12;big-1'", "12;big-1", false, ""},
		{"a greeting before", "echo 'Welcome to 7'; echo 12", "12", false, ""},
		{"rubbish", "echo 'Submitted to the cloud'", "", true, `sbatch printed "Submitted to the cloud"`},
		{"nothing", "exit 0", "", true, `sbatch printed ""`},
		{"bytes", `printf '\377\000\n'`, "", true, "expected the id of a job"},
		{"a command", "echo '12;$(touch x)'", "", true, "expected the id of a job"},
		{"a refusal", "echo 'sbatch: error: invalid partition' >&2; exit 1", "", false, "invalid partition"},
		{"a refusal and an id", "echo 12; echo no >&2; exit 1", "", false, "no"},
		{"no answer from the controller", "echo 'Socket timed out on send/recv operation' >&2; exit 1", "", true, "timed out"},
		{"a refusal on stdout", "echo 'no such account'; exit 7", "", false, "exit status 7: no such account"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, "sbatch", c.script)
			id, err := newEngine(t.TempDir()).Submit(context.Background(), arrayPart(0, 1))
			var unsure *batch.Unsure
			if id != c.id || (err != nil) != (c.says != "") || errors.As(err, &unsure) != c.unsure {
				t.Fatalf("id %q, error %v", id, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %q, expected one line with %q", err, c.says)
			}
		})
	}
}

func TestNoSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e := newEngine(t.TempDir())
	var unsure *batch.Unsure
	if _, err := e.Submit(context.Background(), arrayPart(0)); err == nil || errors.As(err, &unsure) ||
		!strings.Contains(err.Error(), "there is no sbatch") {
		t.Errorf("error %v", err)
	}
	must.Fail(t, "a query", must.Err(e.Query(context.Background(), []batch.Job{{Part: arrayPart(0), ID: "1"}})), "there is no squeue")
	// Render works without Slurm.
	parts, err := e.Render(context.Background(), batch.Submission{Dir: "/run", ID: "0123456789ab", Name: "run", Number: 1,
		Tasks: []int{0, 1001}, Program: "/amtrl"})
	if err != nil || len(parts) != 2 {
		t.Errorf("%d parts, %v", len(parts), err)
	}
}

func TestSlurmThatHangs(t *testing.T) {
	fake(t, "sbatch", "exec sleep 60")
	old := patience
	patience = 100 * time.Millisecond
	defer func() { patience = old }()
	_, err := newEngine(t.TempDir()).Submit(context.Background(), arrayPart(0))
	var unsure *batch.Unsure
	if !errors.As(err, &unsure) || !strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("error %v", err)
	}
}

// Slurm's commands do not get the variables that change the format or the scope of an answer, make sbatch wait, or
// describe a job in which this process runs.
func TestSlurmEnvironment(t *testing.T) {
	kept := cleanEnvironment([]string{"PATH=/bin", "SQUEUE_FORMAT=%i", "SQUEUE_STATES=R", "SLURM_CONF=/c", "SLURM_JOB_ID=3", "SBATCH_WAIT=1",
		"SBATCH_ACCOUNT=a", "SACCT_FORMAT=x", "SLURM_MEM_PER_CPU=1"})
	if got := strings.Join(kept, " "); got != "PATH=/bin SLURM_CONF=/c SBATCH_ACCOUNT=a" {
		t.Errorf("kept %s", got)
	}
}

func TestSlurmArguments(t *testing.T) {
	fake(t, "scontrol", "echo 'MaxArraySize            = 10'")
	e := &engine{dir: "/data/100% 'run'", options: Options{Partition: "gpu", Account: "a b", QOS: "high", Constraint: "a100|h100",
		Exclude: "n[1-3]", Nice: "5",
		Setup: []string{"module load cuda"}, Args: []string{"--reservation=lab"}}}
	res := batch.Resources{GPUs: 2, GPUType: "h200", CPUs: 4, MemMiB: 1500, Time: 26*time.Hour + 30*time.Minute, Parallel: 7}
	parts := must.Get(e.Render(context.Background(), batch.Submission{Dir: "/data/100% 'run'", ID: "0123456789ab",
		Name: "100% 'run'", Number: 2,
		Tasks: []int{3, 4, 9, 10, 25}, Program: "/opt/am trl", Resources: res}))(t)
	if len(parts) != 3 {
		t.Fatalf("%d parts, expected 3", len(parts))
	}
	want := []string{"sbatch", "--parsable", "--job-name=amtrl-100% 'run'", "--comment=0123456789ab-2-2", "--array=5%2",
		"--output=/data/100%% 'run'/log/%A_%a.out", "--error=/data/100%% 'run'/log/%A_%a.err", "--open-mode=append",
		"--requeue", "--signal=B:USR1@90",
		"--kill-on-invalid-dep=yes", "--ntasks=1", "--export=ALL", "--gres=gpu:h200:2", "--cpus-per-task=4", "--mem=1500M", "--time=1-02:30:00",
		"--partition=gpu", "--account=a b",
		"--qos=high", "--constraint=a100|h100", "--exclude=n[1-3]", "--nice=5", "--reservation=lab", "/data/100% 'run'/submit/2-2.sh"}
	if got := strings.Join(parts[2].Argv, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the command is\n%s", got)
	}
	res.Time = time.Minute
	few := batch.Submission{Dir: "/data", ID: "0123456789ab", Number: 1, Tasks: []int{0}, Resources: res}
	brief := must.Get(e.Render(context.Background(), few))(t)
	must.Hold(t, slices.Contains(brief[0].Argv, "--signal=B:USR1@30"), "%s", brief[0].Argv)
	if !strings.Contains(parts[0].Argv[4], "--array=3-4,9%") {
		t.Errorf("a retry without holes: %s", parts[0].Argv[4])
	}
	script := "#!/bin/bash\n# amtrl: part 0123456789ab-2-2, tasks 25\ntrap '' USR1\nmodule load cuda\n" +
		`exec '/opt/am trl' run-task --part 0123456789ab-2-2 '/data/100% '\''run'\''' "$SLURM_ARRAY_TASK_ID"` + "\n"
	if got := string(parts[2].Content); got != script {
		t.Errorf("the script is\n%s", got)
	}
}

// However many ranges of tasks there are, no command has an argument that is longer than the system allows, and each task is handed over
// and ended once.
func TestManyRanges(t *testing.T) {
	fake(t, "scontrol", "echo 'MaxArraySize = 1000001'")
	heard := filepath.Join(t.TempDir(), "heard")
	fake(t, "sbatch", "echo 12")
	fake(t, "scancel", `echo "$@" >>'`+heard+"'")
	e := newEngine(t.TempDir())
	var tasks []int
	for i := range 150_000 {
		if i%3 > 0 { // pairs of tasks
			tasks = append(tasks, 800_000+i)
		}
	}
	parts := must.Get(e.Render(t.Context(), batch.Submission{Dir: "/data", ID: "0123456789ab", Number: 1, Tasks: tasks}))(t)
	var all, ended []int
	for _, p := range parts {
		all = append(all, p.Tasks...)
		must.Equal(t, must.Get(e.Submit(t.Context(), p))(t), "12", "id of a job")
		must.Do(t, e.Cancel(t.Context(), batch.Job{Part: p, ID: "12"}, p.Tasks))
	}
	must.EqualSlices(t, all, tasks, "tasks that were handed over")
	for line := range strings.Lines(string(must.Get(os.ReadFile(heard))(t))) {
		list := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "12_["), "]")
		ended = append(ended, must.Get(batch.ParseRanges(list, 1_000_000))(t)...)
	}
	must.EqualSlices(t, ended, tasks, "tasks that were ended")
}

// newEngine returns an engine without options.
func newEngine(dir string) *engine { return &engine{dir: dir} }

// The id of a job comes from a file that another user may have written: no command is called with an id of the wrong
// form.
func TestHostileJobID(t *testing.T) {
	called := filepath.Join(t.TempDir(), "called")
	for _, name := range []string{"scancel", "squeue", "sacct"} {
		fake(t, name, "echo "+name+" >>'"+called+"'")
	}
	e := newEngine(t.TempDir())
	for _, id := range []string{"--user=root", "12 13", "12;--all", "12;a b", "12\n13", "12_3", "-1", ";big", strings.Repeat("1", 30)} {
		j := batch.Job{Part: arrayPart(0, 1), ID: id}
		must.Fail(t, fmt.Sprintf("cancel of %q", id), e.Cancel(context.Background(), j, nil))
		must.Fail(t, fmt.Sprintf("query of %q", id), must.Err(e.Query(context.Background(), []batch.Job{j})))
		if l := e.Log(j, 0, false); len(l.Files)+len(l.Argv) > 0 {
			t.Errorf("the log of %q: %+v", id, l)
		}
	}
	must.Absent(t, called)
}

// Only the process outside a container asks Slurm to requeue the task. Slurm may end that process while it asks; this
// is no error.
func TestRequeue(t *testing.T) {
	called := filepath.Join(t.TempDir(), "called")
	fake(t, "scontrol", "kill -TERM $$; echo \"$@\" >>'"+called+"'")
	t.Setenv("SLURM_ARRAY_JOB_ID", "12")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	t.Setenv("SLURM_RESTART_COUNT", "2")
	a := newEngine("/run").Attempt()
	if err := a.Requeue(context.Background()); err != nil || a.ID != "12_3" || a.Restarts != "2" {
		t.Errorf("%v, %q, %q", err, a.ID, a.Restarts)
	}
	t.Setenv(wrappedVariable, "1")
	if a := newEngine("/run").Attempt(); a.Requeue != nil {
		t.Error("a process in a container would ask")
	}
	if raw, err := os.ReadFile(called); err != nil || string(raw) != "requeue 12_3\n" {
		t.Errorf("%q, %v", raw, err)
	}
	fake(t, "sh", "kill -TERM $$")
	if err := a.Requeue(context.Background()); err != nil {
		t.Errorf("Slurm ended the task before it was asked: %v", err)
	}
	fake(t, "sh", "kill -KILL $$")
	must.Fail(t, "what nobody asked for", a.Requeue(context.Background()), "scontrol requeue 12_3: signal: killed")
}
