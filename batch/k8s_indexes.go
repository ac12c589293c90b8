package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// parseK8sIndexes reads the status fields completedIndexes and failedIndexes
// of a Job with n indices, such as 0,2-5, and calls each.
func parseK8sIndexes(s string, n int, each func(int)) error {
	if s == "" {
		return nil
	}
	for word := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(word, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(last)
		}
		if err != nil || lo < 0 || hi < lo || hi >= n {
			return fmt.Errorf("expected indices from 0 to %d, found %q", n-1, word)
		}
		for i := lo; i <= hi; i++ {
			each(i)
		}
	}
	return nil
}
