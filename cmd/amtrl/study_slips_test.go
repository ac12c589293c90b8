package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A number whose point was lost is named when it is told and in the status, and when its row is told anew it is as any other.
func TestSlipInAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePrices(t, dir, testrand.New(t))
	manifestOf(t, dir, "dataset.yaml", "logs", "")
	logs := hideLabels(t, dir, 7)
	succeed(t, dir, "study", "new", "campaign", "--data", "dataset.yaml", "--round-budget", "200")
	succeed(t, dir, "study", "ask", "campaign", "--out", "ask.csv")
	asked := readTable(t, filepath.Join(dir, "ask.csv"))[1:]
	tell := func(name, slipped string, more ...string) outcome {
		answers := "id,logs\n"
		for _, row := range asked {
			of := logs[row[0]]
			if row[0] == slipped {
				of = strings.Replace(of, ".", "", 1)
			}
			answers += row[0] + "," + of + "\n"
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(answers), 0o644))
		return succeed(t, dir, append([]string{"study", "tell", "campaign", name}, more...)...)
	}
	id := asked[3][0]
	tell("slip.csv", id).Complains(t, 0, "far from the other labels of their sources", " of row "+id+" of ", "--replace")
	status := func() string { return succeed(t, dir, "study", "status", "campaign").Stdout }
	must.Hold(t, strings.Contains(status(), "nothing was learned yet\nfar from the other labels") && strings.Contains(status(), id),
		"the status lacks %s: %s", id, status())
	said := tell("right.csv", "", "--replace").Stderr
	must.Hold(t, !strings.Contains(said, "far from"), "of right labels: %s", said)
	must.Hold(t, !strings.Contains(status(), "far from"), "the status of right labels: %s", status())
}
