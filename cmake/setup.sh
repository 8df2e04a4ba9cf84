# shellcheck shell=bash disable=SC2086
# Sourced by start and check: the packages, and a build of a preset. Nothing is done twice.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }
fail() { printf '%s\n' "$@" >&2; exit 1; }

# Installs what packages.txt names and this machine lacks; asks the network only then.
install_packages() {
  # Elsewhere than on Debian the libraries come by other names; CMake says what it does not find.
  command -v apt-get >/dev/null || return 0
  local wanted missing
  wanted=$(sed 's/#.*//' "$root/packages.txt" | awk 'NF { print $1 }' | sort)
  missing=$(comm -23 <(echo "$wanted") \
    <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | awk '$1 == "installed" { print $2 }' | sort -u))
  [[ -n $missing ]] || return 0
  missing=${missing//$'\n'/ }
  [[ $EUID -eq 0 ]] || fail "These packages are missing: $missing" "Run this, then try again:" \
    "  sudo apt-get update && sudo apt-get install --no-install-recommends $missing"
  say "installing $missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || say "the package lists could not be updated; trying with those that are there"
  apt-get install -y -qq --no-install-recommends $missing >&2 || fail "The packages could not be installed; see above. They are listed in packages.txt."
}

# build PRESET [TARGET...]: configures where that was not done, then builds what has changed.
configure_options=()
build() {
  local preset=$1 folder=$root/build/$1
  shift
  # A tree that was moved or copied has a cache that names its old place, and CMake would refuse it.
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf -- "$folder"
  fi
  # Ninja itself configures again when a CMakeLists.txt changes, but knows nothing of presets.
  if [[ ! -f $folder/build.ninja || $root/CMakePresets.json -nt $folder.log ]]; then
    say "configuring $preset"
    mkdir -p "$root/build"
    (cd -- "$root" && cmake --preset "$preset" "${configure_options[@]}" >"$folder.log" 2>&1) ||
      { cat "$folder.log" >&2; fail "Volvox could not be configured; see above."; }
  fi
  cmake --build "$folder" ${1:+--target "$@"} || fail "Volvox could not be built; see above."
}

# Builds the viewer (web/) where Node.js and npm are or can be had. All else works without it, so a
# machine that cannot build it is told how, and goes on.
build_web() {
  local web=$root/web log=$root/build/web.log how="Install Node.js 18 or later with npm, then run this again."
  mkdir -p "$root/build"
  if ! command -v npm >/dev/null && [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
    say "installing npm, to build the viewer"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >"$log" 2>&1 || true
  fi
  if ! command -v npm >/dev/null; then
    say "the viewer (volvox run --view) is not built: npm is missing. $how"
    return 0
  fi
  if [[ ! -f $web/node_modules/.package-lock.json || $web/package-lock.json -nt $web/node_modules/.package-lock.json ]]; then
    say "fetching what the viewer is built from"
    # A registry that lacks packages for other systems makes npm refuse the lock file; what the
    # viewer names itself has exact versions either way.
    if ! npm --prefix "$web" ci --no-audit --no-fund >"$log" 2>&1 &&
      ! npm --prefix "$web" install --no-package-lock --no-audit --no-fund >>"$log" 2>&1; then
      say "the viewer (volvox run --view) is not built: npm could not fetch its packages, see build/web.log. Try again with a network."
      return 0
    fi
    touch "$web/node_modules/.package-lock.json"
  fi
  if [[ -f $web/dist/index.html && -z $(find "$web/src" "$web/index.html" "$web/package.json" "$web/vite.config.ts" -newer "$web/dist/index.html" -print -quit) ]]; then
    return 0
  fi
  say "building the viewer"
  npm --prefix "$web" run build >"$log" 2>&1 || { tail -20 "$log" >&2; say "the viewer could not be built; see above. $how"; }
}

# Installs a package that a few tests want; they are skipped, with a message, where it cannot be had.
install_wanted() {
  command -v apt-get >/dev/null && [[ $EUID -eq 0 ]] || return 0
  dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed && return 0
  say "installing $1"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1 || say "$1 could not be installed; the tests that need it are skipped"
}
