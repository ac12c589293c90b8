package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

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
		return &usageError{fmt.Sprintf("AMTRL_CPU is %q in the environment: expected %s", level, orList(vectorLevels)), "amtrl help"}
	}
	return nil
}
