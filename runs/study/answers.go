package study

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

type answer struct {
	where      string
	index      int // in the call of TellAnswers, -1 in a file
	id, source string
	skip       bool
	values     []float32 // NaN for none
	empty      bool      // there is neither a label nor skip
}

// statusSkip is the status of a row that is given up.
const statusSkip = "skip"

// readAnswers reads the labels of some outputs from a file of answers, whose encoding is UTF-8 if it is empty. It leaves out rows that
// neither answer nor skip, and returns the number of those of them that have an id, and the columns of labels that the file lacks. An error
// names the first row that is wrong, and a few others.
func (s *Study) readAnswers(path, encoding string, outputs []columnar.Output) (out []answer, unlabelled int, lacks []string, err error) {
	t, err := table.Open(path, table.Encoded(table.FormatOf(path), encoding))
	if strings.HasSuffix(strings.ToLower(path), ".json") && (err != nil || isLabelStudio(t.Columns())) {
		if err == nil {
			t.Close()
		}
		out, unlabelled, err = s.readLabelStudio(path, outputs)
		return out, unlabelled, nil, err
	}
	if err != nil {
		return nil, 0, nil, err
	}
	defer t.Close()
	q, at, err := s.answerColumns(path, t.Columns())
	if err != nil {
		return nil, 0, nil, err
	}
	for i, place := range at.labels {
		if place < 0 && at.also < 0 {
			lacks = append(lacks, s.data.Outputs[i].Name)
		}
	}
	var bad error                  // the error of the first row that is wrong
	var also []string              // places of the other rows that are wrong
	var words []*unknownClassError // words that are no classes, in the order of the rows
	err = t.Scan(q, func(b *table.Batch) error {
		for i := range b.Rows {
			a, err := s.readAnswer(b, at, outputs, i)
			if of, is := errors.AsType[*unknownClassError](err); is && len(words) < 100 &&
				!slices.ContainsFunc(words, func(w *unknownClassError) bool { return w.word == of.word }) {
				words = append(words, of)
			}
			switch {
			case err != nil && bad == nil:
				bad = err
			case err != nil:
				also = append(also, strings.TrimPrefix(b.Where(i), path+": "))
			case !a.empty:
				out = append(out, *a)
			case a.id != "":
				unlabelled++
			}
		}
		return nil
	})
	if err == nil && len(also) > 0 {
		bad = fmt.Errorf("%w; %s not right either: %s", bad, text.Form(len(also), "another row is", "other rows are"),
			text.List(also, mostListed))
	}
	if err == nil && bad != nil {
		err = &AnswerError{-1, fmt.Errorf("%w%s", bad, unknownWords(words))}
	}
	return out, unlabelled, lacks, err
}

// answerPlaces holds the indices of columns among the scalars of a query, -1 for columns that the file lacks. also is a column called
// label, beside a column with the single label's own name: in a sheet of the data's rows the latter may be empty.
type answerPlaces struct {
	id, source, status int
	labels             []int
	also               int
	names              []string // names of the scalars
}

// answerColumns finds the columns of the id, the labels, the source and the status by their names, as they are, or else in other capitals
// and with blanks around them, as users of Excel write them. A single label may be called label.
func (s *Study) answerColumns(path string, columns []table.Column) (q table.Query, at answerPlaces, err error) {
	add := func(names ...string) int {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold, sameTrimmed} {
			for _, name := range names {
				i := slices.IndexFunc(columns, func(c table.Column) bool { return name != "" && same(c.Name, name) })
				if i >= 0 {
					q.Scalars = append(q.Scalars, columns[i].Name)
					return len(q.Scalars) - 1
				}
			}
		}
		return -1
	}
	if at.id = add("id", s.data.Set.Columns.ID); at.id < 0 {
		_, err := table.Find(path, columns, "id")
		return q, at, err
	}
	at.source, at.status, at.also = add("source"), add("status"), -1
	found := at.status >= 0
	for _, o := range s.data.Outputs {
		at.labels = append(at.labels, add(o.Name))
		found = found || at.labels[len(at.labels)-1] >= 0
	}
	// Beside a column with the own name of a numeric label, a column called label may hold any other number.
	o := s.data.Outputs[0]
	if also := o.Type != manifest.Number || at.labels[0] < 0; also && len(s.data.Outputs) == 1 && !strings.EqualFold(o.Name, "label") {
		at.also = add("label")
		found = found || at.also >= 0
	}
	if !found {
		if _, err = table.Find(path, columns, o.Name); len(s.data.Outputs) == 1 && o.Name != "label" {
			err = fmt.Errorf("%w (it may also be called label)", err)
		}
	}
	for _, name := range q.Scalars {
		at.names = append(at.names, strings.TrimSpace(name))
	}
	return q, at, err
}

