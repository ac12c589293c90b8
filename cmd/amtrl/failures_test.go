package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A valid command that fails prints one line and exits with code 1.
func TestFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("file", "")
	write("empty.csv", "")
	write("columns.csv", "name,cost\nfog_1,2\n")
	write("text.csv", "source,cost\nfog_1,much\n")
	write("free.csv", "source,cost\nfog_1,0\n")
	write("huge.csv", "source,cost\nfog_1,1e308\nfog_2,1e308\n")
	write("twice.csv", "source,cost\nfog_1,1\nfog_1,2\n")
	write("unknown.csv", "source,cost\nfog_1,1\nfog_11,2\n")
	write("short.csv", "source,cost\nfog_1\n")
	long := strings.Repeat("x", 1<<20)
	write("long.csv", "source,cost\n"+long+","+long+"\n")
	write("longheader.csv", "name,"+long+"\n")
	write("longname.csv", "source,cost\n"+long+",1\n")
	write("nu.csv", "source,nu\nfog_1,NaN\n")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "run"), 0o755))
	must.Do(t, os.MkdirAll(filepath.Join(dir, "set"), 0o755))
	write("set/dataset.yaml", "files: rows.csv\n")
	write("run/model.safetensors", "not tensors")
	for _, test := range []struct{ args, want string }{
		{"run --backend cuda --digits 20", "cuda: not available"},
		{"run --data nowhere", "nowhere: expected digits, synthetic:sparse, synthetic:random, a manifest or a folder, found no such file"},
		{"run --data .", ".: expected a folder that data import wrote, or the layout of MNIST-C, found tables, such as "},
		{"run --data set", "set: expected a folder that data import wrote, or the layout of MNIST-C, found a manifest in it: " +
			"--data set/dataset.yaml"},
		{"predict file free.csv --out p.csv", "file: expected the folder of a finished run, found a file"},
		{"run --data file", "file: "},
		{"run --digits 20", "expected at least the 500 target samples"},
		{"run --digits 20 --target-samples 5 --schedule theory", "schedule theory asks for at least"},
		{"run --digits 20 --target-samples 5 --methods known --floor 0",
			"known needs the true relevance, which embedded digits does not tell: give it with --nu FILE"},
		{"sweep --digits 20 --target-samples 5 --methods known --floor 0 --targets fog_1", "give it with --nu FILE"},
		{"run --costs nowhere.csv", "nowhere.csv: no such file"},
		{"run --costs empty.csv", "empty.csv: expected a header"},
		{"run --costs columns.csv", `columns.csv: expected a header with the columns source and cost, found ["name" "cost"]`},
		{"run --costs text.csv", `text.csv: line 2: cost of fog_1: expected a number from 1e-18 to 1e+18, found "much"`},
		{"run --costs free.csv", `free.csv: line 2: cost of fog_1: expected a number from 1e-18 to 1e+18, found "0"`},
		{"run --costs huge.csv", `huge.csv: line 2: cost of fog_1: expected a number from 1e-18 to 1e+18, found "1e308"`},
		{"run --costs twice.csv", "twice.csv: line 3: source fog_1 is listed twice"},
		{"run --costs short.csv", "short.csv: record on line 2"},
		{"run --digits 20 --costs unknown.csv", `unknown.csv: line 3: embedded digits has no task "fog_11"`},
		{"run --costs .", ".: expected a regular file, found a folder"},
		{"run --costs long.csv", `found "xxxxx`},
		{"run --costs longheader.csv", "expected a header with the columns source and cost"},
		{"run --digits 20 --costs longname.csv", "longname.csv: line 2: embedded digits has no task"},
		{"run --methods known --nu nu.csv", `nu.csv: line 2: nu of fog_1: expected a number from -1e+100 to 1e+100, found "NaN"`},
		{"run --digits 200 --target-samples 5 --out file", "file"},
		{"sweep --digits 200 --target-samples 5 --out file/x", "file"},
		{"relevance nowhere", "nowhere has no model.safetensors: expected the folder of a finished run"},
		{"relevance run", "model.safetensors"},
		{"data info nowhere", "nowhere"},
		{"data init nowhere.csv", "amtrl: nowhere.csv: expected a file or a folder, found none"},
		{"data init file", "amtrl: file: expected a name whose ending tells the format, such as rows.csv: one of parquet, csv"},
		{"data mnistc --from . --out x", "expected a file *images*idx3*, found none"},
	} {
		o := amtrl(t, dir, strings.Fields(test.args)...)
		var errors []string
		for _, line := range strings.Split(strings.TrimSuffix(o.Stderr, "\n"), "\n") {
			if !strings.HasPrefix(line, "backend ") {
				errors = append(errors, line)
			}
		}
		if o.Code != 1 || o.Stdout != "" || len(errors) != 1 || len(errors[0]) > 500 || !strings.HasPrefix(errors[0], "amtrl: ") ||
			!strings.Contains(errors[0], test.want) {
			t.Errorf("amtrl %s: exit code %d, expected 1 and %q:\n%s%.2000s", test.args, o.Code, test.want, o.Stdout, o.Stderr)
		}
	}
}
