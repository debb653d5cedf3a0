"""The part of scripts that makes namespaces, and removes them again however the script ends."""

from __future__ import annotations

__all__ = ["GUARD", "NAMESPACE"]

NAMESPACE = "namespace"
"""The function of the script that makes a namespace and notes that it is there."""

# All scripts give the same names, and at most one is at work. Its folder is made elsewhere and
# comes to its place complete, in one step: of two scripts that begin at one moment one has it. What
# the script has started is known by its environment, since `iperf3 -D` leaves its group. Signals
# wait while a namespace is made and noted, and are ignored from the first one on that ends it.
GUARD = r"""
# One script at a time: its folder says what it has made, and nothing else is removed.
notes=/run/forebay-linux asked='' ended=''
new=$(mktemp -d "$notes.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'asked=yes' INT TERM HUP
began=$(cut -d ' ' -f 22 "/proc/$$/stat")
echo "$$ $began" >"$new/owner"
: >"$new/made"
cat >"$new/clean" <<'END'
#!/bin/sh
# Ends the processes that a script of Forebay has started, and removes its namespaces.
trap '' INT TERM HUP
notes=/run/forebay-linux
read -r pid began <"$notes/owner" || exit 1
if [ "${1-}" != "$pid" ]; then
  if [ "$(cut -d ' ' -f 22 "/proc/$pid/stat" 2>/dev/null)" = "$began" ]; then
    echo "a script of Forebay, process $pid, is at work; it removes what it makes" >&2
    exit 1
  fi
  if [ "${1-}" = look ]; then
    echo "a script of Forebay was killed; this removes what it has left: sh $notes/clean" >&2
    exit 1
  fi
fi
for file in $(grep -lsFzx "FOREBAY_LINUX=$pid.$began" /proc/[0-9]*/environ); do
  file=${file#/proc/}
  kill "${file%/environ}" 2>/dev/null
done
while read -r name; do ip netns del "$name"; done <"$notes/made"
mv -T "$notes" "$notes.$pid" && rm -r "$notes.$pid"
END
if ! mv -T "$new" "$notes" 2>/dev/null; then
  sh "$notes/clean" look || true
  exit 1
fi
clean() {
  trap '' INT TERM HUP
  if [ -z "$ended" ]; then ended=yes && env -u FOREBAY_LINUX sh "$notes/clean" $$ || true; fi
}
stop() {
  clean
  exit 130
}
trap clean EXIT
export FOREBAY_LINUX="$$.$began"
namespace() {
  trap 'asked=yes' INT TERM HUP
  if ! (trap '' INT TERM HUP && exec ip netns add "$1"); then
    echo "no script of Forebay has made it; this removes it: ip netns del $1" >&2
    exit 1
  fi
  echo "$1" >>"$notes/made"
  trap stop INT TERM HUP
  if [ -n "$asked" ]; then stop; fi
}
""".strip("\n")
"""Definitions and traps; what the script makes by `NAMESPACE` behind them is removed at its end."""
