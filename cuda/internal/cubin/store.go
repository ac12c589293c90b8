package cubin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// DefaultDir returns the folder amtrl/cubin in the user's cache folder, or what
// AMTRL_CUBIN_CACHE says instead: a folder, or off for none. It is empty where
// there is none.
func DefaultDir() string {
	switch dir := os.Getenv("AMTRL_CUBIN_CACHE"); dir {
	case "":
	case "off":
		return ""
	default:
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "amtrl", "cubin")
}

// magic begins every file; the checksum of the rest and the rest follow.
const magic = "amtrl cubin 1\n"

// key names code by all that it depends on.
func key(src Source, major, minor int) string {
	h := sha256.New()
	write := func(s string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	list := func(n int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	write(magic)
	list(major)
	list(minor)
	write(src.Target.option())
	write(src.Name)
	write(src.Text)
	list(len(src.Options))
	for _, o := range src.Options {
		write(o)
	}
	list(len(src.Headers))
	for _, f := range src.Headers {
		write(f.Name)
		write(f.Source)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key+".cubin") }

// load returns the code in a file, if it is whole.
func load(path string) ([]byte, bool) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) <= sha256.Size {
		return nil, false
	}
	image := rest[sha256.Size:]
	sum := sha256.Sum256(image)
	return bytes.Clone(image), bytes.Equal(sum[:], rest[:sha256.Size]) // a clone is aligned
}

// store writes a file, or leaves it. Two processes may compile the same source at
// the same time and meet in the temporary file: whatever comes of that is either
// whole or refused by its checksum and made again.
func store(path string, image []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	sum := sha256.Sum256(image)
	atomicfile.Write(path, []byte(magic), sum[:], image)
}
