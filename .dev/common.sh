# Used by every part of ./dev.

# The folder for downloads.
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tmeter

# One line per step, on stderr, because reports go to stdout.
say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf './dev: %s\n' "$*" >&2
  exit 1
}

# Prefers the distribution's Python, because its modules come with the Debian packages.
system_python() {
  [[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || command -v python3
}
