//go:build linux

package main

import (
	"embed"
	"fmt"

	"github.com/amtrl/amtrl/bench/internal/compare"
)

//go:embed *.py
var scripts embed.FS

const (
	numpyPass = "NumPy, two passes, float32"
	torchPass = "PyTorch, autograd on (X B) w"
)

// rival runs one of the scripts, with its folder and the number of threads as the first arguments, and decodes its
// output into out.
func rival(f compare.Folder, python, script string, out any, args ...string) error {
	return f.Run(python, out, script, append([]string{f.Dir, fmt.Sprint(compare.Threads())}, args...)...)
}

func numpyPython() string { return compare.Python("AMTRL_PYTHON") }

// timeRivalPasses times one loss and gradient in NumPy and in PyTorch.
func timeRivalPasses(f compare.Folder, repeats int) []timing {
	bytes := float64(samples * inputs * 4)
	var out []timing
	for _, r := range []struct{ name, python, script string }{
		{numpyPass, numpyPython(), "numpy_erm.py"},
		{torchPass, compare.TorchPython(), "torch_erm.py"},
	} {
		t := timing{Name: r.name, Bytes: bytes}
		var reply struct{ Seconds float64 }
		if err := rival(f, r.python, r.script, &reply, "pass", fmt.Sprint(repeats)); err != nil {
			t.Failed = err.Error()
		}
		t.Seconds = reply.Seconds
		out = append(out, t)
	}
	return out
}
