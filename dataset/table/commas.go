package table

import (
	"bufio"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// grouped matches numbers with points between thousands and a decimal comma, groups those with several points between thousands alone, and
// group those with one, which may also be a decimal point. thousands matches those with commas between thousands and possibly a decimal
// point.
var (
	groups    = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(\.\d{3}){2,}$`)
	group     = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}\.\d{3}$`)
	grouped   = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(\.\d{3})+,\d+$`)
	thousands = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
)

// HasDecimalComma reports whether s is a number with a decimal comma in place of the point, such as 0,5 or 1.359,50.
func HasDecimalComma(s string) bool {
	whole, part, has := strings.Cut(s, ",")
	if !has || whole == "" || part == "" || !isDigit(whole[len(whole)-1]) || !isDigit(part[0]) {
		return false
	}
	_, err := text.ParseNumber(whole + "." + part)
	return err == nil || grouped.MatchString(s)
}

// HasThousands reports whether s is a number with commas between thousands, such as 2,757,000. It is true of 1,359 too, whose comma may
// also be a decimal comma.
func HasThousands(s string) bool { return thousands.MatchString(s) }

// withPoint returns a number that has a decimal comma, such as 1.359,50 or 2,757, in the form that has a decimal point. Points between
// thousands are taken out. It returns other texts as they are. ok is false for numbers that have a point.
func withPoint(s string) (plain string, ok bool) {
	switch s = strings.TrimSpace(s); {
	case HasDecimalComma(s):
		whole, part, _ := strings.Cut(s, ",")
		return strings.ReplaceAll(whole, ".", "") + "." + part, true
	case groups.MatchString(s):
		return strings.ReplaceAll(s, ".", ""), true
	case strings.Contains(s, "."):
		_, err := text.ParseNumber(s)
		return s, err != nil
	}
	return s, true
}

// signs counts, among some cells of a column, the numbers by what their commas and points can be.
type signs struct {
	there   int  // cells that are not missing
	numbers int  // cells that are numbers, in any form
	commas  int  // those whose comma can only be a decimal sign
	points  int  // those whose point can only be a decimal sign
	groups  bool // whether the comma of one can only separate thousands
}

func (n *signs) add(cell string) {
	if isMissing(cell) {
		return
	}
	n.there++
	decimal, apart := HasDecimalComma(cell), HasThousands(cell)
	plain, ok := withPoint(cell)
	_, err := text.ParseNumber(plain)
	switch {
	case decimal || err == nil:
		n.numbers++
		if decimal && !apart {
			n.commas++
		}
		if !ok && !group.MatchString(cell) {
			n.points++
		}
	case apart:
		n.numbers++
		n.groups = true
	}
}

// could reports whether the numbers of a column could have decimal commas: nearly all cells are numbers, and none says otherwise, or fewer
// than say so, which are then the odd ones.
func (n *signs) could() bool {
	return (n.points == 0 || n.points < n.commas) && !n.groups && 10*n.numbers >= 9*n.there
}

// decimalCommas says for each column by its cells in some rows whether its numbers have decimal commas: those that could, if the comma of
// some number in one of these columns can only be a decimal sign.
func decimalCommas(columns int, rows iter.Seq[[]string]) []bool {
	counts := make([]signs, columns)
	for row := range rows {
		for j, cell := range row[:min(len(row), columns)] {
			counts[j].add(strings.TrimSpace(cell))
		}
	}
	out := make([]bool, columns)
	if !slices.ContainsFunc(counts, func(n signs) bool { return n.commas > 0 && n.could() }) {
		return out
	}
	for j := range out {
		out[j] = counts[j].could()
	}
	return out
}

// Points are between thousands, not decimal, where all cells with a point have three digits behind it and all without one are whole numbers
// below 1,000: fewPoints or more of the former, and as many whole numbers above all that the former are as decimals.
const fewPoints = 10

// pointsBetweenThousands says for each column by its cells in some rows whether its points seem to be between thousands. Such a file, with
// semicolons between cells, has whole numbers alone, and otherwise decimal commas.
func pointsBetweenThousands(columns int, rows iter.Seq[[]string]) []bool {
	type numbers struct {
		pointed, whole []float64 // their magnitudes
		others         bool
	}
	found, out := make([]numbers, columns), make([]bool, columns)
	for row := range rows {
		for j, cell := range row[:min(len(row), columns)] {
			n := &found[j]
			if cell = strings.TrimSpace(cell); isMissing(cell) || n.others {
				continue
			}
			x, err := text.ParseNumber(cell)
			switch x = math.Abs(x); {
			case err != nil: // such as 1.234.567
			case group.MatchString(cell):
				n.pointed = append(n.pointed, x)
			case x == math.Trunc(x) && x < 1000 && !strings.ContainsAny(cell, ".eE"):
				n.whole = append(n.whole, x)
			default:
				*n = numbers{others: true}
			}
		}
	}
	for j, n := range found {
		if len(n.pointed) < fewPoints {
			continue
		}
		most, above := slices.Max(n.pointed), 0
		for _, x := range n.whole {
			if x > most {
				above++
			}
		}
		out[j] = above >= fewPoints
	}
	return out
}

// PlainNumber says, for an error message, what was expected in place of s, which is not a plain number.
func PlainNumber(s string) string {
	switch decimal, apart := HasDecimalComma(s), HasThousands(s); {
	case decimal && apart:
		return "a number without a comma"
	case decimal:
		return "a number with a decimal point"
	case apart:
		return "a number without commas between thousands"
	}
	if unit := UnitOf(s); unit != "" {
		return "a number without " + unit
	}
	return "a number"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// separator matches the first line by which spreadsheets name the separator of cells, such as "sep=;".
var separator = regexp.MustCompile(`^(?i:"?sep=)([\t !#-~])"?\r?\n`)

// separatorOf returns the separator that the first line names, and consumes this line. Where the first line names none it returns 0 and
// consumes nothing.
func separatorOf(r *bufio.Reader) rune {
	line, _ := r.Peek(len("\"sep=;\"\r\n"))
	m := separator.FindSubmatch(line)
	if m == nil {
		return 0
	}
	r.Discard(len(m[0]))
	return rune(m[1][0])
}

// commaOf returns the separator of the cells of a CSV file, without consuming anything: a comma, or a semicolon or a tab, as spreadsheets
// write where numbers have a decimal comma. It is the separator that occurs equally often in the header row and in the first row, and of
// several the most frequent one; else the first of the three that the header row contains, or a comma. Separators within quotes do not
// count.
func commaOf(r *bufio.Reader) rune {
	const longest, commas = 1 << 15, ",;\t"
	head, _ := r.Peek(longest)
	var counts [2][len(commas)]int
	row, quoted := 0, false
	for _, c := range head {
		switch at := strings.IndexByte(commas, c); {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			row++
		case at >= 0:
			counts[row][at]++
		}
		if row == len(counts) {
			break
		}
	}
	best, first := -1, -1
	for i, n := range counts[0] {
		if n > 0 && first < 0 {
			first = i
		}
		if n > 0 && n == counts[1][i] && (best < 0 || n > counts[0][best]) {
			best = i
		}
	}
	switch {
	case best >= 0:
		return rune(commas[best])
	case first >= 0:
		return rune(commas[first])
	}
	return ','
}

// isPadded reports whether a blank follows each separator of the header row, as people write by hand: then blanks behind separators belong
// to no cell. It consumes nothing. Separators that are blanks themselves are never padded.
func isPadded(r *bufio.Reader, comma rune) bool {
	head, _ := r.Peek(1 << 15)
	line, _, _ := strings.Cut(string(head), "\n")
	_, rest, several := strings.Cut(line, string(comma))
	for name := range strings.SplitSeq(rest, string(comma)) {
		if !strings.HasPrefix(name, " ") {
			return false
		}
	}
	return several && comma != '\t' && comma != ' '
}
