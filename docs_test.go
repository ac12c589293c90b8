package amtrl

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Links between the pages of the documentation lead to a file and, behind #, to a heading of it.
func TestLinksOfPages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^()\s#:]*)(?:#([^()\s]+))?\)`)
	headings := map[string]map[string]bool{}
	for _, page := range markdown(t) {
		headings[page] = anchors(string(must.Get(os.ReadFile(page))(t)))
	}
	for page := range headings {
		for _, m := range link.FindAllStringSubmatch(string(must.Get(os.ReadFile(page))(t)), -1) {
			to := page
			if m[1] != "" {
				to = path.Join(path.Dir(page), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", page, to)
			} else if m[2] != "" && !headings[to][m[2]] {
				t.Errorf("%s links to %s, which has no heading #%s", page, to, m[2])
			}
		}
	}
}

func markdown(t *testing.T) []string {
	var pages []string
	for _, name := range tracked(t) {
		if strings.HasSuffix(name, ".md") {
			pages = append(pages, name)
		}
	}
	return pages
}

// anchors returns the names that GitHub gives to the headings of a page.
func anchors(page string) map[string]bool {
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	found, code := map[string]bool{}, false
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if name := strings.TrimLeft(line, "#"); !code && len(name) < len(line) && strings.HasPrefix(name, " ") {
			found[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(name[1:]), ""), " ", "-")] = true
		}
	}
	return found
}
