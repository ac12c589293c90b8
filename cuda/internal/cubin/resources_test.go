package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// resources holds the registers and the bytes of stack that a thread of a kernel takes.
type resources struct{ registers, stack int }

// Formats and attributes of .nv.info. An entry is a format, an attribute and a size, followed by that number of bytes;
// an entry of a function holds the number of its symbol and a value. The names are those of NVIDIA's cuobjdump.
const (
	formatSized   = 4
	attrFrameSize = 0x11 // EIATTR_FRAME_SIZE
	attrRegisters = 0x2f // EIATTR_REGCOUNT
)

// readResources returns the resources of each entry point of a cubin, an ELF file with a section .text.NAME for each
// entry point. Values that do not fit into registers, spilled or indexed, make the frame on the stack.
func readResources(image []byte) (map[string]resources, error) {
	// The header holds a version of CUDA where package elf expects ELF's.
	const version = 20
	if len(image) < version+4 {
		return nil, fmt.Errorf("%d bytes", len(image))
	}
	image = slices.Concat(image[:version], []byte{1, 0, 0, 0}, image[version+4:])
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	section := f.Section(".nv.info")
	if section == nil {
		return nil, fmt.Errorf("no section .nv.info")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	all := map[string]resources{}
	seen := map[byte]int{}
	for len(info) >= 4 {
		format, attr, size := info[0], info[1], 0
		if format == formatSized {
			size = int(binary.LittleEndian.Uint16(info[2:]))
		}
		if len(info) < 4+size {
			return nil, fmt.Errorf("an attribute of %d bytes where %d are left", size, len(info)-4)
		}
		value := info[4 : 4+size]
		info = info[4+size:]
		if size != 8 || attr != attrFrameSize && attr != attrRegisters {
			continue
		}
		at := int(binary.LittleEndian.Uint32(value)) - 1 // package elf leaves out the first symbol
		if at < 0 || at >= len(symbols) {
			return nil, fmt.Errorf("symbol %d of %d", at, len(symbols))
		}
		name := symbols[at].Name
		if f.Section(".text."+name) == nil { // a subroutine, such as a division
			continue
		}
		r, n := all[name], int(binary.LittleEndian.Uint32(value[4:]))
		if attr == attrRegisters {
			r.registers = n
		} else {
			r.stack = n
		}
		all[name] = r
		seen[attr]++
	}
	if len(all) == 0 || seen[attrFrameSize] != len(all) || seen[attrRegisters] != len(all) {
		return nil, fmt.Errorf("%d kernels with %d frame sizes and %d register counts", len(all), seen[attrFrameSize], seen[attrRegisters])
	}
	return all, nil
}
