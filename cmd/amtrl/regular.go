package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// checkRegular refuses what is not a file of at most so many bytes, without
// opening it: opening a pipe may wait for ever, and a device may never end.
func checkRegular(path string, most int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a regular file, found %s", path, kindOfFile(info.Mode()))
	}
	if info.Size() > most {
		return tooLarge(path, most)
	}
	return nil
}

// readRegular reads a file of at most so many bytes, whatever size it claims.
func readRegular(path string, most int64) ([]byte, error) {
	if err := checkRegular(path, most); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, tooLarge(path, most)
	}
	return raw, nil
}

func tooLarge(path string, most int64) error {
	return fmt.Errorf("%s: expected a file of at most %d bytes, found more", path, most)
}

func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return mode.String()
}
