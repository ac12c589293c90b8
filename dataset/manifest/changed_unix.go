//go:build unix

package manifest

import "golang.org/x/sys/unix"

// changed returns the time of the last change of a file, in nanoseconds since 1970, which programs cannot set as they set that of the last
// modification. It is 0 where it cannot be had.
func changed(path string) int64 {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return 0
	}
	return s.Ctim.Nano()
}
