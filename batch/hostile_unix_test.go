//go:build unix

package batch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/must"
)

// submitted returns a run of four tasks, the first two handed over, with a file of every kind that reading a run folder
// opens.
func submitted(t *testing.T) *Run {
	t.Helper()
	r := create(t, filepath.Join(t.TempDir(), "run"), testPlan(t, "a", "b"))
	key := handOver(t, r, Tasks{0, 1})
	leave(t, r, 0, "one")
	must.Do(t, os.MkdirAll(r.taskPath(1), 0o755))
	for name, v := range map[string]any{
		"attempt.jsonl": AttemptLine{Event: attemptStart, Attempt: 1, Part: key, Host: "here"},
		"exit":          attemptExit{Attempt: 1, Part: key, Code: 1, Reason: reasonFailed},
	} {
		must.Do(t, jsonfile.Append(r.taskPath(1, name), v))
	}
	return r
}

// silentEngine is an engine that knows no jobs.
type silentEngine struct{ Engine }

func (silentEngine) Name() string                                        { return "fake" }
func (silentEngine) Query(context.Context, []Job) ([]Observation, error) { return nil, nil }

func openSilent(string, Settings) (Engine, error) { return silentEngine{}, nil }

// readAll reads everything that a command reads from a run folder.
func readAll(dir string) (*Status, error) {
	r, err := Open(dir)
	if err != nil {
		return nil, err
	}
	s, err := r.Status(context.Background(), openSilent)
	if err != nil {
		return nil, err
	}
	if _, err := r.Attempts(1); err != nil {
		return nil, err
	}
	return s, r.CheckResults(s)
}

// The contents of a run folder become paths, arguments and lines of scripts, and another user may have written them. A
// file in a form that this program does not write is refused in one line that names it.
func TestHostileRunFolder(t *testing.T) {
	must.Get(readAll(submitted(t).Dir))(t)
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	for i, c := range []struct{ file, old, new string }{
		{"plan.json", "ID", `x\ntouch /PWNED\n#`},
		{"plan.json", "ID", "../../../etc"},
		{"plan.json", "ID", "0123456789AB"},
		{"plan.json", "ID", ""},
		{"plan.json", `"pack": 1`, `"pack": 0`},
		{"plan.json", `"pack": 1`, `"pack": -9223372036854775808`},
		{"plan.json", `"pack": 1`, `"pack": 2000000`},
		{"plan.json", `"pack": 1`, `"pack": 1, "more": 1`},
		{"plan.json", `"pack": 1`, `"pack": 1, "before": [{"seeds": []}]`},
		{"plan.json", `"pack": 1`, `"pack": 1, "before": [{"seeds": [2]}]`},
		{"plan.json", `"pack": 1`, `"pack": 1, "before": [{"seeds": [1, 1]}]`},
		{"plan.json", `"pack": 1`, `"pack": 1, "before": [{"seeds": [0], "budgets": [5]}]`},
		{"plan.json", `"pack": 1`, `"pack": 1, "before": [{"seeds": [0, 1]}, {"seeds": [0]}]`},
		{"plan.json", `"pack": 1`, `"pack": 1, "before": [{"seeds": [0], "more": 1}]`},
		{"plan.json", `"name": "data"`, `"name": "data", "name": "--part"`},
		{"plan.json", `"name": "data"`, `"name": "data x"`},
		{"plan.json", `"value": "digits"`, `"value": "digits\u0000"`},
		{"plan.json", `"a",`, `"` + strings.Repeat("a", 256) + `",`},
		{"jobs.jsonl", `"try":1`, `"try":2`},
		{"jobs.jsonl", `"engine":"fake"`, `"engine":"../fake"`},
		{"jobs.jsonl", `"file":"1-0.sh"`, `"file":"../../../etc/passwd"`},
		{"jobs.jsonl", `"file":"1-0.sh"`, `"file":"1-0.sh\n#"`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"0-4"`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"1,0"`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"` + strings.Repeat("0-1,", 1000) + `0"`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"+0"`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"offset":0`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"0-1","offset":-1`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"1","offset":2`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"1","offset":1,"dense":true`},
		{"jobs.jsonl", `"tasks":"0-1"`, `"tasks":"0-1","more":1`},
		{"jobs.jsonl", `"id":"12"`, `"id":"--user=root"`},
		{"jobs.jsonl", `"id":"12"`, `"id":"12\n13"`},
		{"jobs.jsonl", `"id":"12"`, `"id":"` + strings.Repeat("1", 600) + `"`},
		{"jobs.jsonl", `"event":"submitted"`, `"event":"submit"`},
		{"jobs.jsonl", `"event":"submitted"`, `"event":"sudo"`},
		{"jobs.jsonl", "ID-1-0", "ID-1-0 "},
		{"jobs.jsonl", "ID-1-0", "ID-01-0"},
		{"jobs.jsonl", "ID-1-0", "ID-1-0-0"},
		{"jobs.jsonl", "ID-1-0", "aaaaaaaaaaaa-1-0"},
		{"submit/1.json", `"fake"`, `"fake x"`},
		{"submit/1.json", `"/amtrl"`, `"--user=root"`},
		{"submit/1.json", `"cpus": 1`, `"cpus": -1`},
		{"submit/1.json", `"cpus": 1`, `"gpus": 2000000`},
		{"submit/1.json", `"cpus": 1`, `"mem_mib": -1`},
		{"submit/1.json", `"cpus": 1`, `"parallel": -1`},
		{"submit/1.json", `"max_restarts": 0`, `"max_restarts": 5000`},
		{"submit/1.json", `"cpus": 1`, `"gpu_type": "a\nb"`},
		{"submit/1.json", `60000000000`, `60000000001`},
		{"submit/1.json", `60000000000`, `-60000000000`},
		{"submit/1.json", `"cpus": 1`, `"cpus": 1, "more": 1`},
	} {
		r := submitted(t)
		path := filepath.Join(r.Dir, c.file)
		was, is := strings.ReplaceAll(c.old, "ID", r.Plan.ID), strings.ReplaceAll(c.new, "ID", r.Plan.ID)
		edit(t, path, func(raw string) string {
			if !strings.Contains(raw, was) {
				t.Fatalf("case %d: %s has no %s:\n%s", i, c.file, was, raw)
			}
			return unsealed(strings.Replace(raw, was, is, 1))
		})
		if _, err := readAll(r.Dir); err == nil || !strings.Contains(err.Error(), c.file) || strings.ContainsAny(err.Error(), "\n\r\x00") ||
			len(err.Error()) > 1000 {
			t.Errorf("%s with %.80s: %v", c.file, is, err)
		}
	}
	// The units of a plan, and of the plans it grew from, are counted before memory is allocated for them.
	for says, bomb := range map[string]*strings.Replacer{
		"units in a sweep": strings.NewReplacer(`"a",`, many(5000, `"t%d"`)+",", `"seeds": [`, `"seeds": [`+many(10_000, "1%d")+","),
		"too often": strings.NewReplacer(`"a",`, many(300_000, `"t%d"`)+",", `"pack": 1`,
			`"pack": 1, "before": [`+strings.Repeat(`{"seeds": [0, 1]},`, 40)+`{"seeds": [0, 1]}]`),
	} {
		r := submitted(t)
		text := edit(t, filepath.Join(r.Dir, planFile), func(raw string) string { return unsealed(bomb.Replace(raw)) })
		used := must.Allocated(func() { must.Fail(t, says, must.Err(Open(r.Dir)), says) })
		if used > 20<<20+15*uint64(len(text)) {
			t.Errorf("a plan of %d bytes is refused after %d bytes", len(text), used)
		}
	}
}

