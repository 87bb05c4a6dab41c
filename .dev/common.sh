# Used by every part of ./dev.

# Where downloads are kept.
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tmeter

# One line per step, on stderr: a report on stdout stays clean.
say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf './dev: %s\n' "$*" >&2
  exit 1
}

# The distribution's Python if there is one: its modules come with the Debian packages.
system_python() {
  [[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || command -v python3
}
