package manifest

import (
	"context"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// GroupHint names a column that a manifest does not use, though its values may say which rows belong together.
type GroupHint struct {
	Column string
	// Found says how many of its values occur more than once.
	Found string
	// Named reports whether the column has a name of what rows belong to, such as patient or customer. Others are told by their values.
	Named bool
}

// GroupHints finds the unused columns that may be groups by the names and values of the columns, as [Look] does. It returns
// none where the manifest has a group.
func (m *Manifest) GroupHints() (hints []GroupHint, err error) {
	inputs, err := m.Inputs()
	if err != nil || m.Group != "" {
		return nil, err
	}
	l, err := inspect(inputs, m.Target.Source)
	if err != nil {
		return nil, err
	}
	g, columns := &guesser{looked: l}, l.columns
	var features, logs []string
	if m.Vectors == nil {
		var all []table.Column
		for _, c := range columns {
			all = append(all, c.Column)
		}
		if features, err = m.FeatureColumns(inputs[l.begin].Path, all); err != nil {
			return nil, err
		}
		logs = table.LogsAmong(all, features)
	}
	if err := g.countNamed(context.Background(), inputs); err != nil {
		return nil, err
	}
	if err := g.countWithin(context.Background(), inputs, m); err != nil {
		return nil, err
	}
	source := g.sourceOf(m)
	for _, c := range columns {
		if m.reads(c.Name) || slices.Contains(features, c.Name) || table.HasLog(logs, c.Name) {
			continue
		}
		if twice, values := c.recurring(); m.perhapsGroup(c, source) != "" {
			hints = append(hints, GroupHint{c.Name, fmt.Sprintf("%s of %s of column %s %s there more than once", text.Count(twice),
				text.Several(values, "value"), text.OneLine(c.Name, 80), text.Form(twice, "is", "are")), c.namesGroups()})
		}
	}
	return hints, nil
}
