package batch

import "fmt"

// Unstamped is the version of a program that was built without one, as it is
// outside a git checkout. Two such programs may be anything.
const Unstamped = "(devel)"

// checkVersion refuses a task's program of another version than the one that submitted the run.
func checkVersion(here, submitted string) error {
	switch {
	case here == submitted:
		return nil
	case here == Unstamped:
		return fmt.Errorf("this amtrl was built without a version, expected %s, which submitted the run", submitted)
	case submitted == Unstamped:
		return fmt.Errorf("this is version %s of amtrl, expected one built without a version, as the one that submitted the run", here)
	}
	return fmt.Errorf("this is version %s of amtrl, expected %s, which submitted the run", here, submitted)
}
