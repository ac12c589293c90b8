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

// Query takes the states from squeue, and from sacct for jobs that squeue no longer knows.
func TestQueryAnswers(t *testing.T) {
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{100, 101, 102, 107}, Offset: 100}, ID: "12"}
	lost := job
	lost.ID = ""
	other := batch.Job{Part: batch.Part{Key: "0123456789ab-2-0", Tasks: batch.Tasks{3}}, ID: "9;big"}
	for _, c := range []struct {
		name, squeue, sacct string
		jobs                []batch.Job
		want                string
	}{
		{"squeue", `printf '12|0|RUNNING|None|n1|0123456789ab-1-0\n12|1|PENDING|Resources||0123456789ab-1-0\n` +
			`12|2|NODE_FAIL|None|n2|0123456789ab-1-0\n12|7|CANCELLED|None||0123456789ab-1-0\n` +
			`12|8|RUNNING|None||0123456789ab-1-0\n13|0|RUNNING|None||0123456789ab-1-0\n'`, "exit 1",
			[]batch.Job{job}, "100 running  n1,101 queued Resources ,102 failed NODE_FAIL n2,107 cancelled  "},
		{"forgotten, no accounting", `echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1`,
			"echo 'Slurm accounting storage is disabled' >&2; exit 1", []batch.Job{job}, ""},
		{"forgotten, accounting", `exit 0`, `printf '12_0|COMPLETED|0:0|n1\n12_1|CANCELLED by ` +
			`0|0:15|n1\n12_2|OUT_OF_MEMORY|0:125|n1\n12_[7-9]|PENDING|0:0|\nrubbish\n12.batch|FAILED|1:0|n1\n'`,
			[]batch.Job{job}, "100 done  n1,101 cancelled  n1,102 failed OUT_OF_MEMORY n1,107 queued  "},
		{"found by its comment", `case "$*" in *-j*) exit 3;; esac; printf ` +
			`'55|1|RUNNING|None|n1|0123456789ab-1-0\n55|1|RUNNING|None|n1|ffffffffffff-1-0\n'`, "exit 1", []batch.Job{lost}, "101 running  n1"},
		{"another's by now", `echo '12|0|RUNNING|None|n1|ffffffffffff-1-0'; echo '12|1|RUNNING|None|n1|'`,
			`printf '12_0|RUNNING|0:0|n1\n12_1|COMPLETED|0:0|n1\n'`, []batch.Job{job}, ""},
		{"an unknown word", `echo '12|0|LEVITATING|Magic|n1|0123456789ab-1-0'`, "exit 1", []batch.Job{job}, "100 running LEVITATING Magic n1"},
		{"clusters", `case "$*" in *clusters=big*) echo 'CLUSTER: big'; echo '9|3|COMPLETED|None|b1|0123456789ab-2-0';; *) echo ` +
			`'12|0|TIMEOUT|TimeLimit|n1|0123456789ab-1-0';; esac`, "exit 1", []batch.Job{job, other},
			"100 timeout TimeLimit n1,3 done  b1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, "squeue", c.squeue)
			fake(t, "sacct", c.sacct)
			list := must.Get(newEngine("/run").Query(context.Background(), c.jobs))(t)
			var got []string
			for _, o := range list {
				got = append(got, fmt.Sprintf("%d %s %s %s", o.Task, o.State, o.Reason, o.Node))
			}
			if s := strings.Join(got, ","); s != c.want {
				t.Errorf("got %q, expected %q", s, c.want)
			}
		})
	}
	for name, script := range map[string]string{
		"rubbish":       "echo 'Warning: the moon is full'",
		"no controller": "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1",
	} {
		fake(t, "squeue", script)
		must.Fail(t, name, must.Err(newEngine("/run").Query(context.Background(), []batch.Job{job})))
	}
}

