package table

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// utf16Of returns the text in UTF-16 with a byte-order mark.
func utf16Of(order binary.AppendByteOrder, text string) (out []byte) {
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// readPair returns the cells of the columns a and b, or the error.
func readPair(path, format string) (cells []string, err error) {
	tab, err := Open(path, format)
	if err != nil {
		return nil, err
	}
	defer tab.Close()
	return cells, tab.Scan(Query{Scalars: []string{"a", "b"}}, func(b *Batch) error {
		for i := range b.Rows {
			cells = append(cells, b.Scalars[0].Name(i), b.Scalars[1].Name(i))
		}
		return nil
	})
}

// A file in UTF-16 with a byte-order mark is read as it would be in UTF-8, compressed or not.
func TestUTF16(t *testing.T) {
	rng := testrand.New(t)
	words := []string{"ja", "Zürich", "Île-de-France", "北京", "🌾", "quality, or not", "a\u2028b"}
	for _, format := range []string{CSV, TSV, JSONL, JSON} {
		var all strings.Builder
		rows := 1 + rng.IntN(3000)
		if format == CSV || format == TSV {
			fmt.Fprintln(&all, strings.ReplaceAll("a,b", ",", map[string]string{CSV: ",", TSV: "\t"}[format]))
		}
		var want []string
		for i := range rows {
			a, b := words[rng.IntN(len(words))], words[rng.IntN(len(words))]
			want = append(want, a, b)
			switch format {
			case JSON:
				fmt.Fprintf(&all, "%s{%q: %q, %q: %q}", []string{"[", ",\n"}[min(i, 1)], "a", a, "b", b)
			case JSONL:
				fmt.Fprintf(&all, "{%q: %q, %q: %q}\n", "a", a, "b", b)
			case TSV:
				fmt.Fprintf(&all, "%s\t%s\r\n", a, b)
			default:
				fmt.Fprintf(&all, "\"%s\",\"%s\"\n", a, b)
			}
		}
		if format == JSON {
			all.WriteString("]")
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			raw := utf16Of(order, all.String())
			path := filepath.Join(t.TempDir(), "x."+format)
			must.Do(t, os.WriteFile(path, raw, 0o644))
			must.Hold(t, slices.Equal(must.Get(readPair(path, format))(t), want), "cells of %s differ", format)
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			must.Get(z.Write(raw))(t)
			must.Do(t, z.Close())
			must.Do(t, os.WriteFile(path, packed.Bytes(), 0o644))
			must.Hold(t, slices.Equal(must.Get(readPair(path, format))(t), want), "cells of compressed %s differ", format)
		}
	}
}

// A file in UTF-16 that was cut within a character, or has half of one, is refused.
func TestUTF16Damaged(t *testing.T) {
	rng := testrand.New(t)
	raw := utf16Of(binary.LittleEndian, "a,b\n"+strings.Repeat("Köln,🌾\n", 1+rng.IntN(2000)))
	cut := raw[:len(raw)-1-2*rng.IntN(3)]
	half := append([]byte{}, raw...)
	binary.LittleEndian.PutUint16(half[len(half)-6:], 0xdc00) // the character's second half twice
	for name, damaged := range map[string][]byte{"cut": cut, "half": half} {
		path := filepath.Join(t.TempDir(), "x.csv")
		must.Do(t, os.WriteFile(path, damaged, 0o644))
		_, err := readPair(path, CSV)
		must.Fail(t, name, err, path+": ", "expected UTF-16, as its byte-order mark says, found bytes that are no character of it")
	}
}

// Text in an encoding that is given is read as it would be in UTF-8, whatever follows a byte-order mark is in that of the mark, and bytes
// that are no character are refused, as is an encoding that there is not.
func TestGivenEncoding(t *testing.T) {
	rng := testrand.New(t)
	for name, words := range must.Ordered(map[string][]string{
		"windows-1252": {"Zürich", "Île-de-France", "50 €", "naïve"}, "windows-1251": {"Москва", "урожай"}, "shift_jis": {"東京", "能力", "ソ"},
		"gb18030": {"北京", "🌾", "é"}, "windows-1250": {"Łódź", "Żyto"}, "latin1": {"Köln"},
	}) {
		all, want := "a,b\n", []string{}
		for range 1 + rng.IntN(2000) {
			a, b := words[rng.IntN(len(words))], words[rng.IntN(len(words))]
			all, want = all+a+","+b+"\r\n", append(want, a, b)
		}
		e := must.Get(htmlindex.Get(name))(t)
		path := filepath.Join(t.TempDir(), "x.csv")
		for of, raw := range map[string]string{
			name: must.Get(e.NewEncoder().String(all))(t), "UTF-8 with a mark": "\ufeff" + all, "UTF-16": string(utf16Of(binary.LittleEndian, all)),
		} {
			must.Do(t, os.WriteFile(path, []byte(raw), 0o644))
			must.Hold(t, slices.Equal(must.Get(readPair(path, Encoded(CSV, name)))(t), want), "cells of %s, given as %s, differ", of, name)
		}
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Do(t, os.WriteFile(path, []byte("a,b\nx,\x81\xff\n"), 0o644))
	_, err := readPair(path, Encoded(CSV, "shift_jis"))
	must.Fail(t, "bytes", err, path+": ", "expected shift_jis, found bytes that are no character of it")
	_, err = readPair(path, Encoded(CSV, "nonsense"))
	must.Fail(t, "encoding", err, path+": ", `expected an encoding of text such as windows-1252, shift_jis or gb18030, found "nonsense"`)
	must.Equal(t, Encoded(Parquet, "latin1"), Parquet, "format")
}
