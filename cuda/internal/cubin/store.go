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

// DefaultDir returns the folder that AMTRL_CUBIN_CACHE names, or by default amtrl/cubin in the user's cache
// folder. It returns "" where AMTRL_CUBIN_CACHE is off or the user has no cache folder.
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

// magic begins every file; the checksum and the code follow.
const magic = "amtrl cubin 2\n"

// key returns a hash of everything that the code depends on.
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

// Check returns an error that says why the cache does not use dir: it is no folder, is a symbolic link,
// belongs to another user, or can be written to by others, who could so choose what runs here. It returns nil
// where dir does not exist yet.
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

// open opens a folder that belongs to this user or root and that no one else may write to. What is then done
// through the root stays in that folder, whatever becomes of its name.
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

// checksum returns the hash of the code and its key, so that no file can take the place of another.
func checksum(key string, image []byte) []byte {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write(image)
	return h.Sum(nil)
}

// load returns the code that dir holds under key. It returns false where there is none, its checksum is
// wrong, or others could have written it.
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

// store writes the code to dir under key; it ignores failures. The file is not synced: what a crash leaves of
// it has a wrong checksum.
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
