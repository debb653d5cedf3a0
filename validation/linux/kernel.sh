#!/bin/sh
# Builds the kernel in which `forebay linux --run --in uml` runs: Debian's linux-source-6.1 as an
# ordinary program (User Mode Linux) with simulated time. It is built once, into the user's cache
# folder; about ten minutes on two idle cores. Needs the packages of install.sh, downloads nothing.
#
#     validation/linux/kernel.sh [--force]
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
source=/usr/src/linux-source-6.1.tar.xz
cache=${XDG_CACHE_HOME:-$HOME/.cache}/forebay
image=$cache/linux-uml

if [ ! -r "$source" ]; then
  echo "$source is missing: run validation/linux/install.sh (package linux-source-6.1)" >&2
  exit 2
fi
for tool in bc bison flex gcc make xz; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is missing: run validation/linux/install.sh" >&2
    exit 2
  fi
done

# An image is that of its sources and configuration: others have it built again.
wanted=$(cat "$here/kernel.config" "$source" | sha256sum | cut -d ' ' -f 1)
if [ "${1-}" != --force ] && [ -x "$image" ] && [ "$(cat "$image.of" 2>/dev/null)" = "$wanted" ]
then
  echo "$image"
  exit 0
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
echo "building $image (log: $cache/build.log)" >&2
tar -C "$work" -xf "$source"
cd "$work/linux-source-6.1"
if ! { make ARCH=um defconfig &&
  ARCH=um scripts/kconfig/merge_config.sh -m .config "$here/kernel.config" &&
  make ARCH=um olddefconfig &&
  nice -n 19 make ARCH=um -j2 linux; } >"$cache/build.log" 2>&1
then
  tail -n 20 "$cache/build.log" >&2
  exit 1
fi

# A line of the fragment that the configuration lacks is an option that this kernel does not know.
if grep '^CONFIG_' "$here/kernel.config" | grep -vxFf .config >&2; then
  echo "the kernel was configured without these" >&2
  exit 1
fi
strip --strip-debug linux
cp .config "$image.config"
mv linux "$image"
echo "$wanted" >"$image.of"
echo "$image"
