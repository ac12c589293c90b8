package table

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/amtrl/amtrl/internal/must"
)

// A file in an encoding other than UTF-8, or UTF-16 with a mark, is refused, with the bytes that show it.
func TestEncodingOfCSV(t *testing.T) {
	const text = "Nr,Temp °C,Ort\n1,20.5,Köln\n"
	latin := toLatin1(text)
	little := must.Get(binary.Append(nil, binary.LittleEndian, utf16.Encode([]rune(text))))(t)
	path := filepath.Join(t.TempDir(), "x.csv")
	for _, c := range []struct{ name, content, want string }{
		{"Latin-1", latin, "line 1, column 2: expected UTF-8, found the byte 0xb0 in \"Temp ?C\": save it as CSV in UTF-8"},
		{"no mark", string(little), "line 1, column 1: expected UTF-8, found bytes 0x00, as UTF-16 has them, in "},
		{"cut", "\xef,b\n", "found the byte 0xef"},
	} {
		must.Do(t, os.WriteFile(path, []byte(c.content), 0o644))
		_, err := Open(path, CSV)
		must.Fail(t, c.name, err, path+": ", c.want)
	}
	must.Do(t, os.WriteFile(path, []byte(strings.Replace(text, "Nr", "\ufffd", 1)), 0o644))
	must.Do(t, must.Get(Open(path, CSV))(t).Close())
	must.Do(t, os.WriteFile(path, []byte(strings.Replace(latin, "\xb0", "", 1)), 0o644))
	tab := must.Get(Open(path, CSV))(t)
	defer tab.Close()
	must.Do(t, tab.Scan(Query{Scalars: []string{"Ort", "Nr"}}, func(b *Batch) error {
		must.Fail(t, "a cell", b.CheckUTF8(0, "Ort", b.Scalars[0].Name(0)), path,
			`line 2, column Ort: expected UTF-8, found the byte 0xf6 in "K?ln"`)
		return b.CheckUTF8(0, "Nr", b.Scalars[1].Name(0))
	}))
}

// toLatin1 returns the text with one byte for each character.
func toLatin1(text string) string {
	var out []byte
	for _, r := range text {
		out = append(out, byte(r))
	}
	return string(out)
}
