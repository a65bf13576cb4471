#!/bin/sh
# The sample's check: every script parses, and the program still greets.
set -eu
for f in *.sh; do sh -n "$f"; done
out=$(sh greet.sh ada)
case "$out" in
*ada*) ;;
*) echo "greet.sh forgot ada: $out"; exit 1 ;;
esac
if [ -f count.sh ]; then
  [ "$(sh count.sh a b c)" = 3 ] || { echo "count.sh a b c printed $(sh count.sh a b c), not 3"; exit 1; }
fi
echo "all good"
