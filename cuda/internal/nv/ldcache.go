package nv

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
)

// cacheDirs returns the directories in which the dynamic loader's cache lists any of the sonames,
// in the cache's order. It returns none where the cache is absent or of another format.
func cacheDirs(path string, sonames []string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	// glibc's sysdeps/generic/dl-cache.h: a header of 48 bytes, entries of 24,
	// strings at offsets from the header. Older releases put another cache first.
	const magic, header, entry = "glibc-ld.so.cache1.1", 48, 24
	at := bytes.Index(data, []byte(magic))
	if at < 0 || len(data) < at+header {
		return nil
	}
	data = data[at:]
	n := uint64(binary.LittleEndian.Uint32(data[20:]))
	if n*entry > uint64(len(data)-header) {
		return nil
	}
	var dirs []string
	for i := range int(n) {
		e := data[header+i*entry:]
		name := cString(data, binary.LittleEndian.Uint32(e[4:]))
		if !slices.Contains(sonames, name) {
			continue
		}
		file := cString(data, binary.LittleEndian.Uint32(e[8:]))
		if dir := filepath.Dir(file); filepath.IsAbs(file) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func cString(data []byte, at uint32) string {
	if uint64(at) >= uint64(len(data)) {
		return ""
	}
	s, _, _ := bytes.Cut(data[at:], []byte{0})
	return string(s)
}