// Reasons that a task or an engine gives are made one line of plain text before they reach the terminal.
func TestHostileReasons(t *testing.T) {
	r := submitted(t)
	exit := attemptExit{Attempt: 1, Part: partKey(r.Plan.ID, 1, 0), Code: 1, Reason: reasonFailed,
		Error: "\x1b]0;owned\x07\n" + strings.Repeat("x", 5000)}
	must.Do(t, jsonfile.Write(r.taskPath(1, "exit"), exit))
	s := must.Get(readAll(r.Dir))(t)
	if got := s.Tasks[1]; got.State != Failed || strings.ContainsAny(got.Reason, "\x1b\x07\n") || len(got.Reason) > 1000 ||
		!strings.Contains(got.Reason, "owned") {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"", "{", `{"attempt":1,"part":"` + exit.Part + `","code":1,"reason":"boredom"}`,
		`{"attempt":-1,"part":"","code":1,"reason":"failed"}`} {
		must.Do(t, os.WriteFile(r.taskPath(1, "exit"), []byte(bad), 0o644))
		if s, err := readAll(r.Dir); err != nil || s.Tasks[1].State != Lost || s.Tasks[0].State != Done {
			t.Errorf("the exit %q: %+v, %v", bad, s, err)
		}
	}
}

// A pipe, a device or a folder in the place of a file of a run is an immediate error.
func TestRunFilesAreRegular(t *testing.T) {
	for _, name := range []string{"plan.json", "tasks.jsonl", "jobs.jsonl", "submit/1.json", "task/0/result.json", "task/1/attempt.jsonl"} {
		for kind, place := range map[string]func(string) error{
			"a pipe":   func(p string) error { return syscall.Mkfifo(p, 0o644) },
			"a device": func(p string) error { return os.Symlink("/dev/zero", p) },
			"a folder": func(p string) error { return os.Mkdir(p, 0o755) },
		} {
			r := submitted(t)
			path := filepath.Join(r.Dir, name)
			must.Do(t, os.Remove(path))
			must.Do(t, place(path))
			ended := make(chan error, 1)
			go func() { ended <- must.Err(readAll(r.Dir)) }()
			select {
			case err := <-ended:
				must.Fail(t, fmt.Sprintf("%s in the place of %s", kind, name), err, name, kind)
			case <-time.After(20 * time.Second):
				t.Fatalf("%s in the place of %s: nothing happens", kind, name)
			}
		}
	}
}

