package nv

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that an [*Error] may match.
var (
	// ErrUnsupported is returned by Open where this package cannot work.
	ErrUnsupported = errors.New("CUDA needs Linux on amd64 or arm64 and a binary built with cgo")
	// ErrNotFound reports a library that is in none of the places searched.
	ErrNotFound = errors.New("library not found")
	// ErrNoDriver is ErrNotFound for the driver.
	ErrNoDriver = fmt.Errorf("%w", ErrNotFound)
	// ErrLoad reports a library that was found and could not be loaded, or lacks a required symbol.
	ErrLoad = errors.New("library could not be loaded")
	// ErrVersion reports versions of libraries, or of a library and the driver, that do not belong
	// together.
	ErrVersion = errors.New("versions disagree")
	// ErrStub reports the libcuda that is made for linking and does nothing.
	ErrStub = errors.New("stub library")
	// ErrAbsent reports an optional function that the library does not have.
	ErrAbsent = errors.New("function is absent")
	// ErrNoDevice reports that the driver sees no device, or none of the number asked for.
	ErrNoDevice = errors.New("no CUDA device")
	// ErrOutOfMemory reports an allocation that a library or the driver refused.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrNoHandle reports a library's handle that could not be created. It does not say why: there
	// may be too little memory.
	ErrNoHandle = errors.New("the handle could not be made")
	// ErrCapture reports a capture that the driver refused or that another call broke.
	ErrCapture = errors.New("the capture was broken")
	// ErrDeviceLost reports a context that no call can use any more.
	ErrDeviceLost = errors.New("the device's context is lost")
	// ErrUnsupportedPTX reports PTX made for a newer driver.
	ErrUnsupportedPTX = errors.New("PTX is newer than the driver")
)

// Error reports a failed call of a library, or a failure to find, load or accept one.
type Error struct {
	Op      string // function, such as cuMemAlloc_v2, or dlopen, dlsym, version
	Library string // its path, or its soname where none was found
	Code    int    // status; 0 where there is none
	Name    string // the library's name of the code, such as CUDA_ERROR_OUT_OF_MEMORY
	Text    string // the library's or the loader's description
	Hint    string // what may help; may be empty

	kind error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Library != "" {
		fmt.Fprintf(&b, " (%s)", e.Library)
	}
	b.WriteString(": ")
	switch {
	case e.Name != "" && e.Text != "":
		fmt.Fprintf(&b, "%s (%d): %s", e.Name, e.Code, e.Text)
	case e.Name != "":
		fmt.Fprintf(&b, "%s (%d)", e.Name, e.Code)
	default:
		b.WriteString(e.Text)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	return b.String()
}

// Unwrap returns the sentinel error of this package that e is one of, or nil.
func (e *Error) Unwrap() error { return e.kind }