// sameTrimmed reports whether two names are the same in other capitals and with blanks around them.
func sameTrimmed(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

// readAnswer reads row i of a batch.
func (s *Study) readAnswer(b *table.Batch, at answerPlaces, outputs []columnar.Output, i int) (*answer, error) {
	cell := func(place int) string {
		if place < 0 || b.Scalars[place].IsMissing(i) {
			return ""
		}
		return strings.Clone(b.Scalars[place].Name(i))
	}
	a := &answer{where: b.Where(i), index: -1, id: cell(at.id), source: text.Word(cell(at.source))}
	switch word := strings.TrimSpace(cell(at.status)); strings.ToLower(word) {
	case "":
	case statusSkip:
		a.skip = true
	default:
		return nil, fmt.Errorf("%s, column status: expected %s or nothing, found %q", a.where, statusSkip, text.OneLine(word, 80))
	}
	read := func(o columnar.Output, place int) (float32, error) {
		word := cell(place)
		if place >= 0 && word == "NaN" && b.Scalars[place].Numbers != nil {
			word = "" // a missing number, as pandas writes it
		}
		if place >= 0 && o.Type == manifest.Number && word != "" {
			plain, ok := b.Scalars[place].Plain(i)
			if !ok {
				return 0, fmt.Errorf("%s, column %s: expected %s, found %q", a.where, at.names[place], b.Scalars[place].Expected(i),
					text.OneLine(word, 80))
			}
			word = strings.Clone(plain)
		}
		v, err := s.readLabel(o, word)
		if err != nil {
			return 0, fmt.Errorf("%s, column %s: %w", a.where, at.names[place], err)
		}
		return v, nil
	}
	a.empty = !a.skip
	for c, o := range outputs {
		v, err := read(o, at.labels[c])
		if err == nil && at.also >= 0 {
			switch other, otherErr := read(o, at.also); {
			case v != v:
				v, err = other, otherErr
			case otherErr == nil && other == other && other != v:
				err = fmt.Errorf("%s: expected one label in the columns %s and %s, found %s and %s", a.where, o.Name, at.names[at.also],
					text.OneLine(textOf(o, v), 80), text.OneLine(textOf(o, other), 80))
			}
		}
		if err != nil {
			return nil, err
		}
		if v == v && a.skip {
			return nil, fmt.Errorf("%s, column status: expected a label or %s, found both", a.where, statusSkip)
		}
		a.empty = a.empty && v != v
		a.values = append(a.values, v)
	}
	if a.id == "" && !a.empty {
		return nil, fmt.Errorf("%s, column %s: expected the id of a row, found none", a.where, at.names[at.id])
	}
	return a, nil
}

// takeAnswer returns an answer with labels of some outputs.
func (s *Study) takeAnswer(of *Answer, outputs []columnar.Output) (*answer, error) {
	for _, name := range slices.Sorted(maps.Keys(of.Labels)) {
		if !slices.ContainsFunc(s.data.Outputs, func(o columnar.Output) bool { return o.Name == name }) {
			var names []string
			for _, o := range s.data.Outputs {
				names = append(names, o.Name)
			}
			return nil, fmt.Errorf("expected labels of %s, found one of %q", text.OneLine(strings.Join(names, ", "), 200), text.OneLine(name, 80))
		}
	}
	a := &answer{id: of.ID, source: of.Source, skip: of.Skip, empty: !of.Skip}
	if a.id == "" {
		return nil, errors.New("expected the id of a row, found none")
	}
	for _, o := range outputs {
		v, err := s.readLabel(o, of.Labels[o.Name])
		if err != nil {
			return nil, fmt.Errorf("row %s, column %s: %w", text.OneLine(of.ID, 80), o.Name, err)
		}
		if v == v && a.skip {
			return nil, errors.New("expected labels or Skip, found both")
		}
		a.empty = a.empty && v != v
		a.values = append(a.values, v)
	}
	return a, nil
}

// readLabel parses a label that somebody gave. It is NaN for none.
func (s *Study) readLabel(o columnar.Output, word string) (float32, error) {
	if word == "" || slices.Contains(o.Missing, word) {
		return float32(math.NaN()), nil
	}
	v, err := valueOf(o, word)
	if err != nil && text.NoWord(word) { // as in the data
		return float32(math.NaN()), nil
	}
	if trimmed := strings.TrimSpace(word); err != nil && trimmed != word { // as people type
		return s.readLabel(o, trimmed)
	}
	switch {
	case err != nil && o.Type == manifest.Number:
		expected := table.PlainNumber(word)
		if x, noNumber := text.ParseNumber(word); noNumber == nil && o.Logarithm().Refuses(x) != "" {
			expected = o.Logarithm().Refuses(x)
		}
		return 0, fmt.Errorf("expected %s, found %q", expected, text.OneLine(word, 80))
	case err != nil:
		meant := text.Meant(word, o.Classes)
		found, near := apart(word, cmp.Or(meant, text.NearlySame(word, o.Classes)))
		expected := fmt.Sprintf("expected one of the classes %s, found %s", text.OneLine(strings.Join(o.Classes, ", "), 200), found)
		if meant != "" {
			return 0, &unknownClassError{found, near, fmt.Sprintf("%s: write %s", expected, near)}
		}
		var hints []string
		if near != "" {
			hints = append(hints, fmt.Sprintf("write %s if it is that", near))
		}
		if _, noNumber := text.ParseNumber(word); noNumber == nil && !slices.ContainsFunc(o.Classes, func(class string) bool {
			_, err := text.ParseNumber(class)
			return err != nil
		}) {
			hints = append(hints, "if these are numbers whose order counts, make a study anew of a manifest that says type: number, and tell it "+
				"this")
		}
		if o.Type == manifest.Classes && s.Settings.Data.Classes != nil {
			unsure := "give the row up by status " + statusSkip
			if len(s.Settings.Data.Classes) > 1 { // the other columns may still have a label
				unsure = "leave the cell empty where nobody is sure"
			}
			hints = append(hints, fmt.Sprintf("add it to classes in %s and tell again, or %s", cmp.Or(s.DataAt, s.Settings.Data.Path), unsure))
		}
		if o.Type == manifest.Binary {
			hints = append(hints, "if there are more than these two, make a study anew of a manifest that says type: classes and lists all under "+
				"classes, and tell it this and what study export writes")
		}
		hint := strings.Join(hints, ", else ")
		if hint != "" {
			hint = ": " + hint
		}
		return 0, &unknownClassError{found, near, expected + hint}
	case math.Abs(float64(v)) > table.MaxFeature:
		return 0, fmt.Errorf("expected a number of at most 1e+18 in magnitude, found %q", text.OneLine(word, 80))
	}
	return v, nil
}

// unknownClassError is the error of a word that is none of the classes, with the class that is nearly the same, empty where there is none.
// Both are in quotes.
type unknownClassError struct{ word, near, says string }

func (e *unknownClassError) Error() string { return e.says }

// unknownWords lists words that are no classes, those that nearly are apart. It is empty for fewer than two, which the first error names.
func unknownWords(words []*unknownClassError) (list string) {
	var near, none []string
	for _, w := range words {
		if w.near != "" {
			near = append(near, w.word+" for "+w.near)
		} else {
			none = append(none, w.word)
		}
	}
	if len(words) < 2 {
		return ""
	}
	if len(near) > 0 {
		list = "; nearly a class: " + text.List(near, mostListed)
	}
	if len(none) > 0 {
		list += "; no class: " + text.List(none, mostListed)
	}
	return list
}

// apart quotes a word and the class that is nearly the same, so that what looks alike can be told apart: no-break spaces and what cannot be
// seen are written as \u00a0, and so are all letters beyond ASCII where these are combined in two ways. No class stays empty.
func apart(word, class string) (string, string) {
	quote := func(s string) string {
		if len(s) > 80 {
			s = text.OneLine(s, 80)
		}
		return strconv.Quote(s)
	}
	switch {
	case class == "":
		return quote(word), ""
	case len(word)+len(class) <= 160 && text.Visible(word) == text.Visible(class):
		return strconv.QuoteToASCII(word), strconv.QuoteToASCII(class)
	}
	return quote(word), quote(class)
}

type place struct {
	pool int
	row  int32
}

// find returns the place of the row of each id, with pool -1 where no row has the id. It looks among the rows that were asked for first,
// then, in one pass, among all ids.
func (s *Study) find(st *state, answers []answer) (map[string]place, error) {
	wanted := make(map[string]place, len(answers))
	for _, a := range answers {
		wanted[a.id] = place{-1, 0}
	}
	missing := len(wanted)
	take := func(pool int, i int32, id string) {
		if p, is := wanted[id]; is && p.pool < 0 {
			wanted[id] = place{pool, i}
			missing--
		}
	}
	for _, a := range st.asks {
		for _, group := range a.Rows {
			pool := s.places[group.Source]
			for _, i := range group.Rows {
				id, err := s.idOf(pool, i)
				if err != nil {
					return nil, err
				}
				take(pool, i, id)
			}
		}
	}
	if missing == 0 {
		return wanted, nil
	}
	// Few of all rows are wanted, and seen rules out most others: it has a bit for the hash of each wanted id.
	seed, seen := maphash.MakeSeed(), make([]uint64, 1<<bits.Len(uint(len(wanted)/4)))
	last := uint64(64*len(seen) - 1)
	for id, p := range wanted {
		if p.pool < 0 {
			h := maphash.String(seed, id) & last
			seen[h/64] |= 1 << (h % 64)
		}
	}
	return wanted, s.data.ScanIDs(func(pool, row int, id []byte) bool {
		if h := maphash.Bytes(seed, id) & last; seen[h/64]>>(h%64)&1 != 0 {
			if p, is := wanted[string(id)]; is && p.pool < 0 {
				take(pool, int32(row), string(id))
			}
		}
		return missing > 0
	})
}
