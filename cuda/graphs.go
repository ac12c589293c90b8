package cuda

import (
	"fmt"
	"sync"

	"github.com/amtrl/amtrl/backend"
)

// Graphs says what became of recorded programs as CUDA graphs, since the device was opened.
type Graphs struct {
	// Supported is whether the driver has graphs.
	Supported bool `json:"supported"`
	// Collected graphs were made, and Launched is how often one was launched.
	Collected int `json:"collected"`
	Launched  int `json:"launched"`
	// Failed is how often one could not be captured, instantiated or launched, so that the work was issued
	// without it, and Cause is the first reason. What is streamed to the device is never a graph and does not count.
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

// Since are the counts from before on. The cause is told where something failed since.
func (g Graphs) Since(before Graphs) Graphs {
	g.Collected, g.Launched, g.Failed = g.Collected-before.Collected, g.Launched-before.Launched, g.Failed-before.Failed
	if g.Failed == 0 {
		g.Cause = ""
	}
	return g
}

// GraphsOf returns the counts of a device that [Open] returned. Those of another are zero.
func GraphsOf(d backend.Device) Graphs {
	if c, ok := d.(interface{ graphs() Graphs }); ok {
		return c.graphs()
	}
	return Graphs{}
}

// graphCount keeps them. Queues count together.
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
