package standin

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

var kindNames = [...]string{
	"contexts", "device blocks", "device bytes", "pinned blocks", "streams", "events", "modules",
	"graphs", "executable graphs", "cuBLAS handles", "cuSOLVER handles", "NVRTC programs",
}

// Indices into Live.
const (
	Contexts = iota
	DeviceBlocks
	DeviceBytes
	PinnedBlocks
	Streams
	Events
	Modules
	Graphs
	Execs
	BlasHandles
	SolverHandles
	Programs
)

// Live holds the number of live objects of each kind.
type Live [len(kindNames)]int64

func (l Live) minus(m Live) Live {
	for i := range l {
		l[i] -= m[i]
	}
	return l
}

func (l Live) String() string { return counts(l[:], kindNames[:]) }

var misuseNames = [...]string{
	"asynchronous copies of memory that is not pinned", "blocks written beside", "addresses not of the device",
	"captures broken by a call of another thread",
}

// Indices into Misuse.
const (
	PageableAsync = iota
	GuardBroken
	BadPointer
	CaptureBroken
)

// Misuse holds the number of misuses of each kind, which a real device may forgive and tests do not.
type Misuse [len(misuseNames)]int64

func (m Misuse) String() string { return counts(m[:], misuseNames[:]) }

func counts(n []int64, names []string) string {
	var parts []string
	for i, v := range n {
		if v != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", v, names[i]))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// Environment returns the variables to add to a child process's environment so that its libraries obey orders
// and keep their counters in the file counters, which [Counters] reads. counters may be "". The orders are
//
//	devices=N             the number of devices, 1
//	memory=BYTES          the memory of each device, 141 GiB
//	memory=DEVICE:BYTES   the memory of one device
//	driver=N              the driver's version, 13000
//	cc=MAJOR.MINOR        the compute capability, 9.0
//	version=KIND:MAJOR    the version that a library reports (0 driver, 1 cuBLAS, 3 cuSOLVER, 6 NVRTC)
//	fail=FUNCTION:NTH:CODE[:forever]
//	takes=FUNCTION:BYTES  device memory that each call takes: while the object that it makes lives, else during the call
//	work=NTH:CODE         see [Control.FailWork]
//	lost                  see [Control.Lose]
//	lost=DEVICE:WORK      lose a device once it has executed WORK more operations
//	name=DEVICE:NAME      the model of a device
//	log                   record the name of each call
func Environment(counters string, orders ...string) []string {
	env := []string{"AMTRL_STANDIN=" + strings.Join(orders, ";")}
	if counters != "" {
		env = append(env, "AMTRL_STANDIN_COUNTERS="+counters)
	}
	return env
}

// Counters returns the counters that a child process left in the file path, however it ended.
func Counters(path string) (Live, Misuse, error) {
	var all struct {
		Live   Live
		Misuse Misuse
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return all.Live, all.Misuse, fmt.Errorf("standin: %w", err)
	}
	if size := binary.Size(all); len(raw) != size {
		return all.Live, all.Misuse, fmt.Errorf("standin: %s has %d bytes, expected %d: no library was loaded", path, len(raw), size)
	}
	_, err = binary.Decode(raw, binary.NativeEndian, &all)
	return all.Live, all.Misuse, err
}
