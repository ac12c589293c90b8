package table

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoded returns the format of text in an encoding, such as "csv:windows-1252", which [Open] takes as it takes format. It returns format
// as it is where encoding is empty, and for the formats that are no text.
func Encoded(format, encoding string) string {
	switch format {
	case CSV, TSV, JSONL, JSON:
		if encoding != "" {
			return format + ":" + encoding
		}
	}
	return format
}

// CheckEncoding returns an error where name is none of the encodings of text by the WHATWG Encoding Standard.
func CheckEncoding(name string) error {
	if _, err := htmlindex.Get(name); err != nil {
		return fmt.Errorf("expected an encoding of text such as windows-1252, shift_jis or gb18030, found %q", name)
	}
	return nil
}

// withEncoding returns the format without an encoding, which it keeps.
func (t *base) withEncoding(format string) (string, error) {
	format, name, is := strings.Cut(format, ":")
	if !is {
		return format, nil
	}
	if err := CheckEncoding(name); err != nil {
		return "", fmt.Errorf("%s: %w", t.path, err)
	}
	t.encodingName = name
	t.encoding, _ = htmlindex.Get(name)
	return format, nil
}

// decoded is a text that is read as UTF-8.
type decoded struct {
	io.Reader
	io.Closer
}

// asUTF8 returns the text of in as UTF-8: from UTF-16 if it begins with the byte-order mark of that, as spreadsheets and Windows PowerShell
// write it, from UTF-8 if it begins with that of this, and else from the encoding that was given.
func (t *base) asUTF8(in io.ReadCloser) io.ReadCloser {
	buffered := bufio.NewReader(in)
	mark, _ := buffered.Peek(3) // Read returns the error, if it lasts
	marked := bytes.HasPrefix(mark, []byte("\xff\xfe")) || bytes.HasPrefix(mark, []byte("\xfe\xff"))
	if t.encoding == nil && !marked || string(mark) == "\ufeff" {
		return decoded{buffered, in}
	}
	of, from := t.encodingName, t.encoding
	if marked {
		of, from = "UTF-16, as its byte-order mark says", unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	}
	return decoded{transform.NewReader(buffered, whole{of, from.NewDecoder()}), in}
}

// whole is a decoder that refuses what it can only replace.
type whole struct {
	of string
	transform.Transformer
}

func (w whole) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = w.Transformer.Transform(dst, src, atEOF)
	if bytes.ContainsRune(dst[:nDst], utf8.RuneError) {
		return 0, 0, fmt.Errorf("expected %s, found bytes that are no character of it", w.of)
	}
	return nDst, nSrc, err
}
