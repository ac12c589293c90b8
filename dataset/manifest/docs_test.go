package manifest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
)

// The manifest on the page about manifests is one, and has all keys.
func TestPageHasAllKeys(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../docs/manifest.md"))(t))
	_, text, _ := strings.Cut(page, "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	must.Get(manifest.Parse("page.yaml", []byte(text)))(t)
	for _, wrong := range []string{
		"nokey: 1", "columns: {nokey: 1}", "columns: {features: {nokey: 1}}", "labels: [{nokey: 1}]", "target: {nokey: 1}", "sources: {nokey: 1}",
	} {
		_, err := manifest.Parse("wrong.yaml", []byte(wrong))
		if err == nil {
			t.Fatalf("%s was accepted", wrong)
		}
		_, keys, _ := strings.Cut(err.Error(), "one of the keys ")
		keys, _, _ = strings.Cut(keys, ", found")
		for key := range strings.SplitSeq(keys, ", ") {
			if !strings.Contains(page, key+":") {
				t.Errorf("docs/manifest.md does not have the key %s that replaces that of %s", key, wrong)
			}
		}
	}
}
