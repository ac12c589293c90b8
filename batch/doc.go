// Package batch hands the units of a sweep to an engine that runs them as independent tasks: child processes of one
// machine, a Slurm array or a Kubernetes Indexed Job. The run folder holds everything that a task needs and all that it
// leaves, so that the folder and one query of the engine tell what happened.
package batch
