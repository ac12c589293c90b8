package batch

import "testing"

// A process that ends is not asked to save, though the signals are given up then.
func TestSaveAtTheEnd(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	w := &Worker{Save: ended, Note: func(format string, args ...any) { t.Errorf(format, args...) }}
	for range 100 {
		w.saveWhenGained(nil, ended)
	}
}
