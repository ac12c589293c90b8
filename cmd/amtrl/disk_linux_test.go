package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A disk that fills up in the middle of a run or sweep is reported in one line. The finished epochs or units stay
// intact, and once there is room the command ends with the same bytes as ever. A complete folder is shown even if it
// cannot be written.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	type work struct {
		name, size string
		args       []string
	}
	for _, test := range must.Some(testrand.New(t), 1, []work{
		{"run", "size=80k", tiny("run", "--budget", "3000", "--epochs", "5")},
		{"sweep", "size=150k", tiny("sweep", "--budgets", "600", "--targets", "fog_*", "--jobs", "1")},
	}...) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk := smallDisk(t, dir, test.size)
			succeed(t, dir, append(test.args, "--out", "whole")...)
			small := filepath.Join(disk, "small")
			o := amtrl(t, dir, append(test.args, "--out", small)...)
			if o.Code != 1 || !strings.HasPrefix(lastLine(o.Stderr), "amtrl: ") ||
				!strings.HasSuffix(lastLine(o.Stderr), "no space left on device") {
				t.Fatalf("exit code %d: %s", o.Code, o.Stderr)
			}
			whole, partial := foldertest.Read(t, filepath.Join(dir, "whole")), foldertest.Read(t, small)
			finished := 0
			for name, text := range partial {
				if strings.HasPrefix(name, "results") || name == "config.json" {
					finished++
					if text != whole[name] {
						t.Errorf("%s is not what it should be", name)
					}
				}
				if strings.HasPrefix(name, "checkpoint") {
					finished++
				}
			}
			if finished < 2 {
				t.Errorf("only %d files were finished before the disk was full", finished)
			}
			must.Do(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"))
			amtrl(t, dir, append(test.args, "--out", small)...).Complains(t, 0, "resuming after")
			foldertest.Same(t, small, filepath.Join(dir, "whole"))
			must.Do(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			amtrl(t, dir, append(test.args, "--out", small)...).Complains(t, 0, "already complete")
			amtrl(t, dir, append(test.args, "--out", filepath.Join(disk, "new"), "--dry-run")...).Complains(t, 1, "read-only file system")
		})
	}
}

// submit on a full disk is reported in one line and leaves no half-made folder; once there is room the run goes on.
func TestSubmitFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := smallDisk(t, dir, "size=40k")
	run := filepath.Join(disk, "run")
	args := eight("submit", run, "--quiet", "--seeds", "0-99")
	ended(t, dir, run)
	o := amtrl(t, dir, args...)
	o.ComplainsOnce(t, 1, "no space left on device")
	amtrl(t, dir, "status", run).Complains(t, 1, "is no run folder")
	must.Do(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT, "size=100k"))
	// There is room for the folder, but not for the tasks.
	small := eight("submit", run, "--quiet")
	succeed(t, dir, small...)
	amtrl(t, dir, "status", run, "--wait").Prints(t, 1)
	must.Do(t, syscall.Mount("amtrl", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"))
	succeed(t, dir, "retry", run, "--failed")
	succeed(t, dir, "status", run, "--wait", "--quiet")
	succeed(t, dir, "collect", run, "--out", "collected")
	succeed(t, dir, eight("sweep", "--quiet", "--out", "whole")...)
	foldertest.Same(t, filepath.Join(dir, "collected"), filepath.Join(dir, "whole"))
}

func smallDisk(t *testing.T, dir, size string) string {
	t.Helper()
	disk := filepath.Join(dir, "disk")
	must.Do(t, os.Mkdir(disk, 0o755))
	if err := syscall.Mount("amtrl", disk, "tmpfs", 0, size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	return disk
}

// disk is a file system in an image file, mounted at folder. Writes that have reached the image survive a loss of
// power; those still in the kernel's memory do not.
type disk struct{ image, folder string }

func newDisk(t *testing.T, dir string) disk {
	t.Helper()
	d := disk{filepath.Join(dir, "image"), filepath.Join(dir, "mounted")}
	must.Do(t, os.WriteFile(d.image, nil, 0o600))
	must.Do(t, os.Truncate(d.image, 16<<20))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("no file system can be made here: mkfs.ext4: %v: %s", err, out)
	}
	d.mount(t)
	return d
}

func (d disk) mount(t *testing.T) {
	t.Helper()
	must.Do(t, os.MkdirAll(d.folder, 0o755))
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.folder).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: mount: %v: %s", err, out)
	}
	t.Cleanup(func() { syscall.Unmount(d.folder, syscall.MNT_DETACH) })
}

