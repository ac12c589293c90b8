// Package slurm runs the tasks of a run folder as job arrays of Slurm, through its commands: options, scripts, queries,
// and what an attempt asks of Slurm.
package slurm

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/text"
)

// engine runs tasks as arrays of Slurm, through its commands.
type engine struct {
	dir     string
	options Options
}

func (e *engine) Name() string { return Kind.Name }
func (e *engine) Options() any { return e.options }

// defaultArraySize is Slurm's own default of MaxArraySize.
const defaultArraySize = 1001

// mostRanges bounds the ranges of tasks in one command. A range takes up to 16 bytes, and Linux allows 128 KiB for one argument.
const mostRanges = 4096

// Render implements [batch.Engine]. With size the bound of the indices of an array, each part holds the tasks from a
// multiple of size up to the next, or the first of these where they are of more than mostRanges ranges.
func (e *engine) Render(ctx context.Context, s batch.Submission) ([]batch.Part, error) {
	if strings.Contains(s.Dir, `\`) {
		return nil, fmt.Errorf("%s: expected a path without a backslash, which Slurm takes out of the names of logs", s.Dir)
	}
	if err := checkContainer(e.options.Container, s); err != nil {
		return nil, err
	}
	more, err := sbatchArgs(e.options.Args)
	if err != nil {
		return nil, err
	}
	size := e.arraySize(ctx)
	var parts []batch.Part
	for i := 0; i < len(s.Tasks); {
		p := batch.Part{Key: s.PartKey(len(parts)), File: fmt.Sprintf("%d-%d.sh", s.Number, len(parts)), Offset: s.Tasks[i] / size * size}
		for ranges := 0; i < len(s.Tasks) && s.Tasks[i] < p.Offset+size; i++ {
			if n := len(p.Tasks); n == 0 || s.Tasks[i] != p.Tasks[n-1]+1 {
				ranges++
			}
			if ranges > mostRanges {
				break
			}
			p.Tasks = append(p.Tasks, s.Tasks[i])
		}
		p.Content = e.script(s, p)
		parts = append(parts, p)
	}
	for i := range parts {
		parts[i].Argv = e.command(s, parts[i], len(parts), more)
	}
	return parts, nil
}

// arraySize returns MaxArraySize, which the indices of an array must be below. If Slurm cannot be asked, it returns the
// default; the submission then reports what is wrong.
func (e *engine) arraySize(ctx context.Context) int {
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	out, err := runCommand(ctx, nil, "scontrol", "show", "config")
	if err != nil {
		return defaultArraySize
	}
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "MaxArraySize" {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n > 0 {
				return n
			}
		}
	}
	return defaultArraySize
}

// script returns the batch script of a part. Its last line replaces the shell by the task, so that signals reach the
// task. A request to save that comes before the task can handle it is ignored; it would otherwise end the shell.
func (e *engine) script(s batch.Submission, p batch.Part) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#!/bin/bash\n# amtrl: part %s, tasks %s\ntrap '' USR1\n", p.Key, cut(p.Tasks.String(), 200))
	for _, line := range e.options.Setup {
		fmt.Fprintln(&b, line)
	}
	argv := []string{s.Program, "run-task", "--part", p.Key}
	if e.options.Container != "" {
		argv = append(argv, "--container", e.options.Container)
	}
	argv = append(argv, s.Dir)
	fmt.Fprintf(&b, "exec %s \"$SLURM_ARRAY_TASK_ID\"\n", text.ShellCommand(argv))
	return b.Bytes()
}

// command returns the call of sbatch for one of several parts, with more arguments. Options are arguments and not lines of the script,
// where quotes and line ends would have a meaning.
func (e *engine) command(s batch.Submission, p batch.Part, parts int, more []string) []string {
	var indices batch.Tasks
	for _, t := range p.Tasks {
		indices = append(indices, p.Index(t))
	}
	array := indices.String()
	res := s.Resources
	if res.Parallel > 0 {
		array += fmt.Sprintf("%%%d", max(1, res.Parallel/parts))
	}
	log := strings.ReplaceAll(filepath.Join(s.Dir, batch.LogDir), "%", "%%") + "/%A_%a"
	argv := []string{"sbatch", "--parsable", "--job-name=" + jobName(s.Name), "--comment=" + p.Key, "--array=" + array,
		"--output=" + log + ".out", "--error=" + log + ".err", "--open-mode=append", "--requeue",
		fmt.Sprintf("--signal=B:USR1@%d", int(batch.SaveBefore(res.Time).Seconds())), "--kill-on-invalid-dep=yes", "--ntasks=1", "--export=ALL"}
	number := func(n int, format string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(format, n)
	}
	gres := number(res.GPUs, "gpu:%d")
	if gres != "" && res.GPUType != "" {
		gres = fmt.Sprintf("gpu:%s:%d", res.GPUType, res.GPUs)
	}
	o := e.options
	for _, flag := range [][2]string{
		{"--gres", gres}, {"--cpus-per-task", number(res.CPUs, "%d")}, {"--mem", number(res.MemMiB, "%dM")}, {"--time", timeLimit(res.Time)},
		{"--partition", o.Partition}, {"--account", o.Account}, {"--qos", o.QOS}, {"--constraint", o.Constraint}, {"--exclude", o.Exclude},
		{"--nice", o.Nice},
	} {
		if flag[1] != "" {
			argv = append(argv, flag[0]+"="+flag[1])
		}
	}
	argv = append(argv, more...)
	return append(argv, filepath.Join(e.dir, batch.SubmitDir, p.File))
}

// jobName returns the name that the queue lists for the job, made from the name of the run folder.
func jobName(folder string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, folder)
	return cut("amtrl-"+clean, 60)
}

// cut shortens s to at most most bytes, three dots included, and keeps characters whole.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-3], "") + "..."
}

// timeLimit writes a duration as D-HH:MM:SS.
func timeLimit(d time.Duration) string {
	if d == 0 {
		return ""
	}
	s := int(d.Seconds())
	return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}

// Check implements [batch.Engine] by sbatch --test-only.
func (e *engine) Check(ctx context.Context, parts []batch.Part) error {
	for _, p := range parts {
		argv := append([]string{"--test-only"}, p.Argv[1:len(p.Argv)-1]...)
		if _, err := runCommand(ctx, p.Content, p.Argv[0], argv...); err != nil {
			return err
		}
	}
	return nil
}

// jobID matches what sbatch --parsable prints: an id, and the cluster if there are several.
var jobID = regexp.MustCompile(`^[0-9]{1,19}(;[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?$`)

func (e *engine) Submit(ctx context.Context, p batch.Part) (string, error) {
	out, err := runCommand(ctx, nil, p.Argv[0], p.Argv[1:]...)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(out)
	if i := strings.LastIndexByte(id, '\n'); i >= 0 { // sites print greetings before
		id = strings.TrimSpace(id[i+1:])
	}
	if !jobID.MatchString(id) {
		return "", &batch.Unsure{Err: fmt.Errorf("sbatch printed %q: expected the id of a job", text.OneLine(out, 120))}
	}
	return id, nil
}

func (e *engine) Cancel(ctx context.Context, j batch.Job, tasks []int) error {
	id, cluster, err := splitID(j.ID)
	if err != nil {
		return err
	}
	ids := []string{id}
	if tasks != nil {
		ids = nil
	}
	for some := range slices.Chunk(tasks, mostRanges) {
		var indices batch.Tasks
		for _, t := range some {
			indices = append(indices, j.Index(t))
		}
		ids = append(ids, id+"_["+indices.String()+"]")
	}
	for _, id := range ids {
		_, err := runCommand(ctx, nil, "scancel", append(slices.Clone(cluster), id)...)
		if err != nil && !strings.Contains(err.Error(), "Invalid job id specified") { // which has ended, and Slurm has forgotten it
			return err
		}
	}
	return nil
}

// splitID returns the number of a job and the arguments that select its cluster.
func splitID(id string) (number string, cluster []string, err error) {
	if !jobID.MatchString(id) {
		return "", nil, fmt.Errorf("the id of a job is %q: expected a number, and ;CLUSTER where there are several", text.OneLine(id, 80))
	}
	number, name, several := strings.Cut(id, ";")
	if several {
		cluster = []string{"--clusters=" + name}
	}
	return number, cluster, nil
}

func (e *engine) Log(j batch.Job, task int, _ bool) batch.Log {
	id, _, err := splitID(j.ID)
	if err != nil {
		return batch.Log{} // it never got an id that Slurm gives
	}
	return e.logOf(fmt.Sprintf("%s_%d", id, j.Index(task)))
}

// logOf returns the log of the task that Slurm calls by this id, ARRAY_INDEX.
func (e *engine) logOf(id string) batch.Log {
	base := filepath.Join(e.dir, batch.LogDir, id)
	return batch.Log{Files: []string{base + ".out", base + ".err"}}
}
