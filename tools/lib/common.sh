# Shared by tools/run-demo, tools/run-tests and tools/bench: messages, checks of the machine, packages, build.
# To be sourced; sets ROOT to the top of the source tree.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Debian's own tools first: what is tested is what Debian ships, whatever else the PATH offers.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export PATH

say() { printf '== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

require_machine() {
  [ "$(id -u)" -eq 0 ] || die "must be run as root (it makes network namespaces and opens raw sockets)"
  command -v apt-get dpkg-query >/dev/null || die "needs apt-get and dpkg-query (Debian 12)"
  unshare --net --mount true 2>/dev/null ||
    die "this kernel or container does not allow network namespaces"
}

# wanted_packages SECTION...: the packages of these sections of packages.txt, one a line.
wanted_packages() {
  local section
  for section in "$@"; do
    awk -v want="# [$section]" '/^# \[/ { on = ($0 == want); next } on && NF && !/^#/ { print $1 }' \
      "$ROOT/tools/packages.txt"
  done
}

# Runs apt-get with services kept from starting when their package is installed.
quiet_apt_get() (
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null
)

# install_packages SECTION...: installs what is missing; touches nothing when nothing is.
install_packages() {
  local package log
  local -a missing=()
  for package in $(wanted_packages "$@"); do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing with apt: ${missing[*]}"
  log=$(mktemp)
  if ! { quiet_apt_get update && quiet_apt_get install --no-install-recommends -y "${missing[@]}"; } \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

# configure DIRECTORY MESON-OPTION...: sets a build directory up, or brings its options up to date.
# The compiler comes from CXX; the output is shown only when something is wrong.
configure() {
  local directory=$1 log
  shift
  log=$(mktemp)
  if [ -f "$ROOT/$directory/build.ninja" ]; then
    meson configure "$ROOT/$directory" "$@" >"$log" 2>&1 </dev/null
  else
    meson setup "$ROOT/$directory" "$ROOT" "$@" >"$log" 2>&1 </dev/null
  fi || {
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "meson could not configure $directory/"
  }
  rm -f "$log"
}

# Builds build/app/wirecached and nothing else.
build_wirecached() {
  local log
  say "building wirecached in build/ (the first time takes a few minutes)"
  CXX=g++ configure build -Dwerror=true
  log=$(mktemp)
  ninja -C "$ROOT/build" app/wirecached >"$log" 2>&1 </dev/null || {
    grep -m1 -A 20 -E '^FAILED|error' "$log" >&2
    rm -f "$log"
    die "the build failed"
  }
  rm -f "$log"
}
