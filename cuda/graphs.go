package cuda

import (
	"fmt"
	"sync"

	"github.com/amtrl/amtrl/backend"
)

// Graphs counts what became of recorded programs as CUDA graphs since the device was opened.
type Graphs struct {
	// Supported reports whether the driver has graphs.
	Supported bool `json:"supported"`
	// Collected is the number of graphs that were made, and Launched the number of their launches.
	Collected int `json:"collected"`
	Launched  int `json:"launched"`
	// Failed is the number of times that a graph could not be captured, instantiated or launched, so that its
	// work was issued without a graph, and Cause is the first failure. Programs over streamed samples are
	// never graphs and do not count.
	Failed int    `json:"failed"`
	Cause  string `json:"cause,omitempty"`
}

func (g Graphs) String() string {
	if !g.Supported {
		return "graphs: the driver has none"
	}
	s := fmt.Sprintf("graphs: %d collected, %d launches, %d failed", g.Collected, g.Launched, g.Failed)
	if g.Cause != "" {
		s += ", the first by " + g.Cause
	}
	return s
}

// Since returns the counts since before. It keeps Cause only if something has failed since.
func (g Graphs) Since(before Graphs) Graphs {
	g.Collected, g.Launched, g.Failed = g.Collected-before.Collected, g.Launched-before.Launched, g.Failed-before.Failed
	if g.Failed == 0 {
		g.Cause = ""
	}
	return g
}

// GraphsOf returns the counts of a device that [Open] returned, and zeros for any other device.
func GraphsOf(d backend.Device) Graphs {
	if c, ok := d.(interface{ graphs() Graphs }); ok {
		return c.graphs()
	}
	return Graphs{}
}

// graphCount holds the counts of a device, to which all its queues add.
type graphCount struct {
	mu sync.Mutex
	n  Graphs
}

func (c *graphCount) get() Graphs {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *graphCount) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n.Collected++
}

func (c *graphCount) launched() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n.Launched++
}

func (c *graphCount) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n.Failed++; c.n.Cause == "" {
		c.n.Cause = err.Error()
	}
}
