package amtrl

import (
	"os/exec"
	"strings"
	"testing"
)

// Imports go one way: cmd, runs, pipeline, backend. allowed lists, for each package, the packages of this module that
// it may import; a package that is not listed may import none.
var allowed = map[string][]string{
	"backend": nil,
	"batch": {"backend", "dataset/manifest", "internal/atomicfile", "internal/filelock", "internal/jsonfile", "internal/lease",
		"internal/owner", "internal/text", "pipeline", "runs"},
	"batch/k8s": {"batch", "internal/text"},
	"batch/local": {"batch", "internal/atomicfile", "internal/filelock", "internal/jsonfile", "internal/lease",
		"internal/text"},
	"batch/slurm":         {"batch", "internal/text"},
	"batch/slurmtest":     nil,
	"backend/backendtest": {"backend", "internal/testrand"},
	"backend/check":       {"backend"},
	"cpu":                 {"backend", "backend/check", "cpu/internal/vec"},
	"cpu/internal/vec":    nil,
	"cuda":                {"backend", "backend/check", "cuda/internal/cubin", "cuda/internal/nv", "kernels"},
	"cuda/internal/cubin": {"cuda/internal/nv", "internal/owner"},
	"cuda/internal/nv":    {"internal/owner"},
	"dataset": {"dataset/corrupt", "dataset/table", "internal/atomicfile", "internal/datafile", "internal/filelock",
		"internal/endian", "internal/finite", "internal/npy", "internal/ranks", "internal/text"},
	"dataset/corrupt": nil,
	"dataset/columnar": {"dataset", "dataset/manifest", "dataset/table", "internal/atomicfile", "internal/datafile",
		"internal/endian", "internal/filelock", "internal/finite", "internal/jsonfile", "internal/npy", "internal/text"},
	"dataset/manifest":      {"dataset", "dataset/table", "internal/atomicfile", "internal/text"},
	"dataset/table":         {"internal/datafile", "internal/finite", "internal/npy", "internal/safetensors", "internal/text"},
	"internal/amtrltest":    {"batch", "internal/must"},
	"internal/atomicfile":   {"internal/filelock"},
	"internal/datafile":     {"internal/atomicfile"},
	"internal/filelock":     nil,
	"internal/finite":       {"internal/endian", "internal/text"},
	"internal/flags":        {"internal/text"},
	"internal/foldertest":   nil,
	"internal/jsonfile":     {"internal/atomicfile"},
	"internal/lease":        {"internal/atomicfile", "internal/filelock", "internal/jsonfile", "internal/text"},
	"internal/owner":        nil,
	"internal/must":         nil,
	"internal/npy":          {"internal/datafile", "internal/finite"},
	"pipeline/pipelinetest": {"backend", "cpu", "dataset", "internal/must"},
	"internal/ranks":        nil,
	"internal/safetensors":  nil,
	"internal/testrand":     nil,
	"internal/text":         nil,
	"kernels":               nil,
	"pipeline": {"backend", "dataset", "internal/text", "pipeline/internal/boost", "pipeline/internal/gaussian",
		"pipeline/internal/lbfgs", "pipeline/internal/linalg", "pipeline/internal/regress"},
	"pipeline/internal/boost":    nil,
	"pipeline/internal/gaussian": {"pipeline/internal/linalg", "pipeline/internal/regress"},
	"pipeline/internal/lbfgs":    {"backend"},
	"pipeline/internal/linalg":   nil,
	"pipeline/internal/regress":  {"pipeline/internal/linalg"},
	"runs": {"backend", "dataset", "dataset/manifest", "dataset/table", "internal/atomicfile", "internal/filelock",
		"internal/jsonfile", "internal/safetensors", "internal/text", "pipeline"},
	"runs/study": {"backend", "dataset", "dataset/columnar", "dataset/manifest", "dataset/table", "internal/atomicfile", "internal/jsonfile",
		"internal/lease", "internal/text", "pipeline", "runs"},
	"report":       {"internal/atomicfile", "internal/ranks", "internal/text", "pipeline", "report/chart", "runs", "runs/study"},
	"report/chart": nil,
	"cmd/amtrl": {"backend", "backend/backendtest", "batch", "batch/k8s", "batch/local", "batch/slurm", "cpu", "cuda",
		"dataset", "dataset/columnar", "dataset/corrupt", "dataset/manifest", "dataset/table",
		"internal/atomicfile", "internal/filelock", "internal/flags", "internal/jsonfile", "internal/text", "pipeline", "report", "runs",
		"runs/study"},
	"bench": {"backend", "bench/internal/compare", "cpu", "dataset", "pipeline"},
	"bench/gpu": {"backend", "bench/internal/compare", "cpu", "cuda", "dataset", "internal/atomicfile", "internal/jsonfile", "pipeline",
		"runs"},
	"bench/gpu/check":        nil,
	"bench/internal/compare": {"backend", "dataset", "pipeline"},
	"bench/large":            {"bench/internal/compare"},
	"bench/samebytes":        nil,
	"bench/scaling":          {"backend", "bench/internal/compare", "cpu", "dataset", "pipeline"},
}

func TestImportRules(t *testing.T) {
	const module = "github.com/amtrl/amtrl/"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, inside := strings.CutPrefix(fields[0], module)
		if !inside {
			continue // the root package, which has only tests
		}
		seen++
		ok := map[string]bool{}
		for _, a := range allowed[pkg] {
			ok[a] = true
		}
		for _, imp := range fields[1:] {
			if name, inside := strings.CutPrefix(imp, module); inside && !ok[name] {
				t.Errorf("%s imports %s: expected at most %v", pkg, name, allowed[pkg])
			}
		}
	}
	if seen < 5 {
		t.Errorf("go list named %d packages", seen)
	}
}

// The command runs a part of the conformance suite, but must not contain package testing.
func TestCommandWithoutTesting(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/amtrl").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); name == "testing" {
			t.Errorf("cmd/amtrl imports %s", name)
		}
	}
}