// What accounting says of the exit of a task that has failed is in words where the code has a meaning.
func TestExitsOfAccounting(t *testing.T) {
	fake(t, "squeue", "exit 0")
	fake(t, "sacct", `printf '12_0|FAILED|1:0|n1\n12_1|FAILED|75:0|n1\n12_2|COMPLETED|0:0|n1\n'`)
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{0, 1, 2}}, ID: "12"}
	var exits []string
	for _, o := range must.Get(newEngine("/run").Query(t.Context(), []batch.Job{job}))(t) {
		exits = append(exits, o.Exit)
	}
	must.EqualSlices(t, exits, []string{"exit 1:0", "another attempt holds the task", ""}, "exits")
}

// Where Slurm says no more than that a task failed, the last line of its log says why, such as one of a --setup line.
func TestFailureBeforeAmtrl(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, batch.LogDir), 0o755))
	for id, log := range map[string]string{"12_0": "first\nmodule: command not found\n", "12_1": "amtrl: no file\n", "12_2": "epoch 3\n"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, batch.LogDir, id+".err"), []byte(log), 0o644))
	}
	fake(t, "squeue", `printf '12|0|FAILED|NonZeroExitCode|n1|0123456789ab-1-0\n12|2|FAILED|RaisedSignal:9(Killed)|n1|0123456789ab-1-0\n'`)
	fake(t, "sacct", `printf '12_1|FAILED|1:0|n1\n12_3|FAILED|1:0|n1\n'`)
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{0, 1, 2, 3}}, ID: "12"}
	said := make([]string, 4)
	for _, o := range must.Get(newEngine(dir).Query(t.Context(), []batch.Job{job}))(t) {
		said[o.Task] = o.Exit + o.Reason
	}
	must.EqualSlices(t, said, []string{"NonZeroExitCode: module: command not found", "exit 1:0: no file", "RaisedSignal:9(Killed)",
		"exit 1:0"}, "reasons")
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

// Paths that apptainer would split at commas or colons, and images that look like options, are refused before anything
// is handed over.
func TestContainerPaths(t *testing.T) {
	fake(t, "scontrol", "exit 1")
	for _, c := range []struct {
		image, dir, data string
		files            []string
		ok               bool
	}{
		{"image.sif", "/run", "/data", nil, true}, {"docker://registry.example/amtrl:1", "/run", "", nil, true},
		{"", "/a:b,c", "/d:e", []string{"/f:g"}, true}, {"image.sif", "/a:b", "", nil, false}, {"image.sif", "/a,b", "", nil, false},
		{"image.sif", "/run", "/d:e", nil, false}, {"image.sif", "/run", "/d,e", nil, false},
		{"image.sif", "/run", "/d", []string{"/e", "/f"}, true}, {"image.sif", "/run", "/d", []string{"/e", "/f,g"}, false},
		{"image.sif", "/run", "/d", make([]string, mostFiles), true}, {"image.sif", "/run", "/d", make([]string, mostFiles+1), false},
		{"--writable", "/run", "", nil, false}, {"a\nb", "/run", "", nil, false},
	} {
		e := &engine{dir: c.dir, options: Options{Container: c.image}}
		_, err := e.Render(context.Background(), batch.Submission{Dir: c.dir, Data: c.data, Files: c.files, ID: "0123456789ab", Name: "run",
			Number: 1, Tasks: []int{0}, Program: "/amtrl"})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A container mounts the data and every file that the manifest names, wherever they are.
func TestContainerFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "elsewhere", "b.csv")
	data := filepath.Join(dir, "m", "d.yaml")
	for path, content := range map[string]string{a: "", b: "", data: "files: [../a.csv, " + b + "]\n" +
		"columns: {source: shop, features: x}\nlabels: [{column: label, type: classes}]\n"} {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
	run := &batch.Run{Dir: "/run", Plan: batch.Plan{Flags: []batch.Flag{{Name: "data", Value: data}}}}
	argv := strings.Join(containerCommand(run, "image.sif", batch.Resources{GPUs: 1}, "key", 3), " ")
	want := fmt.Sprintf("apptainer exec --nv --bind /run --bind %[1]s:%[1]s:ro --bind %[2]s:%[2]s:ro --bind %[3]s:%[3]s:ro image.sif "+
		"amtrl run-task --part key /run 3", data, a, b)
	must.Equal(t, argv, want, "the command")
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
