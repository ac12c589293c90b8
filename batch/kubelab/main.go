// Command kubelab is a Kubernetes cluster in one process, on loopback alone: etcd, the API server and the Job, TTL and
// garbage-collection controllers are the real ones, and a small kubelet owns one node and runs the first container of
// each pod as a local process. Its purpose is to show how Indexed Jobs behave.
//
// What is not real: images (--image maps a name to a folder of programs), scheduling (pods are taken in turn while GPUs
// are free), volumes beyond folders, and everything about networks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// images maps the name of an image to a folder of programs.
type images map[string]string

func (i images) String() string { return "" }

func (i images) Set(s string) error {
	name, dir, ok := strings.Cut(s, "=")
	if !ok || name == "" || !filepath.IsAbs(dir) {
		return fmt.Errorf("expected NAME=/FOLDER, found %q", s)
	}
	i[name] = dir
	return nil
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == enterCommand {
		fmt.Fprintln(os.Stderr, "kubelab:", enter(os.Args[2]))
		os.Exit(128)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kubelab:", err)
		os.Exit(1)
	}
}

func run() error {
	img := images{}
	dir := flag.String("dir", "", "`FOLDER` for everything; volume claims are folders of FOLDER/claims")
	gpus := flag.Int("gpus", 2, "GPUs that the node claims to have")
	flag.Var(img, "image", "`NAME=/FOLDER` of an image and the folder of its programs; may be repeated")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	root, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	for _, sub := range []string{"", "claims", "pods"} {
		if err := os.MkdirAll(filepath.Join(root, sub), 0o700); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	start := time.Now()
	ready := func(what string) {
		fmt.Fprintf(os.Stderr, "# %s ready after %.1f s\n", what, time.Since(start).Seconds())
	}

	store, endpoint, err := startEtcd(root)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer store.Close()
	ready("etcd")
	server, err := startAPIServer(ctx, root, endpoint)
	if err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	ready("API server")
	if err := startControllers(ctx, server); err != nil {
		return fmt.Errorf("controllers: %w", err)
	}
	k := &kubelet{client: server.client, root: root, images: img}
	if err := k.start(ctx, *gpus); err != nil {
		return fmt.Errorf("kubelet: %w", err)
	}
	ready("node")
	fmt.Printf("export KUBECONFIG=%s\n", server.kubeconfig)
	select {
	case <-ctx.Done():
	case err = <-server.failed:
	}
	k.wait()
	return err
}
