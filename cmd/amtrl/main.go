// Command amtrl chooses which sources to draw samples from for a target task
// with few labels, learns the shared representation from them and says how
// relevant each source was.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/amtrl/amtrl/internal/flags"
)

func main() {
	os.Exit(execute(os.Args))
}

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	if err := readEnvironment(); err != nil {
		return finish(os.Stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once: everything on disk is whole at
	// any instant.
	context.AfterFunc(ctx, stop)
	app := newApp()
	err := app.RunContext(ctx, flags.First(app, args))
	if err == nil && ctx.Err() != nil {
		err = interruption{"the work was complete"}
	}
	return finish(os.Stderr, err)
}

// vectorLevels are the values of AMTRL_CPU.
var vectorLevels = []string{"generic", "avx2", "avx512"}

// readEnvironment makes empty variables of amtrl's the same as unset ones, of
// any type of flag, and refuses a value of AMTRL_CPU, which is no flag's, that
// would be passed over.
func readEnvironment() error {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if value == "" && strings.HasPrefix(name, "AMTRL_") {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	if level, set := os.LookupEnv("AMTRL_CPU"); set && !slices.Contains(vectorLevels, level) {
		err := flags.Misuse("AMTRL_CPU is %q in the environment: expected %s", level, flags.OrList(vectorLevels))
		err.(*flags.UsageError).Help = "amtrl help"
		return err
	}
	return nil
}
