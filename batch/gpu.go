package batch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/amtrl/amtrl/internal/text"
)

// checkGPUs returns an error if this process sees fewer than want GPUs, before anything is loaded. The visible GPUs are
// those of CUDA_VISIBLE_DEVICES if it is set, else those with a device file.
func checkGPUs(want int) error {
	if want == 0 {
		return nil
	}
	host, _ := os.Hostname()
	devices, set := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if have := len(VisibleDevices()); have < want {
		shown := "CUDA_VISIBLE_DEVICES is not set and there is no /dev/nvidia0"
		if set {
			shown = fmt.Sprintf("CUDA_VISIBLE_DEVICES is %q", devices)
		}
		return fmt.Errorf("%s %s asked for and %d %s visible on %s: %s", text.Several(want, "GPU"), text.Form(want, "was", "were"), have,
			text.Form(have, "is", "are"), host, shown)
	}
	return nil
}

// VisibleDevices lists the GPUs that this process may use: the entries of CUDA_VISIBLE_DEVICES up to the first that
// names no device, as the driver reads them, or one number for each device file if the variable is not set.
func VisibleDevices() []string {
	var list []string
	if devices, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		for d := range strings.SplitSeq(devices, ",") {
			d = strings.TrimSpace(d)
			if d == "" || strings.HasPrefix(d, "-") || d == "NoDevFiles" || d == "void" || d == "none" {
				break
			}
			list = append(list, d)
		}
		return list
	}
	files, _ := filepath.Glob("/dev/nvidia[0-9]*")
	if _, err := os.Stat("/dev/dxg"); err == nil && len(files) == 0 {
		files = []string{"/dev/dxg"} // the GPUs of the Windows Subsystem for Linux
	}
	for i := range files {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

// listGPUs returns a line with the index, UUID and name of each visible GPU, nil if nvidia-smi cannot list them.
func listGPUs(want int) []string {
	if want == 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	args := []string{"--query-gpu=index,uuid,name", "--format=csv,noheader"}
	if devices := os.Getenv("CUDA_VISIBLE_DEVICES"); devices != "" {
		args = append(args, "--id="+devices)
	}
	out, err := exec.CommandContext(ctx, "nvidia-smi", args...).Output()
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}
