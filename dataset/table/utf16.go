package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded is a text that begins with the byte-order mark of UTF-16, as spreadsheets and Windows PowerShell write it, read as UTF-8.
type decoded struct {
	io.Reader
	io.Closer
}

// asUTF8 returns the text of in as UTF-8, if it begins with the byte-order mark of UTF-16, and otherwise in as it is.
func asUTF8(in io.ReadCloser) io.ReadCloser {
	buffered := bufio.NewReader(in)
	mark, _ := buffered.Peek(2) // Read returns the error, if it lasts
	if !bytes.Equal(mark, []byte("\xff\xfe")) && !bytes.Equal(mark, []byte("\xfe\xff")) {
		return decoded{buffered, in}
	}
	decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	return decoded{transform.NewReader(buffered, whole{decoder.Transformer}), in}
}

// whole is a decoder that refuses what it can only replace.
type whole struct{ transform.Transformer }

var errHalf = errors.New("expected UTF-16, as the byte-order mark says, found half of a character")

func (w whole) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = w.Transformer.Transform(dst, src, atEOF)
	if bytes.ContainsRune(dst[:nDst], utf8.RuneError) {
		return 0, 0, errHalf
	}
	return nDst, nSrc, err
}
