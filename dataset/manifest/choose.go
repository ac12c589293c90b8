package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// choose fills in the columns of the manifest.
func (g *guesser) choose(ctx context.Context, m *Manifest, known Known, inputs []Input) error {
	var columns []table.Column
	for _, c := range g.columns {
		columns = append(columns, c.Column)
	}
	file := inputs[0].Path
	if err := g.takeKnown(m, known, file, columns); err != nil {
		return err
	}
	if err := g.chooseLabels(m, known, inputs); err != nil {
		return err
	}
	if err := g.chooseRoles(ctx, m, known, inputs); err != nil || m.Vectors != nil {
		return err
	}
	return g.chooseFeatures(m, known, file, columns)
}

// takeKnown marks the columns that the user named as taken, and refuses names that the file does not have. Where columns of features are
// still to be found, it refuses numbers with commas.
func (g *guesser) takeKnown(m *Manifest, known Known, file string, columns []table.Column) error {
	said := []string{known.ID, known.Source, known.Split, known.Cost, known.Group}
	for _, name := range slices.Concat(said, known.Labels, known.Categories) {
		if name == "" || name == FromFile || name == FromFolder {
			continue
		}
		if _, err := table.Find(file, columns, name); err != nil {
			return err
		}
		g.taken[name] = true
	}
	if m.Vectors == nil && len(known.Features) == 0 && !slices.ContainsFunc(g.columns, (*column).list) {
		free := func(c *column) bool { return !g.taken[c.Name] }
		return g.refuseCommas(file, free, ", or say which columns to take with --features")
	}
	return nil
}

// hasScalars reports whether a column holds single values, not lists, and has any.
func (c *column) hasScalars() bool { return !c.list() && len(c.distinct) >= 1 && c.has() > 0 }

func (g *guesser) chooseLabels(m *Manifest, known Known, inputs []Input) error {
	file, source := inputs[0].Path, g.likelySource(known, inputs)
	if from := g.likelyFiles(known, inputs, source); from != "" {
		source = g.sourceOf(&Manifest{Source: from})
	}
	label := func(c *column) bool {
		return c.hasScalars() && len(c.distinct) >= 2 && (c.named(sureLabels) || !c.fixed(source))
	}
	for _, name := range known.Labels {
		m.Labels = append(m.Labels, Label{Column: name})
	}
	if len(m.Labels) == 0 {
		name := g.guessLabel(known.Target, source, label)
		if name == "" {
			return fmt.Errorf("%s: expected a column that looks like a label, found none: say which one it is with --label%s", file,
				g.candidates(inputs, source, label))
		}
		m.Labels = append(m.Labels, Label{Column: name})
	}
	for i := range m.Labels {
		name := m.Labels[i].Column
		if err := g.refuseCommas(file, func(c *column) bool { return c.Name == name }, ""); err != nil {
			return err
		}
		if c := g.column(name); c != nil && c.hasUnits() && c.kinds() > mostWords {
			return fmt.Errorf("%s: column %s: expected numbers for labels, found them with a unit: %q: %s", file, text.OneLine(name, 80),
				text.OneLine(c.united, 80), c.plainUnits())
		}
		m.Labels[i].Type = g.labelType(name)
	}
	return nil
}

// chooseRoles chooses group, split, cost, source and id, in this order.
func (g *guesser) chooseRoles(ctx context.Context, m *Manifest, known Known, inputs []Input) error {
	m.Group = known.Group
	if m.Split = known.Split; m.Split == "" {
		m.Split = g.pick(splitNames, func(c *column) bool { return c.hasScalars() && c.splits() })
	}
	if m.Split == "" && splitByFile(inputs) {
		m.Split = FromFile
	}
	if c := g.column(known.Cost); c != nil && c.hasUnits() {
		return fmt.Errorf("%s: column %s: expected numbers for what a label costs, found them with a unit: %q: %s", inputs[0].Path,
			text.OneLine(c.Name, 80), text.OneLine(c.united, 80), c.plainUnits())
	}
	if m.Cost = known.Cost; m.Cost == "" {
		m.Cost = g.pick(costNames, func(c *column) bool { return c.numeric() && !(known.sold && strings.EqualFold(c.Name, "price")) })
	}
	if m.Source = known.Source; m.Source == "" {
		m.Source = g.guessSource(inputs, known.Target, g.column(m.Labels[0].Column))
		g.noteBlanks(m.Source)
		g.noteFiles(g.column(m.Source), inputs)
	}
	if m.Source == "" {
		return g.refuseSource(m, inputs[0].Path)
	}
	if m.ID = known.ID; m.ID == "" {
		m.ID = g.pickID(known)
	}
	return nil
}

