//go:build unix

package report

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs/study"
)

// inspect returns what is wrong with the layout of a page: elements that reach over its edge, figures that lack a part, and texts of
// figures that are too small, overlap or reach out of their figure.
const inspect = `(function () {
  var wrong = [], wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    wrong.push("the page is " + wide + " pixels wide of " + innerWidth);
    document.querySelectorAll("body *").forEach(function (e) {
      if (e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll,.draw") && wrong.length < 6)
        wrong.push("  " + e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60));
    });
  }
  var figures = document.querySelectorAll("figure");
  if (figures.length < 3) wrong.push(figures.length + " figures");
  figures.forEach(function (f) {
    var svg = f.querySelector("svg"), name = f.id + ": ";
    if (!f.querySelector("figcaption").textContent) wrong.push(name + "no title");
    if (!svg.querySelector("title").textContent || !svg.querySelector("desc").textContent) wrong.push(name + "no description");
    if (f.querySelectorAll("table tbody tr").length < 1) wrong.push(name + "no table");
    if (svg.querySelectorAll("text.mute").length < 2) wrong.push(name + "no names of axes");
    var frame = svg.getBoundingClientRect(), seen = [];
    svg.querySelectorAll("text").forEach(function (t) {
      if (!t.textContent.trim()) return;
      var b = t.getBoundingClientRect(), says = t.firstChild.textContent.slice(0, 40);
      var size = parseFloat(getComputedStyle(t).fontSize) * frame.width / svg.viewBox.baseVal.width;
      if (size < 7) wrong.push(name + '"' + says + '" is ' + size.toFixed(1) + " pixels high");
      if (b.left < frame.left - 2 || b.right > frame.right + 2 || b.top < frame.top - 2 || b.bottom > frame.bottom + 2)
        wrong.push(name + '"' + says + '" reaches out of the figure');
      seen.forEach(function (o) {
        var x = Math.min(b.right, o.b.right) - Math.max(b.left, o.b.left), y = Math.min(b.bottom, o.b.bottom) - Math.max(b.top, o.b.top);
        if (!t.hasAttribute("transform") && !o.turned && x > 2 && y > 4) wrong.push(name + '"' + says + '" lies over "' + o.says + '"');
      });
      seen.push({b: b, says: says, turned: t.hasAttribute("transform")});
    });
  });
  return wrong;
})()`

// sorts clicks twice on the header of a column and returns the numbers of the column after each click.
const sorts = `(function () {
  var table = document.getElementById("%s"), head = table.tHead.rows[0].cells[%d], out = [];
  for (var i = 0; i < 2; i++) {
    head.querySelector("button").click();
    out.push(Array.from(table.tBodies[0].rows).map(function (r) { return Number(r.cells[%d].querySelector("data").value); }));
  }
  return out;
})()`

// In a browser, pages report no error and request nothing, fit screens from a telephone to a wide one, and have legible figures, whatever
// the names are. AMTRL_REPORT_SHOTS names a folder for screenshots of them.
func TestBrowser(t *testing.T) {
	b := openBrowser(t)
	for _, naughty := range []bool{false, true} {
		set := smallData(t, naughty)
		pages := map[string]*Page{
			"run":   pageOf(t, finishedRun(t, set, 3, nil)),
			"sweep": sweepPage(t, largeSweep(t, naughty)),
		}
		if naughty {
			pages["study"] = StudyPage(must.Get(study.ReadLearned(finishedStudy(t)))(t), "amtrl study verify S")
		}
		for kind, p := range pages {
			path := filepath.Join(t.TempDir(), "page.html")
			must.Do(t, os.WriteFile(path, must.Get(p.HTML())(t), 0o644))
			at := (&url.URL{Scheme: "file", Path: path}).String()
			for _, width := range []int{360, 800, 1400} {
				what := fmt.Sprintf("%s, hostile names %v, %d pixels", kind, naughty, width)
				b.open(at, width, width == 800)
				var wrong []string
				b.evaluate(inspect, &wrong)
				for _, w := range append(wrong, b.complaints(at)...) {
					t.Errorf("%s: %s", what, w)
				}
				if dir := os.Getenv("AMTRL_REPORT_SHOTS"); dir != "" {
					b.shoot(filepath.Join(dir, fmt.Sprintf("%s-%v-%d.png", kind, naughty, width)))
				}
			}
			table, column := "labels-table", 1
			if kind == "sweep" {
				table = "targets-table"
				b.checkCells(p)
			}
			var columns [][]float64
			b.evaluate(fmt.Sprintf(sorts, table, column, column), &columns)
			for i := range columns[0] {
				if i > 0 && (columns[0][i-1] < columns[0][i] || columns[1][i-1] > columns[1][i]) {
					t.Errorf("%s: sorted to %v, then %v", kind, columns[0], columns[1])
					break
				}
			}
		}
	}
}

// pointAt moves the pointer to the middle of a cell of the large map and returns the text that is shown below the map.
const pointAt = `(function () {
  var f = document.getElementById("matrix"), map = JSON.parse(f.dataset.cells), box = f.querySelector("svg").getBoundingClientRect();
  function middle(from, to, n, i, length, size) { return (from + (to - from) * (i + .5) / n) / length * size; }
  f.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", {bubbles: true,
    clientX: box.left + middle(map.Area[0], map.Area[2], map.Columns.length, %d, map.Width, box.width),
    clientY: box.top + middle(map.Area[1], map.Area[3], map.Rows.length, %d, map.Height, box.height)}));
  return f.querySelector("p.cell").textContent;
})()`

// checkCells checks what a page says of cells of its large map against the numbers behind it.
func (b *browser) checkCells(p *Page) {
	b.t.Helper()
	for _, part := range p.Parts {
		for _, f := range part.Figures {
			if f.ID != "matrix" {
				continue
			}
			for _, at := range [][2]int{{0, 0}, {len(f.Full.Rows) - 1, len(f.Full.Columns) - 2}, {2, 7}} {
				cells, says := f.Full.Rows[at[0]].Cells, ""
				value := cmp.Or(cells[at[1]+1].Text, "none")
				b.evaluate(fmt.Sprintf(pointAt, at[1], at[0]), &says)
				if want := "target " + cells[0].Text + ", source " + f.Full.Columns[at[1]+1] + ": " + value; says != want {
					b.t.Errorf("at row %d, column %d the page says %q, expected %q", at[0], at[1], says, want)
				}
			}
		}
	}
}

// shoot writes a screenshot of the whole page.
func (b *browser) shoot(path string) {
	b.t.Helper()
	var out struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &out)
	must.Do(b.t, os.WriteFile(path, must.Get(base64.StdEncoding.DecodeString(out.Data))(b.t), 0o644))
}