// A task does not write through a symbolic link in the place of one of its files.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, name := range []string{"lease", "lock", "attempt.jsonl"} {
		r := submitted(t)
		victim := filepath.Join(t.TempDir(), "victim")
		must.Do(t, os.WriteFile(victim, []byte("{}\n"), 0o644))
		os.Remove(r.taskPath(1, name))
		must.Do(t, os.Symlink(victim, r.taskPath(1, name)))
		l, err := lease.Acquire(t.Context(), r.taskPath(1), 1, lease.Times, func(err error) { t.Errorf("the lease was lost: %v", err) })
		w := &Worker{Run: r, task: 1, attempt: 1}
		logged := w.log(AttemptLine{Event: attemptStart})
		if raw, readErr := os.ReadFile(victim); readErr != nil || string(raw) != "{}\n" {
			t.Errorf("%s: the file at the end of the link holds %q, %v", name, raw, readErr)
		}
		if name == "lock" && err == nil || name == "attempt.jsonl" && logged == nil {
			t.Errorf("%s: the lease: %v, the log: %v; expected a refusal", name, err, logged)
		}
		if err == nil {
			l.Release()
		}
	}
}

// CheckOwner refuses a run folder or settings that another user may have written.
func TestCheckOwner(t *testing.T) {
	r := submitted(t)
	must.Do(t, r.CheckOwner())
	for _, name := range []string{".", "submit", "submit/1.json"} {
		path := filepath.Join(r.Dir, name)
		info := must.Get(os.Stat(path))(t)
		for _, mode := range []os.FileMode{0o020, 0o002} {
			must.Do(t, os.Chmod(path, info.Mode()|mode))
			must.Fail(t, fmt.Sprintf("%s, %v", name, info.Mode()|mode), r.CheckOwner(), path, "others may write")
		}
		must.Do(t, os.Chmod(path, info.Mode()))
		if os.Getuid() != 0 {
			continue // changing the owner needs root
		}
		must.Do(t, os.Chown(path, 12345, -1))
		must.Fail(t, fmt.Sprintf("%s of another user", name), r.CheckOwner(), "belongs to user 12345")
		must.Do(t, os.Chown(path, 0, -1))
	}
	// The set-group-ID bit, which gives new files the group of the folder, does not let the group write.
	must.Do(t, os.Chmod(r.Dir, 0o755|os.ModeSetgid))
	must.Do(t, r.CheckOwner())
}

// A result that is empty, cut off or another task's counts as damaged: status says so, collect names the file, and the
// next attempt computes it again.
func TestDamagedResult(t *testing.T) {
	for what, damage := range map[string]func(string) string{
		"empty":           func(string) string { return "" },
		"cut off":         func(s string) string { return s[:len(s)-2] },
		"half":            func(s string) string { return s[:len(s)/2] },
		"zeros":           func(s string) string { return strings.Repeat("\x00", len(s)) },
		"zeros at an end": func(s string) string { return s[:len(s)-20] + strings.Repeat("\x00", 20) },
		"another task's":  func(s string) string { return strings.Replace(s, `"task": 0`, `"task": 1`, 1) },
	} {
		r := submitted(t)
		leaveAll(t, r)
		edit(t, r.resultPath(0), damage)
		s := must.Get(r.Status(context.Background(), openSilent))(t)
		if st := s.Tasks[0]; st.State != DamagedResult || !strings.Contains(st.Reason, r.resultPath(0)) ||
			fmt.Sprint(s.Failed()) != "[0]" || s.Count(Done) != 3 {
			t.Errorf("%s: %+v, failed %v", what, st, s.Failed())
		}
		must.Fail(t, what, must.Err(collect(r, t.TempDir())), "1 of 4 tasks has a damaged result, 0", r.resultPath(0))
		w := &Worker{Run: r, Note: t.Logf}
		if done, err := w.done(); done || err != nil {
			t.Errorf("%s: done %v, %v", what, done, err)
		}
	}
}

// Files that remain of a process killed right after it wrote its result are removed when the task is next collected or
// attempted.
func TestLeftoversOfDoneTask(t *testing.T) {
	for what, look := range map[string]func(*Run) error{
		"collect": func(r *Run) error { _, _, _, err := collect(r, t.TempDir()); return err },
		"another attempt": func(r *Run) error {
			w := &Worker{Run: r, Part: partKey(r.Plan.ID, 1, 0), Engine: openTest, Note: t.Logf}
			code, err := w.Work(context.Background())
			if code != 0 {
				return fmt.Errorf("exit code %d: %w", code, err)
			}
			return nil
		},
	} {
		r := submitted(t)
		leaveAll(t, r)
		for _, name := range []string{"checkpoint/0123456789ab", "units"} {
			must.Do(t, os.MkdirAll(r.taskPath(0, name), 0o755))
			must.Do(t, os.WriteFile(r.taskPath(0, name, "a_seed0"), nil, 0o644))
		}
		if err := look(r); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, name := range []string{"checkpoint", "units"} {
			must.Absent(t, r.taskPath(0, name))
		}
	}
}
