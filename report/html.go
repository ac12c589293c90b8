package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/report/chart"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// htmlPage is the parsed template. Its script and style are this package's own; all else is escaped.
var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(chart.Style + pageStyle) },
	"script": func() template.JS { return template.JS(pageScript) },
	"policy": policy,
	"svg":    func(f Figure) template.HTML { return template.HTML(f.Chart.SVG(f.ID)) },
	"value":  func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
	"right":  rightAligned,
	"class":  func(answer string) string { return strings.ReplaceAll(answer, " ", "-") },
}).Parse(pageTemplate))

// policy returns the content security policy: the page may run its own script, use its own style, and load nothing
// else.
func policy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

// rightAligned reports whether a column holds numbers, by its first cell with text.
func rightAligned(s Sheet, column int) bool {
	for _, r := range s.Rows {
		if column < len(r.Cells) && r.Cells[column].Text != "" {
			return r.Cells[column].Number
		}
	}
	return false
}

// HTML renders the page as one file that needs nothing else.
func (p *Page) HTML() ([]byte, error) {
	var out bytes.Buffer
	err := htmlPage.Execute(&out, p)
	return out.Bytes(), err
}