// pickID takes and returns the column that looks most like the id, or returns an empty string. A column that is known to have repeated
// values is none.
func (g *guesser) pickID(known Known) string {
	every := []string{"*"}
	unsaid := func(c *column) bool { return !slices.Contains(known.Features, c.Name) }
	for _, of := range []struct {
		names []string
		fits  func(*column) bool
	}{
		{idNames, func(c *column) bool {
			return !c.list() && (c.missing == 0 && len(c.distinct) == c.rows || c.onceEach) && !c.measured()
		}},
		{numberNames, func(c *column) bool {
			return (c.missing == 0 && len(c.distinct) == c.rows || c.onceEach) && c.integers()
		}},
		{every, func(c *column) bool { return (c.numbered() || c.numbersEach()) && !c.Time && unsaid(c) }},
		{every, func(c *column) bool { return c.serials() && unsaid(c) }},
		{every, func(c *column) bool { return c.drawnOnce && c.missing == 0 && unsaid(c) }},
	} {
		if name := g.pick(of.names, func(c *column) bool { return c.again == nil && of.fits(c) }); name != "" {
			return name
		}
	}
	return ""
}

func (g *guesser) chooseFeatures(m *Manifest, known Known, file string, columns []table.Column) error {
	m.Features, m.Categories = known.Features, known.Categories
	vector := false
	g.markLate(m)
	g.markLikeFiles(m)
	if len(m.Features) == 0 {
		if m.Features, vector = g.guessFeatures(); !vector && len(m.Categories) == 0 {
			m.Categories = g.guessCategories(g.sourceOf(m))
		}
	}
	if len(m.Features) == 0 && len(m.Categories) == 0 && known.Cost == "" && strings.EqualFold(m.Cost, "price") {
		m.Features, m.Cost = []string{m.Cost}, ""
	}
	if len(m.Features) == 0 && len(m.Categories) == 0 {
		return fmt.Errorf("%s: expected a column of vectors or columns of numbers for features, found none: say which with --features", file)
	}
	features, err := m.FeatureColumns(file, columns)
	if err != nil {
		return err
	}
	if err := g.refuseCommas(file, func(c *column) bool { return slices.Contains(features, c.Name) }, ""); err != nil {
		return err
	}
	if err := g.refuseWords(file, features); err != nil {
		return err
	}
	for _, name := range m.Categories {
		g.taken[name] = true
	}
	var bend []string // the columns whose effects can bend: of two values there is nothing between
	logs := table.LogsAmong(columns, features)
	for _, c := range g.columns {
		if !slices.Contains(features, c.Name) && !table.HasLog(logs, c.Name) {
			continue
		}
		if g.taken[c.Name] = true; !c.list() {
			g.scalars = append(g.scalars, c.Name)
			if len(c.distinct) > 2 {
				bend = append(bend, c.Name)
			}
		}
	}
	vector = len(bend) >= leastVector && !slices.ContainsFunc(bend, func(name string) bool {
		_, is := serial(name)
		return !is
	})
	g.numbered = vector && len(bend) <= mostFew
	if g.few = !vector && len(bend) <= mostFew; g.few && len(bend) > 0 {
		m.Knots = usualKnots
	}
	m.Products = g.few && len(g.scalars) > 1 && len(g.scalars) <= mostFactors && m.Group == ""
	if g.few && len(known.Features) == 0 {
		g.guessLogs(m)
	}
	return nil
}
