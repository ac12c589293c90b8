# Read by the other scripts: finds CUDA's libraries among the packages of the
# Python at hand, where the caller names no folder, and says where files go: into
# AMTRL_GPU_OUT, by default this folder.
if [ -z "$AMTRL_CUDA_LIB_DIR$VIRTUAL_ENV" ] && command -v python3 >/dev/null; then
  prefix=$(python3 -c 'import sys; print(sys.prefix)')
  for found in "$prefix"/lib/python3*/site-packages/nvidia; do
    if [ -d "$found" ]; then
      VIRTUAL_ENV=$prefix
      export VIRTUAL_ENV
    fi
  done
fi
out=${AMTRL_GPU_OUT:-$PWD}
case $out in /*) ;; *) out=$OLDPWD/$out ;; esac # from where the script was called
mkdir -p "$out/logs" || exit 1
# Kernels are compiled once for all steps.
AMTRL_CUBIN_CACHE=${AMTRL_CUBIN_CACHE:-$out/cubin}
export AMTRL_CUBIN_CACHE
