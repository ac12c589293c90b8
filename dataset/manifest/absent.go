package manifest

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// findAbsent sets Absent to the columns of the manifest that some of the files lack, and returns these with what lacks each.
func (g *guesser) findAbsent(m *Manifest) (lacking []string) {
	used := map[string]bool{}
	for _, name := range slices.Concat(g.scalars, m.Categories, []string{m.Split, m.Cost, m.Group}) {
		used[name] = true
	}
	for _, l := range m.Labels {
		used[l.Column] = true
	}
	for at, c := range g.looked.scalars {
		if !used[c.Name] {
			continue
		}
		var files []string
		for _, f := range g.files {
			if f.at[at] < 0 {
				files = append(files, filepath.Base(f.Path))
			}
		}
		if len(files) == 0 {
			continue
		}
		m.Absent = append(m.Absent, c.Name)
		of := text.OneLine(files[0], 80)
		if len(files) > 1 {
			of = fmt.Sprintf("%s of %s, such as %s", text.Count(len(files)), text.Several(len(g.files), "file"), of)
		}
		lacking = append(lacking, fmt.Sprintf("%s (%s)", c.Name, of))
	}
	return lacking
}
