package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// Unseen names the classes of a column of labels that sources have and a target does not have.
type Unseen struct {
	// Column is the column of the label, empty where the data do not name it.
	Column  string
	Classes []string
}

// String names at most ten of the classes, and their column.
func (u Unseen) String() string {
	list := "of class " + quoteSome(u.Classes, 10, strconv.Quote)
	if u.Column != "" {
		list += " of " + u.Column
	}
	return list
}

// UnseenClasses lists, by column, the classes that training rows of sources have and none of the given rows of a pool has; nil rows stand
// for all training rows of the pool. Columns of which the pool has no task are left out. It returns nil where labels are numbers.
func (s *Set) UnseenClasses(pool int, rows []int32) []Unseen {
	if !s.Binary {
		return nil
	}
	own, others := map[Output]bool{}, map[Output]bool{}
	columns := map[string]bool{}
	for i := range s.Tasks {
		switch t := &s.Tasks[i]; {
		case t.Pool == pool:
			columns[t.Output.Name] = true
			s.addClasses(own, t, rows)
		case !s.Pools[t.Pool].Target:
			s.addClasses(others, t, nil)
		}
	}
	for _, c := range s.classCounts() {
		odd, common := c.strangers()
		for _, i := range odd {
			for _, w := range c.of[i] {
				if common[w.word] == 0 {
					delete(others, Output{c.column, c.words[w.word]})
				}
			}
		}
		if slices.Contains(odd, pool) {
			delete(columns, c.column)
		}
	}
	var list []Output
	for o := range others {
		if columns[o.Name] && !own[o] {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Output) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class)) })
	var out []Unseen
	for _, o := range list {
		if len(out) == 0 || out[len(out)-1].Column != o.Name {
			out = append(out, Unseen{Column: o.Name})
		}
		u := &out[len(out)-1]
		u.Classes = append(u.Classes, o.Class)
	}
	return out
}

// addClasses adds to a set of outputs the classes that the given training rows of a task have, or all its training rows where rows is nil.
// Where a column has two classes, a label of 0 stands for the other class.
func (s *Set) addClasses(to map[Output]bool, t *Task, rows []int32) {
	among := func(int32) bool { return true }
	if rows != nil {
		listed := make([]bool, s.Pools[t.Pool].Rows)
		for _, r := range rows {
			listed[r] = true
		}
		among = func(r int32) bool { return listed[r] }
	}
	zeros, ones := false, false
	for _, r := range t.Train {
		if t.Labels != nil && among(r) {
			zeros, ones = zeros || t.Labels[r] == 0, ones || t.Labels[r] == 1
		}
	}
	if ones {
		to[t.Output] = true
	}
	if other := s.otherClass(t.Output); zeros && other != "" {
		to[Output{t.Output.Name, other}] = true
	}
}

// alike lists the names of sources, and those of the classes of a column, that differ only in case, blanks or zero decimals.
func (s *Set) alike() []Oddity {
	names := make([]string, len(s.Pools))
	for i, p := range s.Pools {
		names[i] = p.Name
	}
	return append(alikeIn("the sources", names), s.alikeClasses()...)
}

func (s *Set) alikeClasses() (out []Oddity) {
	if s.Columns == nil {
		return nil
	}
	for _, l := range s.Columns.Labels {
		out = append(out, alikeIn("the classes of "+l.Name, l.Classes)...)
	}
	return out
}

// alikeIn lists the names that differ only in case, blanks or zero decimals, and those that look the same but are written in other
// characters; kind says in the message what they name.
func alikeIn(kind string, names []string) (out []Oddity) {
	plain := func(name string) string { return text.Whole(strings.ToLower(strings.Join(strings.Fields(name), " "))) }
	groups := map[string][]string{}
	var seen []string // the keys of groups of two names or more
	for _, name := range names {
		key := plain(text.Visible(name))
		groups[key] = append(groups[key], name)
		if len(groups[key]) == 2 {
			seen = append(seen, key)
		}
	}
	var same, look []string // the first names of each group
	for _, key := range seen {
		of := groups[key]
		if slices.ContainsFunc(of, func(name string) bool { return plain(name) != plain(of[0]) }) {
			look = append(look, quoteSome(of, fewAlike, strconv.QuoteToASCII))
		} else {
			same = append(same, quoteSome(of, fewAlike, strconv.Quote))
		}
	}
	if len(same) > 0 {
		out = append(out, Oddity{"", fmt.Sprintf("%s differ in case, blanks or zero decimals alone: %s", kind, listAlike(same)),
			"write each in one way: they are apart now"})
	}
	if len(look) > 0 {
		out = append(out, Oddity{"", fmt.Sprintf("%s look alike in other characters of Unicode: %s", kind, listAlike(look)),
			"write each in one way, in the form NFC and without characters that cannot be seen: they are apart now"})
	}
	return out
}

// fewAlike is the number of groups of names that are alike, and of the names of each, that are listed.
const fewAlike = 3

func listAlike(groups []string) string {
	list := strings.Join(groups[:min(fewAlike, len(groups))], "; ")
	if more := len(groups) - fewAlike; more > 0 {
		list += fmt.Sprintf("; and %d more", more)
	}
	return list
}

// quoteSome quotes the first of the names by quote, up to most of them, and counts the rest.
func quoteSome(names []string, most int, quote func(string) string) string {
	const longest = 80
	var quoted []string
	for _, n := range names[:min(most, len(names))] {
		if len(n) > longest {
			n = text.OneLine(n, longest)
		}
		quoted = append(quoted, quote(n))
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
