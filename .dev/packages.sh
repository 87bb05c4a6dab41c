# Debian packages for ./dev. Only missing ones are installed, and only then root is needed.

# For building and testing. LibTorch and Node.js come from PyPI, see libtorch.sh and node.sh.
build_packages=(
  build-essential cmake ninja-build ccache git ca-certificates python3 unzip
  libgtest-dev python3-jsonschema
)
# The libraries. The first name of each is that of Debian 12.
mapfile -t -O ${#build_packages[@]} build_packages < <(sed -En 's/^[^# ]+ +([^|]+).*/\1/p' apps/python/libraries.txt)

# Only for testing: the browser that shows the html report (124 MB), and third-party parsers for the report formats.
# Doxygen and abidiff read the SDK's headers; clang and libc++ build plugins against them; clang-format checks the code's format.
test_packages=(
  chromium libxml2-utils python3-markdown-it graphviz
  doxygen abigail-tools clang clang-format libc++-dev libc++abi-dev
)

# Only for ./dev fuzz.
fuzz_packages=(clang libclang-rt-14-dev)

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# need_packages NAME…
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system; install the equivalents of these packages yourself: $*"
    return
  fi
  local package missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] || install_packages "${missing[@]}"
}

install_packages() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get
    --quiet=2 -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null ||
      die "these packages are missing; install them as root: apt-get install $*"
    apt=(sudo "${apt[@]}")
  fi
  say "installing Debian packages: $*"
  "${apt[@]}" update >&2
  # The names are those of Debian 12; apt reports an unknown one.
  "${apt[@]}" install --yes --no-install-recommends "$@" >/dev/null ||
    die "apt-get could not install them (tested on Debian 12; other releases may use other names)"
}
