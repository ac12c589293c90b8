package main

import (
	"os"
	"strings"
	"testing"
)

// Wrong use gives one line that says what is wrong, a hint, exit code 2, and nothing on standard output or disk.
func TestWrongUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct{ args, want string }{
		{"nope", `unknown command "nope": expected run, sweep, study, predict, relevance, report, submit, status, logs, cancel, retry, ` +
			`collect, data, ` +
			`devices, doctor,` +
			` version, completion or help`},
		{"data nope", `unknown command "nope": expected info`},
		{"help nope", "nope"},
		{"run extra", `unexpected argument "extra"`},
		{"run -- --k", `unexpected argument "--k"`},
		{"run --tragets all", "unknown flag --tragets, did you mean --target?"},
		{"run --k", "--k needs a value"},
		{"run --k x", `--k is "x": expected an integer`},
		{"run --k 99999999999999999999", "expected an integer"},
		{"run --k 0", "k is 0, expected 1 to 4096"},
		{"run --k 20000", "k is 20000, expected 1 to 4096"},
		{"run --seed -1", `--seed is "-1": expected an integer from 0 on`},
		{"run --quiet=maybe", `--quiet is "maybe": expected true or false`},
		{"run --preset best", `unknown preset "best"`},
		{"run --methods nothing", `unknown method "nothing"`},
		{"run --methods active,active", "method active is listed twice"},
		{"run --methods uniform,active", "expected it first"},
		{"run --methods ,", "no methods"},
		{"run --target-samples 0", "target samples: 0"},
		{"run --schedule never", `unknown schedule "never"`},
		{"run --schedule budget", "the budget is 0"},
		{"run --budget -1", "the budget is -1"},
		{"run --budget NaN", "the budget is NaN"},
		{"run --budget +Inf", "the budget is +Inf"},
		{"run --budget 5 --schedule paper", "--budget does nothing without --schedule budget"},
		{"run --epochs 0", "the schedule has 0 epochs, expected 1 to 64"},
		{"run --epochs 65", "65 epochs"},
		{"run --floor -1", "the floor is -1"},
		{"run --floor 3 --schedule theory", "--floor does nothing"},
		{"run --delta 0.5", "--delta does nothing without --schedule theory"},
		{"run --schedule theory --delta 1", "delta is 1"},
		{"run --schedule theory --sigma-min 0", "sigma_min 0"},
		{"run --quiet --digits 20 --dry-run --json --schedule theory --sigma-min 1e-100",
			"schedule theory with delta 0.1, r 1, sigma-min 1e-100 and beta 0 asks for more samples"},
		{"run --quiet --digits 20 --dry-run --schedule theory --beta 1e308", "beta 1e+308 asks for more samples"},
		{"run --allocation none", `unknown allocation rule "none"`},
		{"run --mix 1.5", "mix is 1.5"},
		{"run --mix NaN", `--mix is "NaN": expected auto or a number`},
		{"run --lambda -1", `--lambda is "-1": expected auto or a number from 0 on`},
		{"run --lambda Inf", "lambda is +Inf"},
		{"run --lambda x", `--lambda is "x": expected auto or a number`},
		{"run --iterations 0", "0 iterations"},
		{"run --tolerance 1", "tolerance is 1"},
		{"run --history 0", "history is 0"},
		{"run --history 1000", "history is 1000"},
		{"run --init zero", `unknown init "zero"`},
		{"run --ridge -2", `--ridge is "-2": expected auto or a number from 0 on`},
		{"run --ridge Inf", "ridge is +Inf"},
		{"run --ridge NaN", `--ridge is "NaN"`},
		{"run --prior none", `unknown prior "none"`},
		{"run --relevance minnorm --rcond 1", "rcond is 1"},
		{"run --head-rcond 2", "rcond is 2"},
		{"run --relevance best", `unknown relevance "best"`},
		{"run --rcond 0.1 --relevance l1", "--rcond does nothing without --relevance minnorm"},
		{"run --relevance minnorm --tau 1", "--tau does nothing without --relevance ridge"},
		{"run --relevance ridge --tau 0", "tau is 0"},
		{"run --relevance l1 --l1 2", "lambda is 2"},
		{"run --representation cnn", `unknown representation "cnn": expected linear or conv`},
		{"run --channels 3", "--channels does nothing without --representation conv"},
		{"run --passes 3", "--passes does nothing without --representation conv"},
		{"run --representation conv --lambda 1", "--lambda does nothing without --representation linear"},
		{"run --representation conv --channels x", `--channels is "x": expected whole numbers such as 16,32`},
		{"run --representation conv --channels ,", "0 layers"},
		{"run --representation conv --channels 0", "0 channels"},
		{"run --representation conv --passes 0", "0 passes"},
		{"run --representation conv --batch 0", "a batch of 0"},
		{"run --representation conv --rate 0", "rate is 0"},
		{"run --representation conv --decay -1", "decay is -1"},
		{"run --representation conv --validation 1", "validation is 1"},
		{"run --representation conv --patience 0", "patience is 0"},
		{"run --representation conv --schedule theory", "schedule theory is the theorem's"},
		{"run --nu a.csv", "--nu does nothing without --methods known"},
		{"run --data synthetic:odd", `--data is "synthetic:odd"`},
		{"run --data=", `--data is ""`},
		{"run --digits 0", "--digits is 0"},
		{"run --digits 1000000000", "--digits is 1000000000"},
		{"run --digits 9", "--digits is 9: expected 10 to 100000"},
		{"data digits --out x -n 9", "--digits is 9: expected 10 to 100000"},
		{"data info --digits 100001", "--digits is 100001: expected 10 to 100000"},
		{"run --rows 5", "--rows does nothing with --data digits"},
		{"run --data x --digits 50", "--digits does nothing with --data x"},
		{"run --data x --data-seed 1", "--data-seed does nothing with --data x"},
		{"run --data synthetic:sparse --rank 0", "--rank is 0"},
		{"run --data synthetic:sparse --rows -1", "found -1"},
		{"run --data synthetic:random --sigma -1", "-1"},
		{"run --data synthetic:random --sources 2", "2"},
		{"run --evaluate train", `--evaluate is "train": expected test or validation`},
		{"run --digits 20 --target fgo_2", `no task "fgo_2": expected one of fog_2`},
		{"run --digits 20 --sources pools --target fgo", `no pool "fgo": expected one of fog, `},
		{"run --sources 3", `--sources is "3": expected tasks or pools with --data digits`},
		{"run --data synthetic:sparse --sources pools", `--sources is "pools": expected a number with --data synthetic:sparse`},
		{"sweep --digits 20 --sources pools --targets fog_1", `no pool "fog_1": expected one of fog, `},
		{"sweep --digits 20 --sources pools --targets f?x", `no pool that matches "f?x"`},
		{"run --backend tpu", `--backend is "tpu": expected auto, cpu or cuda`},
		{"run --threads -1", "--threads is -1"},
		{"run --threads 1000000", "--threads is 1000000"},
		{"run --top -1", "--top is -1"},
		{"run --format html", `unknown format "html"`},
		{"sweep --seeds 5-1", `found "5-1"`},
		{"sweep --seeds 0-99999999999", "at most"},
		{"sweep --digits 20 --seeds 0-99999", "160 targets, 100000 seeds and 1 budget: expected at most 1000000 units"},
		{"sweep --digits 20 --targets fog_1 --seeds 0-99999 --budgets 1,2,3,4,5,6,7,8,9,10,11", "expected at most 1000000 units"},
		{"sweep --seeds 1,1", "seed 1 is listed twice"},
		{"sweep --seeds ,", "at least one seed"},
		{"sweep --budgets 0", `found "0"`},
		{"sweep --budgets 5,5", "budget 5 is listed twice"},
		{"sweep --budgets 5 --schedule paper", "--budgets does nothing with --schedule paper"},
		{"sweep --schedule budget", "needs --budgets"},
		{"sweep --budget 5", "unknown flag --budget"},
		{"sweep --risk 0.1", "--risk needs --budgets"},
		{"sweep --risk -1 --budgets 5", "--risk is -1"},
		{"sweep --jobs -1", "--jobs is -1"},
		{"sweep --devices 0,0", "0 is listed twice"},
		{"sweep --devices one", `--devices: expected numbers from 0 to 1023 such as 0,1, found "one", or all`},
		{"sweep --devices 0 --device 1", "--device and --devices: expected one of them"},
		{"sweep --devices all --backend cpu", "--devices does nothing with --backend cpu"},
		{"sweep --digits 20 --targets nope*", `no task that matches "nope*"`},
		{"sweep --digits 20 --targets [", "syntax error in pattern"},
		{"sweep --digits 20 --targets ,", "expected all, names or patterns"},
		{"submit run --parallel 0", "--parallel is 0: expected 1 to"},
		{"submit run --pack 0", "--pack is 0: expected 1 to"},
		{"predict run", "expected the folder of a run and files of rows, found 1"},
		{"predict run a.csv", "--out is not set"},
		{"predict run a.csv --out b.csv --join id", "--join does nothing without --vectors"},
		{"predict run a.csv --out b.csv --vectors v.npy --join name", "--join is"},
		{"predict run a.csv --out b.csv --embed --label y", "--label does nothing with --embed"},
		{"relevance", "expected one argument, the folder of a run, found 0"},
		{"relevance a b", "found 2"},
		{"relevance a --csv --json", "exclude each other"},
		{"data info a b", "found 2 arguments"},
		{"data info a --data b", "exclude each other"},
		{"data digits", "--out is not set"},
		{"data digits --out x -n 0", "--digits is 0"},
		{"data mnistc --out x", "--from is not set"},
		{"data mnistc --from x", "--out is not set"},
		{"data mnistc --from x --out y --limit -1", "--limit is -1"},
		{"devices extra", "unexpected argument"},
		{"version extra", "unexpected argument"},
		{"completion", "expected bash, zsh, fish or powershell"},
		{"completion tcsh", `found "tcsh"`},
	} {
		o := amtrl(t, dir, strings.Fields(test.args)...)
		first, hint, _ := strings.Cut(o.Stderr, "\n")
		switch {
		case o.Code != 2:
			t.Errorf("amtrl %s: exit code %d, expected 2: %s", test.args, o.Code, o.Stderr)
		case o.Stdout != "":
			t.Errorf("amtrl %s: standard output %q", test.args, o.Stdout)
		case !strings.HasPrefix(first, "amtrl: ") || !strings.Contains(first, test.want):
			t.Errorf("amtrl %s: %q, expected %q", test.args, first, test.want)
		case !strings.HasPrefix(hint, "see: amtrl") || lines(hint) != 1:
			t.Errorf("amtrl %s: hint %q", test.args, hint)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("wrong use left %v", entries)
	}
}
