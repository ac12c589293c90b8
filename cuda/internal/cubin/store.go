package cubin

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/internal/owner"
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
const magic = "amtrl cubin 2\n"

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

func fileName(key string) string { return key + ".cubin" }

// Check returns why the cache does not use a folder: it is none, a symbolic link, another user's, or one that
// others may write to, and so choose what runs here. A folder that is not there yet is in order.
func Check(dir string) error {
	root, err := open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.Close()
}

// open opens a folder that is this user's or root's alone. What is then done by way of the root stays in
// that folder, whatever becomes of its name.
func open(dir string) (*os.Root, error) {
	named, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if named.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: a symbolic link, expected a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = errors.New("was replaced while it was opened")
	}
	if err == nil {
		err = owner.Check(opened)
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return root, nil
}

// checksum is of the code and of what it was compiled from, so that no file can take another's place.
func checksum(key string, image []byte) []byte {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write(image)
	return h.Sum(nil)
}

// load returns the code that a folder has under a key, if it is whole and nobody else's.
func load(dir, key string) ([]byte, bool) {
	root, err := open(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	if st, err := root.Lstat(fileName(key)); err != nil || !st.Mode().IsRegular() || owner.Check(st) != nil {
		return nil, false
	}
	data, err := root.ReadFile(fileName(key))
	if err != nil {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) <= sha256.Size {
		return nil, false
	}
	image := rest[sha256.Size:]
	return bytes.Clone(image), bytes.Equal(checksum(key, image), rest[:sha256.Size]) // a clone is aligned
}

// store writes a file, or leaves it. It is not synced: what a crash leaves of it is refused by its checksum.
func store(dir, key string, image []byte) {
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	root, err := open(dir)
	if err != nil {
		return
	}
	defer root.Close()
	temporary := "." + key + "." + rand.Text()
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return
	}
	_, err = f.Write(slices.Concat([]byte(magic), checksum(key, image), image))
	if errors.Join(err, f.Close()) != nil || root.Rename(temporary, fileName(key)) != nil {
		root.Remove(temporary)
	}
}
