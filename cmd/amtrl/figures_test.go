package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
)

// The figures of README are those of the run that make figures carries out.
func TestReadmeFigures(t *testing.T) {
	t.Parallel()
	switch {
	case testing.Short():
		t.Skip("a run of some seconds")
	case runtime.GOARCH != "amd64":
		t.Skip("floating-point arithmetic is fused here: the bytes of the run are others")
	}
	makefile := string(must.Get(os.ReadFile("../../Makefile"))(t))
	flags := regexp.MustCompile(`(?m)^FIGURE_RUN := (.*)$`).FindStringSubmatch(makefile)
	if flags == nil {
		t.Fatal("the Makefile has no FIGURE_RUN")
	}
	dir := t.TempDir()
	cmd := command(dir, append(append([]string{"run"}, strings.Fields(flags[1])...), "--backend", "cpu", "--out", "run")...)
	cmd.Env = append(cmd.Env, "AMTRL_CPU=generic")
	amtrltest.Run(t, cmd).Succeeds(t)
	succeed(t, dir, "report", "run", "--figures", "figures")
	committed := must.Get(os.ReadDir("../../docs/figures"))(t)
	if len(committed) == 0 {
		t.Error("docs/figures is empty")
	}
	for _, f := range committed {
		if f.IsDir() { // those of docs/results.md
			continue
		}
		now := must.Get(os.ReadFile(filepath.Join(dir, "figures", f.Name())))(t)
		if was := must.Get(os.ReadFile(filepath.Join("../../docs/figures", f.Name())))(t); !bytes.Equal(now, was) {
			t.Errorf("docs/figures/%s is not the run's: make figures draws it anew", f.Name())
		}
	}
}
