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
    (cd -- "$root" && cmake --preset "$preset" >"$folder.log" 2>&1) ||
      { cat "$folder.log" >&2; fail "Volvox could not be configured; see above."; }
  fi
  cmake --build "$folder" ${1:+--target "$@"} || fail "Volvox could not be built; see above."
}
