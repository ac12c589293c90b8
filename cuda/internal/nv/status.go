package nv

import "fmt"

func absent(op string, f File) error {
	return &Error{Op: op, Library: f.Path, Text: "this release does not have the function (version " + f.Version + ")", kind: ErrAbsent}
}

// Codes of cuda.h that a caller tells apart, with what may help.
var driverKinds = map[int]struct {
	kind error
	hint string
}{
	2: {ErrOutOfMemory, ""},
	3: {nil, "the driver was not initialised or is being unloaded"},
	34: {ErrStub, "this libcuda.so.1 is the toolkit's stub for linking: take its folder off LD_LIBRARY_PATH; " +
		"the real one comes with the NVIDIA driver"},
	100: {ErrNoDevice, "check nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, that it was started with GPUs (--gpus all)"},
	101: {ErrNoDevice, "there is no device of that number: see amtrl devices"},
	201: {nil, "no context is current on this thread"},
	209: {nil, "the code was compiled for another architecture"},
	214: {ErrDeviceLost, "uncorrectable memory error: reset the device"},
	218: {nil, "the code could not be assembled"},
	222: {ErrUnsupportedPTX, "update the driver"},
	226: {ErrDeviceLost, "the device contained an error of its hardware or of a peer's memory"},
	700: {ErrDeviceLost, "a kernel read or wrote outside its memory: run under compute-sanitizer"},
	702: {ErrDeviceLost, "a kernel ran longer than the watchdog of a display allows"},
	710: {ErrDeviceLost, ""},
	714: {ErrDeviceLost, ""},
	715: {ErrDeviceLost, ""},
	716: {ErrDeviceLost, ""},
	717: {ErrDeviceLost, ""},
	718: {ErrDeviceLost, ""},
	719: {ErrDeviceLost, "a kernel failed: run under compute-sanitizer"},
	721: {ErrDeviceLost, ""},
	802: {nil, "the system is not ready: is nvidia-fabricmanager running?"},
	803: {nil, "libcuda and the kernel's driver are of different versions: restart after the update, " +
		"or remove a forward-compatibility libcuda"},
	804: {nil, "this device does not take the forward-compatibility libcuda (compat folder): take it off LD_LIBRARY_PATH"},
	999: {nil, "see the kernel's log (dmesg) for the driver's messages"},
}

func driverError(op, library string, code int, name, text string) error {
	if name == "" {
		name = "CUDA_ERROR"
	}
	k := driverKinds[code]
	return &Error{Op: op, Library: library, Code: code, Name: name, Text: text, Hint: k.hint, kind: k.kind}
}

// Statuses of cublas_api.h.
func blasError(op, library string, code int, name, text string) error {
	e := &Error{Op: op, Library: library, Code: code, Name: name, Text: text}
	if name == "" {
		e.Name = "CUBLAS_STATUS"
	}
	switch code {
	case 1:
		e.Hint = "the handle could not be made: no current context, or too little memory"
	case 3:
		e.kind = ErrOutOfMemory
	case 8:
		e.Hint = "this cuBLAS does not run on the device's architecture"
	}
	return e
}

// Statuses of cusolver_common.h. cuSOLVER has no function that names them.
var solverNames = map[int]string{
	1:  "CUSOLVER_STATUS_NOT_INITIALIZED",
	2:  "CUSOLVER_STATUS_ALLOC_FAILED",
	3:  "CUSOLVER_STATUS_INVALID_VALUE",
	4:  "CUSOLVER_STATUS_ARCH_MISMATCH",
	5:  "CUSOLVER_STATUS_MAPPING_ERROR",
	6:  "CUSOLVER_STATUS_EXECUTION_FAILED",
	7:  "CUSOLVER_STATUS_INTERNAL_ERROR",
	8:  "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
	9:  "CUSOLVER_STATUS_NOT_SUPPORTED",
	10: "CUSOLVER_STATUS_ZERO_PIVOT",
	11: "CUSOLVER_STATUS_INVALID_LICENSE",
	12: "CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED",
	13: "CUSOLVER_STATUS_IRS_PARAMS_INVALID",
	14: "CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC",
	15: "CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE",
	16: "CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER",
	20: "CUSOLVER_STATUS_IRS_INTERNAL_ERROR",
	21: "CUSOLVER_STATUS_IRS_NOT_SUPPORTED",
	22: "CUSOLVER_STATUS_IRS_OUT_OF_RANGE",
	23: "CUSOLVER_STATUS_IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES",
	25: "CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED",
	26: "CUSOLVER_STATUS_IRS_INFOS_NOT_DESTROYED",
	30: "CUSOLVER_STATUS_IRS_MATRIX_SINGULAR",
	31: "CUSOLVER_STATUS_INVALID_WORKSPACE",
}

func solverError(op, library string, code int) error {
	e := &Error{Op: op, Library: library, Code: code, Name: solverNames[code]}
	if e.Name == "" {
		e.Name = "CUSOLVER_STATUS"
	}
	switch code {
	case 1:
		e.Hint = "the handle could not be made: no current context, or too little memory"
	case 2:
		e.kind = ErrOutOfMemory
	}
	return e
}

// Results of nvrtc.h.
func nvrtcError(op, library string, code int, text string) error {
	if text == "" {
		text = fmt.Sprintf("NVRTC_ERROR_%d", code)
	}
	e := &Error{Op: op, Library: library, Code: code, Name: text}
	switch code {
	case 5:
		e.Hint = "NVRTC may be older than the device: see amtrl doctor"
	case 7:
		e.Hint = "libnvrtc-builtins must lie beside libnvrtc"
	}
	return e
}
