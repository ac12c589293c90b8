package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// enterCommand is the argument by which kubelab calls itself to become a container's process.
const enterCommand = "enter-container"

// container describes the process of a container: enter becomes it.
type container struct {
	Argv   []string
	Env    []string
	Dir    string
	Mounts []bind
}

// bind is a bind mount of the folder From at To.
type bind struct {
	From, To string
	ReadOnly bool
}

// command returns the process of a pod's first container, not yet started, and the file of its log. If that fails,
// reason is the one for which a kubelet would let the container wait.
func (p *pod) command() (cmd *exec.Cmd, log *os.File, reason string, err error) {
	c := p.spec.Spec.Containers[0]
	programs, ok := p.kubelet.images[c.Image]
	if !ok {
		return nil, nil, "ErrImagePull", fmt.Errorf("image %q: expected one of those that --image names", c.Image)
	}
	env := p.environment(c, programs)
	expand := expansion.MappingFuncFor(env)
	box := container{Dir: c.WorkingDir}
	for _, word := range slices.Concat(c.Command, c.Args) {
		box.Argv = append(box.Argv, expansion.Expand(word, expand))
	}
	if len(box.Argv) == 0 {
		return nil, nil, "CreateContainerError", fmt.Errorf("no command: images have no entry points here")
	}
	if box.Argv[0], err = lookPath(box.Argv[0], env["PATH"]); err != nil {
		return nil, nil, "CreateContainerError", err
	}
	for name, value := range env {
		box.Env = append(box.Env, name+"="+value)
	}
	if box.Mounts, err = p.mounts(c); err != nil {
		return nil, nil, "CreateContainerConfigError", err
	}
	js, err1 := json.Marshal(box)
	self, err2 := os.Executable()
	log, err3 := os.Create(p.kubelet.logPath(p.spec.Namespace, p.spec.Name))
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, nil, "CreateContainerError", err
	}
	cmd = exec.Command(self, enterCommand, string(js))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return cmd, log, "", nil
}

func (p *pod) environment(c v1.Container, programs string) map[string]string {
	env := map[string]string{
		"PATH": programs + ":/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "HOSTNAME": cmp.Or(p.spec.Spec.Hostname, p.spec.Name),
	}
	if len(p.gpus) > 0 {
		var ids []string
		for _, g := range p.gpus {
			ids = append(ids, strconv.Itoa(g))
		}
		env["NVIDIA_VISIBLE_DEVICES"] = strings.Join(ids, ",")
	}
	for _, e := range c.Env {
		value := expansion.Expand(e.Value, expansion.MappingFuncFor(env))
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			value = p.field(e.ValueFrom.FieldRef.FieldPath)
		}
		env[e.Name] = value
	}
	return env
}

// field returns the value of a field of the pod. It knows the fields that the Job controller asks for.
func (p *pod) field(path string) string {
	for prefix, values := range map[string]map[string]string{
		"metadata.labels['": p.spec.Labels, "metadata.annotations['": p.spec.Annotations,
	} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			return values[strings.TrimSuffix(key, "']")]
		}
	}
	if path == "metadata.name" {
		return p.spec.Name
	}
	return ""
}

// mounts returns the folders behind a container's volumes, as bind mounts.
func (p *pod) mounts(c v1.Container) ([]bind, error) {
	from := map[string]string{}
	readOnly := map[string]bool{}
	for _, v := range p.spec.Spec.Volumes {
		switch {
		case v.HostPath != nil:
			from[v.Name] = v.HostPath.Path
		case v.PersistentVolumeClaim != nil:
			from[v.Name] = filepath.Join(p.kubelet.root, "claims", v.PersistentVolumeClaim.ClaimName)
			readOnly[v.Name] = v.PersistentVolumeClaim.ReadOnly
		default:
			return nil, fmt.Errorf("volume %s: expected a claim or a host path", v.Name)
		}
		if info, err := os.Stat(from[v.Name]); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("volume %s: hostPath type check failed: %s is not a directory", v.Name, from[v.Name])
		}
	}
	var out []bind
	for _, m := range c.VolumeMounts {
		out = append(out, bind{from[m.Name], m.MountPath, m.ReadOnly || readOnly[m.Name]})
	}
	return out, nil
}

func lookPath(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Join(dir, name), nil
		}
	}
	return "", fmt.Errorf("exec: %q: executable file not found in $PATH", name)
}

// enter mounts the volumes of a container and becomes its process. The mount points must exist: a real container has a
// file system of its own, this one has that of the machine.
func enter(js string) error {
	var box container
	if err := json.Unmarshal([]byte(js), &box); err != nil {
		return err
	}
	for _, m := range box.Mounts {
		if m.From != m.To || m.ReadOnly {
			if err := syscall.Mount(m.From, m.To, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
				return fmt.Errorf("mounting %s at %s: %w", m.From, m.To, err)
			}
		}
		if m.ReadOnly {
			if err := syscall.Mount("", m.To, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				return fmt.Errorf("mounting %s for reading: %w", m.To, err)
			}
		}
	}
	if box.Dir != "" {
		if err := os.Chdir(box.Dir); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", box.Argv[0], syscall.Exec(box.Argv[0], box.Argv, box.Env))
}
