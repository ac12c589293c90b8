package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// A Go program that chooses a kind, and nothing that comes with it, leaves the
// same folder as the command line under the same identity.
func TestConfigIsTheGoPrograms(t *testing.T) {
	t.Parallel()
	for args, change := range map[string]func(*pipeline.Config){
		"":                                 func(*pipeline.Config) {},
		"--relevance l1":                   func(c *pipeline.Config) { c.Relevance.Kind = pipeline.L1 },
		"--relevance minnorm --k 4":        func(c *pipeline.Config) { c.Relevance.Kind, c.K = pipeline.MinNorm, 4 },
		"--preset paper --relevance ridge": func(c *pipeline.Config) { *c = preset(t, "paper"); c.Relevance.Kind = pipeline.Ridge },
		"--methods known --floor 3":        func(c *pipeline.Config) { c.Methods, c.Schedule.Floor = []string{pipeline.Known}, 3 },
		"--budget 500 --floor 2 --epochs 2": func(c *pipeline.Config) {
			c.Schedule = pipeline.Schedule{Kind: "budget", Budget: 500, Floor: 2, Epochs: 2}
		},
	} {
		dir := t.TempDir()
		const data = "run --data synthetic:sparse --dim 8 --rank 3 --sources 6 --rows 3000 --target-samples 40 --iterations 20 --backend cpu " +
			"--threads 1 --quiet --out here"
		succeed(t, dir, append(strings.Fields(data), strings.Fields(args)...)...)
		theirs := must.Get(os.ReadFile(filepath.Join(dir, "here", "config.json")))(t)
		var version struct{ Version string }
		must.Do(t, json.Unmarshal(theirs, &version))

		set := must.Get(dataset.SparseNu(8, 3, 6, 1, 3000, 0))(t)
		b := must.Get(cpu.Open(1))(t)
		defer b.Close()
		cfg := preset(t, "default")
		change(&cfg)
		cfg.TargetSamples, cfg.ERM.Iterations = 40, 20
		id := runs.NewIdentity(version.Version, set, backend.Choice{Device: b, Reason: "asked for"}, cfg)
		id.Targets, id.Seeds = []string{id.Config.DefaultTarget(set)}, []uint64{0}
		dev := must.Get(pipeline.NewResident(b, set))(t)
		defer dev.Close()
		ours := filepath.Join(dir, "ours")
		must.Get(runs.Run(context.Background(), dev, id, ours, func(pipeline.Step) {}))(t)
		for _, name := range []string{"config.json", "result.json"} {
			got, errOurs := os.ReadFile(filepath.Join(ours, name))
			want, errTheirs := os.ReadFile(filepath.Join(dir, "here", name))
			if errOurs != nil || errTheirs != nil || !bytes.Equal(got, want) {
				t.Errorf("amtrl run %s: %s of the Go program differs, %v, %v:\n%s\nwant\n%s", args, name, errOurs, errTheirs, got, want)
			}
		}
	}
}

func preset(t *testing.T, name string) pipeline.Config {
	t.Helper()
	return must.Get(pipeline.NewConfig(name))(t)
}
