# Read by the other scripts. Unless the caller names a folder of CUDA's libraries, it
# looks for them among the packages of python3. It sets out, the folder for results:
# AMTRL_GPU_OUT, by default this folder.
if [ -z "$AMTRL_CUDA_LIB_DIR$VIRTUAL_ENV" ] && command -v python3 >/dev/null; then
  # The first folder of Python packages that has cuBLAS; the environment is the folder above its lib.
  prefix=$(python3 - <<'END'
import glob, os, site
dirs = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
for d in dirs + site.getsitepackages():
    if glob.glob(os.path.join(glob.escape(d), "nvidia", "*", "lib", "libcublas.so.*")):
        print(d.rpartition("/lib/python")[0])
        break
END
  )
  if [ -n "$prefix" ]; then
    VIRTUAL_ENV=$prefix
    export VIRTUAL_ENV
  fi
fi
out=${AMTRL_GPU_OUT:-$PWD}
case $out in /*) ;; *) out=$OLDPWD/$out ;; esac # relative to where the script was called
mkdir -p "$out/logs" || exit 1
# Compiled kernels are kept beside the scripts, where all later calls find them whatever AMTRL_GPU_OUT is, or in $out
# if the folder of the scripts is not writable.
kept=$PWD
[ -w "$kept" ] || kept=$out
AMTRL_CUBIN_CACHE=${AMTRL_CUBIN_CACHE:-$kept/cubin}
CUPY_CACHE_DIR=${CUPY_CACHE_DIR:-$kept/cupy}
export AMTRL_CUBIN_CACHE CUPY_CACHE_DIR
