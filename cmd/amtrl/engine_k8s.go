package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

// kubernetesFlags are the flags that only --to k8s takes.
func kubernetesFlags() []cli.Flag {
	failed := intFlag(categoryBatch, "max-failed", "Kubernetes: give the rest up when more tasks than this have failed", 0)
	failed.DefaultText = "any number may fail"
	return []cli.Flag{
		textFlag(categoryBatch, "image", "Kubernetes: container image that has amtrl", ""),
		listFlag("volume", "Kubernetes: `CLAIM:/PATH`, a persistent volume claim and where it is mounted, or /HOST:/PATH; :ro after it for no writing; repeat for more"),
		textFlag(categoryBatch, "run-path", "Kubernetes: path of RUN in the containers; by default its path here", ""),
		textFlag(categoryBatch, "context", "Kubernetes: context of kubectl; by default the current one", ""),
		textFlag(categoryBatch, "namespace", "Kubernetes: namespace; by default that of the context", ""),
		textFlag(categoryBatch, "queue", "Kubernetes: Kueue queue that decides when the tasks may run", ""),
		listFlag("node-selector", "Kubernetes: label `KEY=VALUE` that a node must have; repeat for more"),
		listFlag("toleration", "Kubernetes: taint `KEY[=VALUE][:EFFECT]` that is no hindrance; repeat for more"),
		failed,
	}
}

// newKubernetes makes the engine for the run folder dir from the options that
// an earlier submission saved, nil for none, and the flags of c, which win. All
// that can be wrong with them shows here, before anything is written.
func newKubernetes(c *cli.Context, dir string, saved json.RawMessage) (batch.Engine, error) {
	var o batch.KubernetesOptions
	if saved != nil {
		if err := json.Unmarshal(saved, &o); err != nil {
			return nil, err
		}
	}
	for name, field := range map[string]*string{
		"image": &o.Image, "run-path": &o.RunPath, "context": &o.Context, "namespace": &o.Namespace, "queue": &o.Queue, "program": &o.Program,
	} {
		if c.IsSet(name) {
			*field = c.String(name)
		}
	}
	if c.IsSet("context") && !c.IsSet("namespace") {
		o.Namespace = ""
	}
	for name, field := range map[string]*[]string{
		"volume": &o.Volumes, "node-selector": &o.NodeSelector, "toleration": &o.Tolerations, "engine-arg": &o.Args, "setup": &o.Setup,
	} {
		if c.IsSet(name) {
			*field = c.Generic(name).(*lineList).list
		}
	}
	if c.IsSet("max-failed") {
		n := c.Int("max-failed")
		o.MaxFailed = &n
	}
	e, err := batch.NewKubernetes(o)
	if err != nil {
		return nil, explainOption(c, err)
	}
	res, err := readResources(c, &batch.Resources{})
	if err != nil {
		return nil, err
	}
	trial := batch.Submission{Dir: dir, ID: fmt.Sprintf("%012d", 0), Name: filepath.Base(dir), Try: 1, Tasks: []int{0}, Resources: res}
	if _, err := e.Render(c.Context, trial); err != nil {
		return nil, explainOption(c, err)
	}
	// What kubectl would take now is settled here, so that later commands ask the
	// same cluster. Without one a manifest can still be printed.
	if err := e.Resolve(c.Context); err != nil && (!c.Bool("dry-run") || c.Bool("check")) {
		return nil, explainOption(c, err)
	}
	return e, nil
}

// openKubernetes makes the engine of an earlier submission again.
func openKubernetes(saved json.RawMessage) (batch.Engine, error) {
	var o batch.KubernetesOptions
	if err := json.Unmarshal(saved, &o); err != nil {
		return nil, err
	}
	return batch.NewKubernetes(o)
}

// explainOption makes an option that cannot be used a usage error.
func explainOption(c *cli.Context, err error) error {
	var option *batch.OptionError
	if errors.As(err, &option) {
		return misuse(c, "%s", err)
	}
	return err
}
