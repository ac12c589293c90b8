package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

// kubernetesFlags are the flags that only --to k8s takes.
func kubernetesFlags() []cli.Flag { return nil }

// newKubernetes makes the engine for the run folder dir from the options that
// an earlier submission saved, nil for none, and the flags of c, which win. The
// flags are those of submit and retry; other commands have saved options alone.
func newKubernetes(c *cli.Context, dir string, saved json.RawMessage) (batch.Engine, error) {
	return nil, misuse(c, "--to is %q: expected %s or %s", batch.Kubernetes, batch.Local, batch.Slurm)
}
