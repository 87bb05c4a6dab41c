#!/usr/bin/env bash
# Makes the wheel of the current build and installs it into a fresh venv, BUILD/python/venv. torch and the libraries of
# requirements.txt come from the venv that ./dev keeps.
#   install.sh REPOSITORY BUILD PYTHON
set -euo pipefail
cd "$1"
build=$2 python_tests=$3
source .dev/common.sh
source .dev/wheel.sh

make_wheel "$build" "$build/python"
venv=$build/python/venv
rm -rf "$venv"
"$python_tests" -m venv --without-pip "$venv"
kept=$("$python_tests" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
fresh=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
ln -s "$kept"/* "$fresh"
rm -f "$fresh"/__pycache__
"$python_tests" -m pip --python "$venv/bin/python" install --quiet --disable-pip-version-check --no-deps \
  --no-index "$build"/python/tmeter-*.whl
"$venv/bin/tmeter" --version
