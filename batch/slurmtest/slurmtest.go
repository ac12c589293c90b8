// Package slurmtest holds tests of amtrl on a real Slurm and the tools that they use: slurm-up starts a private Slurm
// of one or more nodes on loopback, as root or as an ordinary user, without systemd, and slurm-down ends it. Both can
// be called by hand.
package slurmtest

import (
	"bytes"
	_ "embed" // the two scripts
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed slurm-up
var up string

//go:embed slurm-down
var down string

// Cluster is a running Slurm.
type Cluster struct {
	// Conf is its slurm.conf, for SLURM_CONF.
	Conf string
	dir  string
	env  []string
}

// Start starts a Slurm in a folder of its own with the settings of slurm-up, such as SLURM_UP_NODES=2.
func Start(settings ...string) (*Cluster, error) {
	// The names of sockets are short.
	dir, err := os.MkdirTemp("", "sl")
	if err != nil {
		return nil, err
	}
	// All users must reach munge's socket.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, Conf: filepath.Join(dir, "c", "etc", "slurm.conf"), env: append(os.Environ(), settings...)}
	for name, text := range map[string]string{"up": up, "down": down} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			return nil, err
		}
	}
	if err := c.Resume(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Resume starts the daemons that do not run.
func (c *Cluster) Resume() error { return c.script("up") }

// Stop ends all daemons and removes the folder.
func (c *Cluster) Stop() error {
	err := c.script("down", "--purge")
	os.RemoveAll(c.dir)
	return err
}

// PID is the process of a daemon, such as slurmctld or slurmd.n1.
func (c *Cluster) PID(daemon string) (pid int, err error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, "c", "run", daemon+".pid"))
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(raw), &pid)
	return pid, err
}

func (c *Cluster) script(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.dir, name), append([]string{filepath.Join(c.dir, "c")}, args...)...)
	cmd.Env = c.env
	// Daemons keep what they inherit open, so the output goes to a file.
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("slurm-%s: %w: %s", name, err, bytes.TrimSpace(text))
	}
	return nil
}

// Command runs a command of Slurm and returns what it prints.
func (c *Cluster) Command(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Conf)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
