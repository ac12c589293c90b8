//go:build unix

package main

import (
	"bufio"
	bits "encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// TestStudySpeed measures a study of ten million rows for docs/study.md: make study-speed.
func TestStudySpeed(t *testing.T) {
	if os.Getenv("AMTRL_STUDY_SPEED") == "" {
		t.Skip("it writes half a gigabyte; make study-speed runs it")
	}
	const rows, sources, width, target = 10_000_000, 100, 8, 1000
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	folder, rng := filepath.Join(dir, "data"), rand.New(rand.NewPCG(1, 2))
	must.Do(t, os.Mkdir(folder, 0o755))
	array := func(name, descr string, shape []int, n int, append func(dst []byte, i int) []byte) {
		f := must.Get(os.Create(filepath.Join(folder, name)))(t)
		w := bufio.NewWriterSize(f, 1<<20)
		must.Get(w.Write(npy.FormatHeader(descr, shape...)))(t)
		var raw []byte
		for i := range n {
			raw = append(raw[:0], i)
			must.Get(w.Write(raw))(t)
		}
		must.Do(t, w.Flush())
		must.Do(t, f.Close())
	}
	le := bits.LittleEndian
	array("features.npy", "<f2", []int{rows, width}, rows, func(dst []byte, _ int) []byte {
		for range 2 { // each word holds four float16 between 1 and 2
			dst = le.AppendUint64(dst, rng.Uint64()&0x03ff03ff03ff03ff|0x3c003c003c003c00)
		}
		return dst
	})
	array("rows.npy", "<i8", []int{rows}, rows, func(dst []byte, i int) []byte { return le.AppendUint64(dst, uint64(i)) })
	array("ids.npy", "|u1", []int{9 * rows}, rows, func(dst []byte, i int) []byte { return fmt.Appendf(dst, "r%08d", i) })
	array("id-ends.npy", "<i8", []int{rows}, rows, func(dst []byte, i int) []byte { return le.AppendUint64(dst, uint64(9*(i+1))) })
	array("labels-0.npy", "<i4", []int{rows}, rows, func(dst []byte, i int) []byte {
		label := int32(-1)
		if i >= rows-target && i < rows-target+200 {
			label = int32(i % 2)
		}
		return le.AppendUint32(dst, uint32(label))
	})
	var list []string
	for m := range sources {
		list = append(list, fmt.Sprintf(`{"name":"s%03d","rows":%d,"cost":1}`, m, (rows-target)/sources))
	}
	list = append(list, fmt.Sprintf(`{"name":"target","rows":%d,"cost":1}`, target))
	header := fmt.Sprintf(`{"version":1,"name":"large","key":"k","rows":%d,"cols":%d,"element":"float16","features":["x"],"id":"id",`+
		`"split":false,"target":"target","outputs":[{"name":"label","type":"classes","classes":["no","yes"]}],"sources":[%s],"files":[]}`,
		rows, width, strings.Join(list, ","))
	must.Do(t, os.WriteFile(filepath.Join(folder, "data.json"), []byte(header), 0o644))

	timed := func(what string, args ...string) {
		t.Helper()
		cmd := command(dir, append([]string{"study"}, args...)...)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		kib := int64(used.Maxrss)
		if runtime.GOOS == "darwin" {
			kib >>= 10
		}
		t.Logf("%-45s %5.2f s, %5.2f s of processor, %4d MiB", what, time.Since(start).Seconds(),
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), kib>>10)
	}
	answers := func(name string, n int, id func(i int) string) {
		var text strings.Builder
		text.WriteString("id,label\n")
		for i := range n {
			text.WriteString(id(i) + "," + []string{"no", "yes"}[rng.IntN(2)] + "\n")
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o644))
	}
	timed("new, of 10 million rows", "new", "S", "--data", "data", "--round-budget", "100000")
	timed("ask for 100,000 rows", "ask", "S", "--out", "ask.csv")
	asked := readTable(t, filepath.Join(dir, "ask.csv"))[1:]
	answers("answers.csv", len(asked), func(i int) string { return asked[i][0] })
	timed("tell "+strconv.Itoa(len(asked))+" labels that were asked for", "tell", "S", "answers.csv")
	timed("learn a round and ask for 100,000 more rows", "ask", "S")
	timed("status", "status", "S")
	timed("new, another study", "new", "T", "--data", "data", "--round-budget", "100000")
	picked := rng.Perm((rows - target) / 10)[:100_000]
	answers("unasked.csv", len(picked), func(i int) string { return fmt.Sprintf("r%08d", 10*picked[i]) })
	timed("tell 100000 labels that nobody asked for", "tell", "T", "unasked.csv")
}
