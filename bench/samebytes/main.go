// Command samebytes runs two builds of amtrl side by side and compares all that
// they leave behind, byte for byte: for changes that must not change a result.
//
//	go run ./bench/samebytes [-base REVISION] [-run REGEXP]
//
// It builds REVISION, by default the last commit, and the working tree. What may
// differ is timing.jsonl and the hashes that result.json lists.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// scenario is a few commands of amtrl that run in an empty folder, and the folders that are compared afterwards.
type scenario struct {
	name     string
	commands []string
	folders  []string
}

const (
	images = " --digits 300 --target-samples 60 --floor 5 --epochs 3"
	budget = " --data synthetic:sparse --dim 20 --rank 3 --sources 12 --rows 6000 --target-samples 40 --floor 5"
	conv   = " --representation conv --channels 4,8 --k 8 --passes 2 --batch 32 --threads 1"
)

// one is a scenario of a single command, which writes to the folder out.
func one(name, command string) scenario {
	return scenario{name, []string{command + " --out out --backend cpu --json --quiet"}, []string{"out"}}
}

var scenarios = []scenario{
	one("run", "run"+images),
	one("run-paper", "run --preset paper --iterations 40"+images),
	one("run-moments", "run --init moments --allocation l1 --mix 0.2"+images),
	one("run-conv", "run"+conv+images),
	one("run-conv-paper", "run --preset paper"+conv+images),
	one("run-synthetic", "run --methods active,uniform,known --budget 2000"+budget),
	one("sweep", "sweep --targets fog_*,zigzag_2 --seeds 0-1"+images),
	one("sweep-paper", "sweep --preset paper --iterations 40 --targets fog_* --seeds 3"+images),
	one("sweep-l1", "sweep --relevance l1 --targets fog_*"+images),
	one("sweep-conv", "sweep --targets fog_1,fog_2"+conv+images),
	one("sweep-budgets", "sweep --targets target --methods active,uniform,known --budgets 500,2000 --seeds 0-2 --risk 0.05"+budget),
	{"relevance", []string{
		"run --out run --backend cpu --quiet" + images,
		"relevance run --relevance l1 --json", "relevance run --relevance minnorm --allocation l1 --json",
	}, []string{"run"}},
	{"batch", []string{
		"submit batch --to local --parallel 2 --quiet --targets fog_* --pack 3 --backend cpu --threads 1" + images,
		"status batch --wait --quiet", "collect batch --json --quiet",
	}, []string{"batch/sweep"}},
}

func main() {
	base := flag.String("base", "HEAD", "the `REVISION` to compare with")
	only := flag.String("run", "", "only scenarios whose name matches this `REGEXP`")
	flag.Parse()
	differences, err := compare(*base, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "samebytes:", err)
		os.Exit(2)
	}
	if differences > 0 {
		fmt.Printf("%d differences\n", differences)
		os.Exit(1)
	}
	fmt.Println("the same bytes")
}

func compare(base, only string) (differences int, err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "samebytes")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	if err := build(base, tmp); err != nil {
		return 0, err
	}
	for _, s := range scenarios {
		if !match.MatchString(s.name) {
			continue
		}
		var found [2]map[string][]byte
		for i, side := range []string{"before", "after"} {
			if found[i], err = s.carryOut(filepath.Join(tmp, side), filepath.Join(tmp, side+"-"+s.name)); err != nil {
				return 0, fmt.Errorf("%s, %s: %w", s.name, side, err)
			}
		}
		lines := difference(found[0], found[1])
		fmt.Printf("%-16s %3d files, %d differences\n", s.name, len(found[1]), len(lines))
		for _, line := range lines {
			fmt.Println("   ", line)
		}
		differences += len(lines)
	}
	return differences, nil
}

// build builds the programs before and after. They have no version of the repository in them, so that identities and
// checkpoints can be compared too.
func build(base, tmp string) error {
	tree := filepath.Join(tmp, "tree")
	if err := command("", "git", "worktree", "add", "--quiet", "--detach", tree, base); err != nil {
		return err
	}
	defer command("", "git", "worktree", "remove", "--force", tree)
	if err := command(tree, "go", "build", "-buildvcs=false", "-o", filepath.Join(tmp, "before"), "./cmd/amtrl"); err != nil {
		return err
	}
	return command("", "go", "build", "-buildvcs=false", "-o", filepath.Join(tmp, "after"), "./cmd/amtrl")
}

func command(dir string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd.Run()
}

// carryOut makes the folder dir, runs the commands in it with a program, and returns the files that they leave and what
// each command printed.
func (s scenario) carryOut(program, dir string) (map[string][]byte, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, line := range s.commands {
		cmd := exec.Command(program, strings.Fields(line)...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("amtrl %s: %w", line, err)
		}
		if strings.Contains(line, "--json") {
			files[fmt.Sprintf("output of command %d", i+1)] = out
		}
	}
	for _, folder := range s.folders {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "timing.jsonl" {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			files[name], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// hashes matches the last fields of a result: the list of files with their hashes, indented or not, and the checksum at the end of a file.
var hashes = regexp.MustCompile(`,\s*"files":\s*\{[^{}]*\}|,\s*"sha256":\s*"[0-9a-f]{64}"\s*\}\s*$`)

// difference returns a line for each file that is not the same on both sides.
func difference(before, after map[string][]byte) []string {
	var lines []string
	for name := range before {
		if _, ok := after[name]; !ok {
			lines = append(lines, name+" is gone")
		}
	}
	for name, now := range after {
		was, ok := before[name]
		switch {
		case !ok:
			lines = append(lines, name+" is new")
		case !bytes.Equal(hashes.ReplaceAll(was, nil), hashes.ReplaceAll(now, nil)):
			lines = append(lines, name+" differs")
		}
	}
	slices.Sort(lines)
	return lines
}
