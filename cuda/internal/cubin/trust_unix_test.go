//go:build unix

package cubin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// stranger is any user but this one and root.
const stranger = 12345

// Code in the cache that another user may have written is not run: the file is neither read nor overwritten, and Check
// says why.
func TestWhatOthersMayWriteIsNotUsed(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir, file string) error
		why   string // what Check says; empty if the folder itself is in order
		root  bool   // needs root
	}{
		{name: "folder others may write", why: "others may write to it",
			spoil: func(_ *testing.T, dir, _ string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }},
		{name: "folder the group may write", why: "others may write to it",
			spoil: func(_ *testing.T, dir, _ string) error { return os.Chmod(dir, 0o770) }},
		{name: "another's folder", why: "belongs to user 12345", root: true,
			spoil: func(_ *testing.T, dir, _ string) error { return os.Chown(dir, stranger, -1) }},
		{name: "folder behind a link", why: "symbolic link",
			spoil: func(t *testing.T, dir, _ string) error {
				if err := os.Rename(dir, dir+"2"); err != nil {
					return err
				}
				return os.Symlink(dir+"2", dir)
			}},
		{name: "file others may write", spoil: func(_ *testing.T, _, file string) error { return os.Chmod(file, 0o666) }},
		{name: "another's file", root: true, spoil: func(_ *testing.T, _, file string) error { return os.Chown(file, stranger, -1) }},
		{name: "file behind a link", spoil: func(_ *testing.T, dir, file string) error {
			if err := os.Rename(file, filepath.Join(filepath.Dir(dir), "elsewhere")); err != nil {
				return err
			}
			return os.Symlink("../elsewhere", file)
		}},
		{name: "file of another source", spoil: func(t *testing.T, dir, file string) error {
			src := source()
			src.Text = "other code"
			if _, err := NewCache(dir).Compile(&seam{}, src); err != nil {
				return err
			}
			for _, other := range files(t, dir) {
				if other != file {
					return os.Rename(other, file)
				}
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Getuid() != 0 {
				t.Skip("another owner needs root")
			}
			compiler, dir := &seam{}, folder(t)
			want := must.Get(NewCache(dir).Compile(compiler, source()))(t)
			file := files(t, dir)[0]
			must.Do(t, c.spoil(t, dir, file))
			before := files(t, dir)
			got, err := NewCache(dir).Compile(compiler, source())
			if err != nil || got.Cached || !bytes.Equal(got.Image, want.Image) {
				t.Errorf("%+v, %v; want it compiled anew", got, err)
			}
			err = Check(dir)
			if c.why == "" {
				if st, e := os.Lstat(file); err != nil || e != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 {
					t.Errorf("Check: %v; the file is now %v, %v, want it made again", err, st, e)
				}
				return
			}
			must.Fail(t, "Check", err, c.why, dir)
			must.Do(t, os.Remove(file))
			must.Get(NewCache(dir).Compile(compiler, source()))(t)
			if after := files(t, dir); len(after) != len(before)-1 {
				t.Errorf("it was written to: %q", after)
			}
		})
	}
}

// Compile does not write through a link in the place of a temporary file.
func TestPlantedTemporaryFile(t *testing.T) {
	dir := folder(t)
	must.Get(NewCache(dir).Compile(&seam{}, source()))(t)
	file, victim := files(t, dir)[0], filepath.Join(t.TempDir(), "victim")
	must.Do(t, os.WriteFile(victim, []byte("precious"), 0o644))
	must.Do(t, os.Remove(file))
	must.Do(t, os.Symlink(victim, filepath.Join(dir, "."+filepath.Base(file)+".tmp")))
	for range 2 {
		must.Get(NewCache(dir).Compile(&seam{}, source()))(t)
	}
	must.Equal(t, string(must.Get(os.ReadFile(victim))(t)), "precious", "the file behind the link")
}
