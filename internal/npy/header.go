package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/datafile"
)

// The NPY format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
const (
	magic     = "\x93NUMPY"
	maxHeader = 10000 // NumPy's own limit on the text of an untrusted header
	maxRank   = 32
)

// Header is the description of the array in an NPY file.
type Header struct {
	Descr   string // element type, such as "<f4"
	Fortran bool
	Shape   []int
	Data    int64 // offset of the first element
}

// ReadHeader reads the magic, the version and the header text, versions 1 to 3, and leaves r at the first element. The
// product of the dimensions fits an int; it is not compared with what follows. The parser of npyio would panic on a
// broken header, and does not know version 3.
func ReadHeader(path string, r io.Reader) (Header, error) {
	var head [12]byte
	if n, err := io.ReadFull(r, head[:8]); err != nil {
		return Header{}, readError(path, int64(n), "an NPY header", err)
	}
	if string(head[:6]) != magic {
		return Header{}, datafile.Fault(path, 0, "the NPY magic %q", "%q", magic, head[:6])
	}
	if head[6] < 1 || head[6] > 3 || head[7] != 0 {
		return Header{}, datafile.Fault(path, 6, "NPY version 1.0, 2.0 or 3.0", "%d.%d", head[6], head[7])
	}
	start := 10
	if head[6] > 1 {
		start = 12
	}
	if n, err := io.ReadFull(r, head[8:start]); err != nil {
		return Header{}, readError(path, int64(8+n), "the length of the header", err)
	}
	size := binary.LittleEndian.Uint32(head[8:])
	if size > maxHeader {
		return Header{}, datafile.Fault(path, 8, "a header of at most %d bytes", "%d", maxHeader, size)
	}
	text := make([]byte, size)
	if n, err := io.ReadFull(r, text); err != nil {
		return Header{}, readError(path, int64(start+n), fmt.Sprintf("a header of %d bytes", size), err)
	}
	p := parser{path: path, text: text, start: start}
	p.dict()
	p.header.Data = int64(start + len(text))
	return p.header, p.err
}

func readError(path string, offset int64, expected string, err error) error {
	if datafile.EndsEarly(err) {
		return datafile.Fault(path, offset, "%s", "the end of the file", expected)
	}
	return fmt.Errorf("%s: byte %d: %w", path, offset, err)
}

// parser reads the header text, the Python dict literal
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (5000, 784), }
//
// with its three keys in any order. After the first error it does nothing.
type parser struct {
	path   string
	text   []byte
	start  int // offset of text in the file
	pos    int
	header Header
	err    error
}

func (p *parser) dict() {
	p.expect("{")
	seen := map[string]bool{}
	for p.err == nil && !p.accept("}") {
		p.space()
		at := p.pos
		key := p.quoted("a key")
		p.expect(":")
		switch {
		case p.err != nil:
			return
		case seen[key]:
			p.pos = at
			p.fail("each key once")
		case key == "descr":
			p.header.Descr = p.quoted("a plain element type")
		case key == "fortran_order":
			p.header.Fortran = p.boolean()
		case key == "shape":
			p.header.Shape = p.tuple()
		default:
			p.pos = at
			p.fail("'descr', 'fortran_order' or 'shape'")
		}
		seen[key] = true
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	p.space()
	if p.pos < len(p.text) {
		p.fail("blanks after the dict")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			p.fail("the key '" + key + "' before the end of the dict")
		}
	}
}

// fail records that something else was expected at the current position.
func (p *parser) fail(expected string) {
	if p.err != nil {
		return
	}
	rest := p.text[p.pos:]
	found := "the end of the header"
	if len(rest) > 0 {
		found = strconv.QuoteToASCII(string(rest[:min(len(rest), 20)]))
	}
	p.err = datafile.Fault(p.path, int64(p.start+p.pos), "%s", "%s", expected, found)
}

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// accept skips blanks and then token, and reports whether token came next.
func (p *parser) accept(token string) bool {
	p.space()
	if p.err != nil || !bytes.HasPrefix(p.text[p.pos:], []byte(token)) {
		return false
	}
	p.pos += len(token)
	return true
}

func (p *parser) expect(token string) {
	if !p.accept(token) {
		p.fail(strconv.Quote(token))
	}
}

// quoted reads a string literal without escapes.
func (p *parser) quoted(what string) string {
	p.space()
	for _, quote := range []string{"'", `"`} {
		if !p.accept(quote) {
			continue
		}
		n := bytes.IndexByte(p.text[p.pos:], quote[0])
		if n < 0 || bytes.ContainsAny(p.text[p.pos:p.pos+n], "\\\n") {
			p.fail(what + " that ends with " + quote)
			return ""
		}
		s := string(p.text[p.pos : p.pos+n])
		p.pos += n + 1
		return s
	}
	p.fail(what + " in quotes")
	return ""
}

func (p *parser) boolean() bool {
	yes := p.accept("True")
	if !yes && !p.accept("False") {
		p.fail("True or False")
	}
	return yes
}

// tuple reads a tuple of dimensions whose product fits an int.
func (p *parser) tuple() []int {
	p.expect("(")
	shape, product := []int{}, 1
	for p.err == nil && !p.accept(")") {
		at := p.pos
		n := 0
		for at+n < len(p.text) && p.text[at+n] >= '0' && p.text[at+n] <= '9' {
			n++
		}
		d, err := strconv.Atoi(string(p.text[at : at+n]))
		if err != nil || d > 0 && product > math.MaxInt/d {
			p.fail("a dimension of an array that fits in memory")
			break
		}
		if len(shape) == maxRank {
			p.fail(fmt.Sprintf("at most %d dimensions", maxRank))
			break
		}
		shape, product = append(shape, d), product*d
		p.pos += n
		if p.accept(",") {
			continue
		}
		if len(shape) == 1 {
			p.fail(`"," after a single dimension`)
		}
		p.expect(")")
		break
	}
	return shape
}

// FormatHeader returns the header that NumPy itself writes for a C-order array, padded with blanks so that the elements
// start at a multiple of 64 bytes.
func FormatHeader(descr string, shape ...int) []byte {
	tuple := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if len(shape) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	const fixed, align = len(magic) + 2 + 2, 64
	text += strings.Repeat(" ", align-1-(fixed+len(text))%align) + "\n"
	header := append([]byte(magic), 1, 0)
	header = binary.LittleEndian.AppendUint16(header, uint16(len(text)))
	return append(header, text...)
}
