# LibTorch for ./dev: the user's, else libtorch_cpu and the headers of PyPI's torch wheel.
# plugins/torch_backend/cmake/FindLibTorch.cmake searches the same places in the same order.

torch_version=${TMETER_TORCH_VERSION:-2.15.0}
torch_minimum=2.6

# Sets torch_dir: a folder with include/ and lib/libtorch_cpu.so.
need_libtorch() {
  torch_dir=$(user_libtorch)
  [[ -n $torch_dir ]] || need_pypi_libtorch "$torch_version"
  say "LibTorch: $torch_dir"
}

# need_pypi_libtorch VERSION: sets torch_dir.
need_pypi_libtorch() {
  [[ $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "'$1' is not a torch version: give three numbers, for example 2.15.0"
  is_new_enough "$1" || die "torch $1 is too old: tmeter needs LibTorch $torch_minimum or newer"
  torch_dir=$cache/libtorch-$1/torch
  is_libtorch "$torch_dir" || download_libtorch "$1"
}

is_new_enough() { printf '%s\n' "$torch_minimum" "$1" | sort --check=quiet --version-sort; }

# The header is in the first folder since torch 2.9, in the second before.
version_in_headers() {
  cat "$1"/include/torch/{headeronly,csrc/api/include/torch}/version.h 2>/dev/null |
    sed -En 's/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' | head -n 3 | paste -sd.
}

is_libtorch() { [[ -e $1/lib/libtorch_cpu.so && -d $1/include/ATen ]]; }

# Prints the folder of the user's LibTorch, or nothing.
user_libtorch() {
  if [[ -n ${TMETER_TORCH_DIR:-} ]]; then
    is_libtorch "$TMETER_TORCH_DIR" ||
      die "TMETER_TORCH_DIR=$TMETER_TORCH_DIR has no lib/libtorch_cpu.so and include/ATen"
    local version
    version=$(version_in_headers "$TMETER_TORCH_DIR")
    is_new_enough "$version" ||
      die "TMETER_TORCH_DIR=$TMETER_TORCH_DIR is LibTorch $version: tmeter needs $torch_minimum or newer"
    realpath "$TMETER_TORCH_DIR"
    return
  fi
  local prefix folder prefixes
  IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in "${prefixes[@]}"; do
    # The prefix itself, a site-packages folder, or torch.utils.cmake_prefix_path.
    for folder in "$prefix" "$prefix/torch" "$prefix/../.."; do
      if is_libtorch "$folder"; then
        realpath "$folder"
        return
      fi
    done
  done
  [[ -n ${TMETER_TORCH_VERSION:-} ]] || python_libtorch
}

# Prints the folder of the active Python's torch if it is new enough. torch is not imported, which would take seconds.
python_libtorch() {
  command -v python3 >/dev/null || return 0
  local folder version
  folder=$(python3 -c 'import importlib.util as u; s = u.find_spec("torch")
print(s.submodule_search_locations[0] if s else "")' 2>/dev/null) || return 0
  is_libtorch "$folder" || return 0
  version=$(sed -n "s/^__version__ = '\([0-9.]*\).*/\1/p" "$folder/version.py")
  if is_new_enough "$version"; then echo "$folder"; fi
}

# pip_download FOLDER REQUIREMENT…: without dependencies. The wheels are those of Python 3.11, whichever
# Python runs pip, because their C++ part is the same for every version.
pip_download() {
  local folder=$1 tag platforms=()
  shift
  for tag in manylinux_2_{36..17} manylinux2014 manylinux1; do  # up to the glibc of Debian 12
    platforms+=(--platform "${tag}_$(uname -m)")
  done
  # Without a cache, for which pip would keep a second copy, and old versions the whole wheel in memory.
  TMPDIR=$folder "$(pip_python)" -m pip download --disable-pip-version-check --no-cache-dir --no-deps \
    --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 --abi none \
    "${platforms[@]}" --dest "$folder" "$@" >&2
}

# Prints a Python with pip; installs Debian's if none has it.
pip_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
  need_packages python3-pip
  echo /usr/bin/python3
}

# download_libtorch VERSION: all or nothing, and only once when two processes call it at the same time.
download_libtorch() {
  local version=$1 target=$cache/libtorch-$1
  mkdir -p "$cache"
  (
    flock 9
    is_libtorch "$target/torch" && exit
    rm -rf "$target" "$target".part-*  # left by a killed run
    work=$(mktemp -d "$target.part-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/wheels" "$work/tree"

    say "downloading the torch $version wheel from PyPI (0.5 to 0.9 GB)"
    pip_download "$work/wheels" "torch==$version" || die "PyPI has no wheel of torch $version for this machine"
    say "unpacking libtorch_cpu and the headers"
    unzip -q "$work"/wheels/torch-*.whl 'torch/version.py' 'torch/include/*' 'torch/lib/*.so*' \
      'torch-*.dist-info/*' -x "torch/lib/lib*cuda*" "torch/lib/lib*nv*" \
      torch/lib/libtorch.so torch/lib/libtorch_python.so -d "$work/tree"

    download_cuda_runtime "$work"
    mv -T "$work/tree" "$target"
  ) 9>"$cache/.lock"
}

# libtorch_cpu of PyPI's wheel needs CUDA's run-time and profiling libraries to start, even on a
# machine without a GPU. Its RPATH finds them in nvidia/ beside torch/.
download_cuda_runtime() {
  local work=$1 cuda suffix=''
  cuda=$(sed -n "s/^cuda.*= '\([0-9]*\.[0-9]*\).*/\1/p" "$work/tree/torch/version.py")
  [[ -n $cuda ]] || return 0  # a CPU-only wheel
  [[ ${cuda%.*} -ge 13 ]] || suffix=-cu${cuda%.*}
  say "downloading the CUDA $cuda runtime libraries that it is linked with (14 MB)"
  pip_download "$work/wheels" "nvidia-cuda-runtime$suffix==$cuda.*" "nvidia-cuda-cupti$suffix==$cuda.*"
  unzip -q "$work"/wheels/nvidia_cuda_runtime*.whl '*/libcudart.so*' -d "$work/tree"
  unzip -q "$work"/wheels/nvidia_cuda_cupti*.whl '*/libcupti.so*' -d "$work/tree"
}
