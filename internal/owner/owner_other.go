//go:build !unix

package owner

import "io/fs"

func owners(fs.FileInfo) (uid, me int, ok bool) { return 0, 0, false }
