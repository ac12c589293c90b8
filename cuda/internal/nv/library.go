package nv

// Options says where to look for libraries. The zero value is for normal use.
type Options struct {
	// Dir is the folder to look in; where it is empty, AMTRL_CUDA_LIB_DIR names it. Where either is
	// set, the toolkit's libraries come from there or Open fails, and libcuda.so.1 is looked for
	// there first.
	Dir string
	// Family is 12 or 13, or 0 for the newest family that the driver runs.
	Family int
}

// File is a library that was loaded.
type File struct {
	Name    string `json:"name"`    // driver, nvJitLink, cublasLt, cublas, cusparse, cusolver, nvrtc
	Version string `json:"version"` // as the library reports it; empty where it does not
	Path    string `json:"path"`
}

// Trace lists what Open tried, in order. It is never nil, and is complete also where Open failed.
type Trace struct {
	Steps []Step
}

// Step is one folder that was looked at.
type Step struct {
	Place string `json:"place"`         // such as "CUDA_HOME" or "wheels in VIRTUAL_ENV"
	What  string `json:"what"`          // libcuda.so.1, or the family: "CUDA 12"
	Dir   string `json:"dir,omitempty"` // the folder; empty where the place names none
	Found string `json:"found"`         // what was found there, in words
	Taken bool   `json:"taken"`
}

func (t *Trace) add(s Step) { t.Steps = append(t.Steps, s) }
