package table

import (
	"bufio"
	"regexp"
	"strconv"
	"strings"
)

// Numbers whose thousands stand apart, with a comma for the decimal sign and with a point.
var (
	grouped   = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(\.\d{3})+,\d+$`)
	thousands = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
)

// HasDecimalComma tells whether a text is a number but for a comma in the place of the point,
// such as 0,5 or 1.359,50.
func HasDecimalComma(s string) bool {
	whole, part, has := strings.Cut(s, ",")
	if !has || whole == "" || part == "" || !isDigit(whole[len(whole)-1]) || !isDigit(part[0]) {
		return false
	}
	_, err := strconv.ParseFloat(whole+"."+part, 64)
	return err == nil || grouped.MatchString(s)
}

// HasThousands tells whether a text is a number but for commas between thousands, such as 2,757,000.
// So is 1,359, which can have a decimal comma as well.
func HasThousands(s string) bool { return thousands.MatchString(s) }

// PlainNumber says what is expected in the place of a text that is no number.
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

// separator is the first line with which spreadsheets say what separates the cells.
var separator = regexp.MustCompile(`^(?i:"?sep=)([\t !#-~])"?\r?\n`)

// separatorOf reads that line, and returns 0 and reads nothing where there is none.
func separatorOf(r *bufio.Reader) rune {
	line, _ := r.Peek(len("\"sep=;\"\r\n"))
	m := separator.FindSubmatch(line)
	if m == nil {
		return 0
	}
	r.Discard(len(m[0]))
	return rune(m[1][0])
}

// commaOf is what separates the cells of a CSV file: a comma, or a semicolon or a tab, as spreadsheets write where numbers have
// a decimal comma. It is what the header has and the first row has as often; of several the most frequent in the header, and of
// none the first that the header has.
func commaOf(r *bufio.Reader) rune {
	const longest, commas = 1 << 15, ",;\t"
	text, _ := r.Peek(longest)
	var counts [2][len(commas)]int
	row, quoted := 0, false
	for _, c := range text {
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