// cut returns a mounted copy of the disk as it would be found if the power failed now.
func (d disk) cut(t *testing.T, dir string) disk {
	t.Helper()
	after := disk{filepath.Join(dir, "image"), filepath.Join(dir, "mounted")}
	must.Do(t, os.MkdirAll(dir, 0o755))
	// Two equal reads in a row mean that the kernel wrote nothing during the copy.
	var last []byte
	for {
		raw := must.Get(os.ReadFile(d.image))(t)
		if bytes.Equal(raw, last) {
			break
		}
		last = raw
	}
	must.Do(t, os.WriteFile(after.image, last, 0o600))
	after.mount(t)
	return after
}

// The power fails at random instants of a run or a sweep: the same command goes on to the same bytes. Once the command
// has ended, nothing is lost.
func TestPowerFailure(t *testing.T) {
	t.Parallel()
	rng := testrand.New(t)
	type work struct {
		name, first string // what the command finishes first
		args        []string
	}
	for _, test := range must.Some(rng, 1, []work{
		{"run", "checkpoint/epoch.safetensors", tiny("run", "--quiet", "--budget", "3000", "--iterations", "40", "--epochs", "6")},
		{"sweep", "results/fog_*", tiny("sweep", "--quiet", "--iterations", "20", "--targets", "fog_[0-2]", "--budgets", "600", "--jobs", "2")},
	}...) {
		t.Run(test.name, func(t *testing.T) {
			args, dir := test.args, t.TempDir()
			cmd := command(dir, append(args, "--out", "whole")...)
			launch(t, cmd)
			waitFor(t, filepath.Join(dir, "whole", "config.json"))
			begun := time.Now()
			must.Do(t, cmd.Wait())
			took := time.Since(begun)
			want := foldertest.Read(t, filepath.Join(dir, "whole"))
			amid, least := 0, must.Long(3, 2)
			for i := 0; i < least || amid == 0 && i < 30; i++ {
				part := filepath.Join(dir, strconv.Itoa(i))
				must.Do(t, os.Mkdir(part, 0o755))
				from, when := "config.json", rng.Float64()
				if i >= least { // the machine may be busier or less busy than when took was measured
					from, when = test.first, when/float64(i)
				}
				amid += cutAndResume(t, part, args, from, time.Duration(when*float64(took)), want)
				if t.Failed() {
					return
				}
			}
			if amid == 0 {
				t.Error("no cut hit work in progress")
			}
			d := newDisk(t, dir)
			succeed(t, dir, append(args, "--out", filepath.Join(d.folder, "new", "out"))...)
			after := d.cut(t, filepath.Join(dir, "after"))
			foldertest.Equal(t, "after the end", foldertest.Read(t, filepath.Join(after.folder, "new", "out")), want)
		})
	}
}

// cutAndResume runs the command, cuts the power some time after it has made the file, and runs it again on the disk
// that is left. It returns 1 if the cut left finished steps of unfinished work, else 0.
func cutAndResume(t *testing.T, dir string, args []string, file string, when time.Duration, want map[string]string) (amid int) {
	t.Helper()
	d := newDisk(t, dir)
	cmd := command(dir, append(args, "--out", filepath.Join(d.folder, "out"))...)
	launch(t, cmd)
	waitFor(t, filepath.Join(d.folder, "out", file))
	time.Sleep(when)
	cmd.Process.Signal(syscall.SIGSTOP)
	after := d.cut(t, filepath.Join(dir, "after"))
	cmd.Process.Kill()
	cmd.Wait()
	out := filepath.Join(after.folder, "out")
	if unfinished(t, out) {
		amid = 1
	}
	succeed(t, dir, append(args, "--out", out)...)
	foldertest.Equal(t, "after a cut at "+when.String(), foldertest.Read(t, out), want)
	for _, d := range []disk{d, after} {
		must.Do(t, syscall.Unmount(d.folder, 0))
		os.Remove(d.image)
	}
	return amid
}
