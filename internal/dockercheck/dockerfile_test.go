// Package dockercheck checks Dockerfile.cuda with Docker's own parser and against the files of this repository. It is a
// module of its own so that amtrl does not depend on what the parser depends on.
package dockercheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

const (
	root = "../.."
	file = root + "/Dockerfile.cuda"
)

func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parsed, err := parser.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(parsed.Warnings) > 0 {
		t.Errorf("warnings: %v", parsed.Warnings)
	}
	list, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// chain returns a stage followed by the stages that it builds on.
func chain(list []instructions.Stage, s instructions.Stage) []instructions.Stage {
	out := []instructions.Stage{s}
	for {
		i, ok := instructions.HasStage(list, s.BaseName)
		if !ok {
			return out
		}
		s = list[i]
		out = append(out, s)
	}
}

// commands returns the commands of one type in the stages, the last of each stage first.
func commands[C instructions.Command](in []instructions.Stage) []C {
	var out []C
	for _, s := range in {
		for _, c := range slices.Backward(s.Commands) {
			if c, ok := c.(C); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// Every base image is named with a version or is another stage of the file.
func TestBaseImages(t *testing.T) {
	list := stages(t)
	pinned := regexp.MustCompile(`^(golang:1\.\d+-bookworm|nvidia/cuda:1[23]\.\d+\.\d+-runtime-ubuntu24\.04)$`)
	for _, s := range list {
		if _, ours := instructions.HasStage(list, s.BaseName); !ours && !pinned.MatchString(s.BaseName) {
			t.Errorf("FROM %s: expected golang or nvidia/cuda's runtime image, of a stated version", s.BaseName)
		}
	}
	// The image has the Go version of go.mod.
	mod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindSubmatch(mod)
	if want == nil || !strings.HasPrefix(list[0].BaseName, "golang:"+string(want[1])+"-") {
		t.Errorf("FROM %s: expected Go %s of go.mod", list[0].BaseName, want[1])
	}
}

// The image of a plain build runs amtrl as a user other than root, contains no stub of the driver, and has a cache
// folder that belongs to this user.
func TestRunStage(t *testing.T) {
	list := stages(t)
	last := chain(list, list[len(list)-1])
	notRoot := regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`)
	if users := commands[*instructions.UserCommand](last); len(users) == 0 || !notRoot.MatchString(users[0].User) {
		t.Errorf("USER of the last stage: expected a number other than root's")
	}
	if e := commands[*instructions.EntrypointCommand](last); len(e) == 0 || !slices.Equal(e[0].CmdLine, []string{"amtrl"}) {
		t.Errorf("ENTRYPOINT of the last stage: expected amtrl")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"stubs", "LD_LIBRARY_PATH", "-devel-", "alpine", "latest"} {
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") && strings.Contains(line, word) {
				t.Errorf("%q: expected no %s", strings.TrimSpace(line), word)
			}
		}
	}
	var owned bool
	for _, r := range commands[*instructions.RunCommand](last) {
		owned = owned || strings.Contains(strings.Join(r.CmdLine, " "), "/home/amtrl/.cache/amtrl")
	}
	volumes := commands[*instructions.VolumeCommand](last)
	if !owned || len(volumes) == 0 || !slices.Contains(volumes[0].Volumes, "/home/amtrl/.cache/amtrl") {
		t.Error("the cache folder is not made for the user and offered as a volume")
	}
}

// The source of every COPY exists, in the repository or in the stage from which it is copied.
func TestCopiedSources(t *testing.T) {
	list := stages(t)
	built := map[string]bool{"bin/amtrl": true, "build/gpu": true}
	for _, s := range list {
		for _, c := range commands[*instructions.CopyCommand]([]instructions.Stage{s}) {
			for _, src := range c.SourcePaths {
				if c.From != "" {
					if _, ok := instructions.HasStage(list, c.From); !ok {
						t.Errorf("COPY --from=%s: no such stage", c.From)
					}
					src = strings.TrimPrefix(src, "/src/")
					if built[src] {
						continue
					}
				}
				if _, err := os.Stat(filepath.Join(root, src)); err != nil {
					t.Errorf("COPY %s: %v", src, err)
				}
			}
		}
	}
}

// The make targets that the file names exist.
func TestMakeTargets(t *testing.T) {
	list := stages(t)
	var targets []string
	for _, r := range commands[*instructions.RunCommand](list) {
		for _, part := range strings.FieldsFunc(strings.Join(r.CmdLine, " "), func(r rune) bool { return r == '&' || r == ';' }) {
			if words := strings.Fields(part); len(words) > 1 && words[0] == "make" {
				targets = append(targets, words[1:]...)
			}
		}
	}
	for _, c := range commands[*instructions.CmdCommand](list) {
		targets = append(targets, c.CmdLine...)
	}
	if len(targets) < 3 {
		t.Fatalf("the file names the targets %v", targets)
	}
	for _, name := range targets {
		// make -n runs nothing, and fails if there is no rule.
		if out, err := exec.Command("make", "-C", root, "-n", name).CombinedOutput(); err != nil {
			t.Errorf("make %s: %v\n%s", name, err, out)
		}
	}
}

// Only what git ignores is kept out of the build context, so that the version built into the program matches the
// commit.
func TestContextIsTheCommit(t *testing.T) {
	read := func(name string) []string {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(raw))
	}
	ignored := read(".gitignore")
	for _, line := range read(".dockerignore") {
		if !slices.Contains(ignored, strings.TrimPrefix(line, "**/")) {
			t.Errorf(".dockerignore: %s is not in .gitignore", line)
		}
	}
	for _, line := range []string{"/bin/", "/build/"} {
		if !slices.Contains(read(".dockerignore"), line) {
			t.Errorf(".dockerignore: expected %s", line)
		}
	}
}
