//go:build unix

package columnar

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/amtrl/amtrl/internal/datafile"
)

// mappings holds the files that are mapped, by path. A process that opens the same import again and again maps its files once.
var mappings = struct {
	sync.Mutex
	of map[string]mapping
}{of: map[string]mapping{}}

type mapping struct {
	info fs.FileInfo
	raw  []byte
}

// mapFile maps a file into memory, read-only, until the process ends.
func mapFile(path string) ([]byte, error) {
	f, size, err := datafile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	mappings.Lock()
	defer mappings.Unlock()
	if m, ok := mappings.of[path]; ok && os.SameFile(m.info, info) && m.info.Size() == size && m.info.ModTime().Equal(info.ModTime()) {
		return m.raw, nil
	}
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mapping it into memory: %w", path, err)
	}
	mappings.of[path] = mapping{info, raw}
	return raw, nil
}
