//go:build !unix

package columnar

import (
	"io"

	"github.com/amtrl/amtrl/internal/datafile"
)

// mapFile reads a file into memory, on systems where it cannot be mapped.
func mapFile(path string) ([]byte, error) {
	f, size, err := datafile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw := make([]byte, size)
	_, err = io.ReadFull(f, raw)
	return raw, err
}
