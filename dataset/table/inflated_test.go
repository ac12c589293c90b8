package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A compressed file that is cut off, goes on behind its end, has other bytes in it or becomes too large is refused by a line that names it
// once and says which. Two streams one behind the other are one.
func TestDamagedCompression(t *testing.T) {
	rng := testrand.New(t)
	const rows = 5000
	var lines, objects []string
	for range rows {
		x := rng.NormFloat64()
		lines, objects = append(lines, fmt.Sprintf("a,%g\n", x)), append(objects, fmt.Sprintf(`{"s": "a", "x": %g}`, x))
	}
	csv := "s,x\n" + strings.Join(lines, "")
	compress := map[string]func(string) []byte{
		"gz": func(s string) []byte {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			must.Get(w.Write([]byte(s)))(t)
			must.Do(t, w.Close())
			return out.Bytes()
		},
		"zst": func(s string) []byte {
			w := must.Get(zstd.NewWriter(nil, zstd.WithEncoderCRC(true)))(t)
			return w.EncodeAll([]byte(s), nil)
		},
	}
	for ending, pack := range must.Ordered(compress) {
		format := map[string]string{"gz": "gzip", "zst": "zstd"}[ending]
		for name, text := range must.Ordered(map[string]string{
			"d.csv": csv, "d.jsonl": strings.Join(objects, "\n"), "d.json": "[" + strings.Join(objects, ",\n") + "]",
		}) {
			whole, start := pack(text), text[:strings.LastIndex(text[:1000], "\n")+1]
			flipped := bytes.Clone(whole)
			flipped[len(whole)-3] ^= 1 // of the checksum
			for want, raw := range must.Ordered(map[string][]byte{
				"": whole,
				"expected a complete " + format + " stream, found a truncated one":                 whole[:20+rng.IntN(len(whole)-25)],
				"expected the end of the file behind the " + format + " stream, found other bytes": append(bytes.Clone(whole), make([]byte, 40)...),
				"expected a " + format + " stream, found a damaged one":                            flipped,
				"expected at most 16777216 bytes of a compressed file of ":                         pack(start + strings.Repeat(" ", 17<<20)),
			}) {
				file := name + "." + ending
				tab, err := OpenContent(file, raw, FormatOf(name))
				if err == nil {
					err = tab.Scan(Query{Scalars: []string{"s"}}, func(*Batch) error { return nil })
				}
				if want == "" {
					must.Do(t, err)
					continue
				}
				must.Fail(t, file, err, file+": ", want)
				must.Equal(t, strings.Count(fmt.Sprint(err), file), 1, "names in %v", err)
			}
		}
		twice := append(pack(csv), pack("a,1\n")...)
		tab := must.Get(OpenContent("d.csv."+ending, twice, CSV))(t)
		must.Do(t, tab.Scan(Query{Scalars: []string{"s"}}, func(*Batch) error { return nil }))
	}
}
