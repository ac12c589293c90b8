package slurm

import (
	"errors"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Words that sbatch would take for the script, and options that make the array amtrl's own, are refused in one line, for a new
// submission and a retry. Each of the others reaches sbatch as one word.
func TestSbatchArgs(t *testing.T) {
	for _, c := range []struct{ args, want, refused string }{
		{"--reservation=lab|--hold|-pgpu|-C a100", "--reservation=lab|--hold|-pgpu|-C a100", ""},
		{"--reservation|lab|--exclusive", "--reservation=lab|--exclusive", ""},
		{"--reservation lab|--job-name=a b", "--reservation=lab|--job-name=a b", ""},
		{"--wait-all-nodes=1|--overcommit|-Hs|-pWest|-Ja", "--wait-all-nodes=1|--overcommit|-Hs|-pWest|-Ja", ""},
		{"lab", "", `is "lab": expected an option of sbatch that begins with a dash`},
		{"--reservation=a|lab", "", `"lab"`}, {"--reservation|a|lab", "", `"lab"`}, {"-p|gpu", "", `"gpu"`},
		{"-", "", `"-"`}, {"--", "", `"--"`}, {"--hold|", "", `""`}, {" --hold", "", `" --hold"`},
		{"--array=0-3", "", "another option than --array"}, {"-a0-3", "", "--array"}, {"-Ha 0", "", "--array"}, {"--ar=1", "", "--array"},
		{"--output=x", "", "--output"}, {"-o/dev/null", "", "--output"}, {"-o", "", "--output"}, {"--out|x", "", "--output"},
		{"--error x", "", "--error"}, {"--err=x", "", "--error"}, {"-ex", "", "--error"},
		{"--parsable", "", "--parsable"}, {"--pars", "", "--parsable"}, {"--test-only", "", "--test-only"}, {"--tes", "", "--test-only"},
		{"--wrap=true", "", "--wrap"}, {"--wr|true", "", "--wrap"}, {"--wait", "", "--wait"}, {"-W", "", "--wait"}, {"-QvW", "", "--wait"},
		{"--comment=mine", "", "jobs are told apart by their comments"}, {"--comm|mine", "", "jobs are told apart"},
		{"--=x", "", "expected"},
	} {
		e := &engine{dir: "/run", options: Options{Args: strings.Split(c.args, "|")}}
		got, err := sbatchArgs(e.options.Args)
		prepared := e.Prepare(t.Context(), batch.Submission{Dir: "/tmp/run", Number: 2})
		if c.refused == "" {
			must.Equal(t, strings.Join(got, "|"), c.want, "arguments")
			must.Do(t, prepared)
			continue
		}
		must.Fail(t, c.args, prepared, c.refused)
		oe, ok := errors.AsType[*batch.OptionError](err)
		if !ok || oe.Option != "engine-arg" || !strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected a line with %s", c.args, err, c.refused)
		}
		must.Fail(t, c.args, must.Err(e.Render(t.Context(), batch.Submission{Dir: "/run", ID: "0123456789ab", Number: 1, Tasks: []int{0}})))
	}
}

// What only this machine sees is refused, unless --tmp says that others see it too.
func TestPathsOfThisMachine(t *testing.T) {
	for local, s := range map[string]batch.Submission{
		"":              {Dir: "/scratch/run", Program: "/home/ada/amtrl", Data: "/tmpfiles/data", Files: []string{"/home/run/a.csv"}},
		"/tmp/run":      {Dir: "/tmp/run", Program: "/home/ada/amtrl"},
		"/tmp/go/amtrl": {Dir: "/scratch/run", Program: "/tmp/go/amtrl"},
		"/var/tmp/d":    {Dir: "/scratch/run", Program: "/home/ada/amtrl", Data: "/var/tmp/d"},
		"/dev/shm/a":    {Dir: "/scratch/run", Data: "/scratch/d.yaml", Files: []string{"/scratch/b", "/dev/shm/a"}},
	} {
		s.Number = 1
		if err := (&engine{}).Prepare(t.Context(), s); local == "" {
			must.Do(t, err)
		} else {
			must.Fail(t, local, err, local+" is on this machine alone")
		}
		must.Do(t, (&engine{options: Options{Tmp: true}}).Prepare(t.Context(), s))
	}
}
