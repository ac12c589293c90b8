//go:build unix

package runs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// TestMain is also the other process of TestFolderIsLocked: it holds the folder until its standard input ends.
func TestMain(m *testing.M) {
	dir := os.Getenv("AMTRL_TEST_LOCK")
	if dir == "" {
		os.Exit(m.Run())
	}
	unlock, err := filelock.Folder(dir)
	if err == nil {
		defer unlock()
		err = os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdin.Read(make([]byte, 1))
}

// One process at a time works in a folder; the lock ends with the process.
func TestFolderIsLocked(t *testing.T) {
	dev := openDevice(t, 1, smallSet(31, 3, 100, 4, false))
	id := identityOf(dev, smallConfig(), []string{"bytes_0"}, 1)
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "AMTRL_TEST_LOCK="+dir)
	in := must.Get(child.StdinPipe())(t)
	ended := make(chan error, 1)
	must.Do(t, child.Start())
	go func() { ended <- child.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the child ended without the lock: %v", err)
		default:
		}
	}
	must.Do(t, os.Remove(filepath.Join(dir, "ready")))
	_, runErr := Run(context.Background(), dev, id, dir, quiet)
	_, sweepErr := Sweep(context.Background(), dev, id, dir, 1, func(SweepStep) {})
	for _, err := range []error{runErr, sweepErr} {
		must.Fail(t, "a folder in use", err, dir+" is in use by another process")
	}
	if len(foldertest.Read(t, dir)) != 0 {
		t.Error("it wrote into a folder in use")
	}
	must.Do(t, child.Process.Kill())
	<-ended
	in.Close() // which Wait may have done
	mustRun(t, dev, id, dir)
}
