package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// What was spent on sources is theirs alone: rows of the target stand beside it. Ids with blanks around them, as people type
// them, are those of the rows.
func TestStudyStatusOfTarget(t *testing.T) {
	c := newCampaign(t, testrand.New(t), false, func(string, int) bool { return false })
	run := func(args ...string) outcome {
		t.Helper()
		return amtrl(t, c.dir, append([]string{"study"}, args...)...)
	}
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "costs.csv"), []byte("source,cost\nzoo,3\n"), 0o644))
	run("new", "S", "--data", "bare.yaml", "--target", "zoo", "--target-samples", "6", "--round-budget", "40", "--k", "5",
		"--costs", "costs.csv").Succeeds(t)
	run("ask", "S", "--out", "a.csv", "--expires", "3x").Complains(t, 2, `--expires is "3x": expected weeks, days, hours, minutes`)
	run("ask", "S", "--out", "a.csv", "--expires", "3d").Succeeds(t)
	for _, row := range c.read(t, "a.csv") {
		must.Hold(t, (row["cost"] == "3") == (row["source"] == "zoo"), "%v", row)
		left := time.Until(must.Get(time.Parse(time.RFC3339, row["expires"]))(t))
		must.Hold(t, left > 71*time.Hour && left <= 72*time.Hour, "%s is left of three days", left)
	}
	lines, sources, target := []string{"id,label"}, 0, 0
	for _, id := range ids(c.read(t, "a.csv")) {
		lines = append(lines, id+" ,"+c.labels[id][0])
		if strings.HasPrefix(id, "zoo/") {
			target++
		} else {
			sources++
		}
	}
	must.Equal(t, target, 6, "rows of the target")
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "blanks.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	run("tell", "S", "blanks.csv").Succeeds(t)
	run("status", "S").Prints(t, 0, fmt.Sprintf("%d rows answered, 0 pending, 0 skipped; of the target 6 answered, 0 pending", sources))
	must.Equal(t, costText(6.299999999999998), "6.3", "a sum of costs")
}
