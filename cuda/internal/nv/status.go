package nv

// meaning holds the error that a status matches, nil where there is none, and a hint at what may
// help.
type meaning struct {
	kind error
	hint string
}

// driverMeans holds the meanings of codes of cuda.h.
var driverMeans = map[int]meaning{
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
	220: {ErrDeviceLost, "uncorrectable error of NVLink: see the kernel's log (dmesg)"},
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
	810: {ErrDeviceLost, "the MPS server ended this process's use of the device: start the process again"},
	900: {ErrCapture, "a call that no stream may be captured beside"},
	901: {ErrCapture, "a call of this or another thread broke it"},
	902: {ErrCapture, ""},
	903: {ErrCapture, ""},
	904: {ErrCapture, ""},
	905: {ErrCapture, ""},
	906: {ErrCapture, ""},
	907: {ErrCapture, ""},
	908: {ErrCapture, ""},
	999: {nil, "see the kernel's log (dmesg) for the driver's messages"},
}

var noHandle = meaning{ErrNoHandle, "the handle could not be made: no current context, or too little memory"}

// blasMeans holds the meanings of statuses of cublas_api.h.
var blasMeans = map[int]meaning{
	1: noHandle,
	3: {ErrOutOfMemory, ""},
	8: {nil, "this cuBLAS does not run on the device's architecture"},
}

// solverMeans holds the meanings of statuses of cusolver_common.h.
var solverMeans = map[int]meaning{1: noHandle, 2: {ErrOutOfMemory, ""}}

// nvrtcMeans holds the meanings of results of nvrtc.h.
var nvrtcMeans = map[int]meaning{
	5: {nil, "NVRTC may be older than the device: see amtrl doctor"},
	7: {nil, "libnvrtc-builtins must lie beside libnvrtc"},
}

// solverNames holds the names of cuSOLVER's statuses, for which the library has no function.
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
