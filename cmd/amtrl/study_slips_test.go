package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A number that lost its decimal point is reported when it is told and in the status, unless it is told as checked. If
// the row is told anew, the new label is judged like any other.
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
	checked := tell("slip.csv", id, "--checked")
	must.Hold(t, strings.Contains(checked.Stdout, "200 marked as checked") && checked.Stderr == "", "of checked labels: %s%s",
		checked.Stdout, checked.Stderr)
	must.Hold(t, !strings.Contains(status(), "far from"), "the status of checked labels: %s", status())
	must.Hold(t, strings.Contains(tell("slip.csv", id, "--checked").Stdout, "0 marked"), "what is checked is marked again")
	other := asked[5][0]
	tell("other.csv", other, "--replace").Complains(t, 0, "far from the other labels of their sources", " of row "+other+" of ")
	must.Hold(t, strings.Contains(status(), other), "the status lacks a label that replaced one that was checked: %s", status())
	succeed(t, dir, "study", "verify", "campaign")
	said := tell("right.csv", "", "--replace").Stderr
	must.Hold(t, !strings.Contains(said, "far from"), "of right labels: %s", said)
	must.Hold(t, !strings.Contains(status(), "far from"), "the status of right labels: %s", status())
}
