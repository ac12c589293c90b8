package k8s

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// kubecheckBuilt builds kubecheck once and returns its path. The build takes about a minute if nothing is cached.
var kubecheckBuilt = sync.OnceValues(func() (string, error) {
	build, err := filepath.Abs("../../build")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(build, "kubecheck")
	// Another process may be running the old binary, so the new one replaces it by a rename.
	fresh := fmt.Sprintf("%s.%d", binary, os.Getpid())
	if err := os.MkdirAll(build, 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-C", "../kubecheck", "-o", fresh, ".")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in kubecheck: %w: %s", err, out)
	}
	return binary, os.Rename(fresh, binary)
})

// kubecheckVerdict is the output of kubecheck for one manifest.
type kubecheckVerdict struct {
	Error    string          `json:"error"`
	Warnings []string        `json:"warnings"`
	Argv     []string        `json:"argv"`
	Job      json.RawMessage `json:"job"`
}

// runKubecheck checks manifests by the API server's own validation and returns a verdict for each.
func runKubecheck(t *testing.T, manifests [][]byte) []kubecheckVerdict {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a module of its own")
	}
	binary := must.Get(kubecheckBuilt())(t)
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, m := range manifests {
		must.Do(t, enc.Encode(string(m)))
	}
	cmd := exec.Command(binary, "-")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out := must.Get(cmd.Output())(t)
	dec := json.NewDecoder(bufio.NewReader(bytes.NewReader(out)))
	verdicts := make([]kubecheckVerdict, len(manifests))
	for i := range verdicts {
		if err := dec.Decode(&verdicts[i]); err != nil {
			t.Fatalf("verdict %d: %v", i, err)
		}
	}
	return verdicts
}

// hostileWords are parts of names that shells, YAML, kubectl or the kubelet treat specially.
var hostileWords = []string{
	" ", "\n", "\t", "'", `"`, "`", "$", "$$", "$(JOB_COMPLETION_INDEX)", "$(HOME)", "${HOME}", "$(touch /tmp/x)", ";", "&", "|", "<",
	">", "*", "?", "[a]", "{b}",
	"#", " #", ": ", "- ", "---", "...", "!!int 3", "%", "@", "&x", "*x", "~", "null", "true", "yes", "0x1F", "1e3", "0o7", ".inf", "=", "\\",
	`\n`, "\r\n", "\u0085", "\u2028",
	"é", "漢字", "🙂", "\x7f", "\x01", "\ufeff", "\u200f", "a", "B", "7", "-", ".", "_", ",", ":", "run", "..a",
}

// hostileText joins a few hostile words.
func hostileText(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(6) {
		b.WriteString(hostileWords[rng.IntN(len(hostileWords))])
	}
	return b.String()
}

// hostileName returns a file name made of hostile words.
func hostileName(rng *rand.Rand) string {
	return "r" + strings.ReplaceAll(hostileText(rng), "/", "")
}
