//go:build unix

package columnar

import (
	"fmt"
	"syscall"

	"github.com/amtrl/amtrl/internal/datafile"
)

// mapFile maps a file into memory, read-only, until the process ends.
func mapFile(path string) ([]byte, error) {
	f, size, err := datafile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mapping it into memory: %w", path, err)
	}
	return raw, nil
}
