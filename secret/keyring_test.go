package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/secret"
)

// secretTool is the Secret Service's program over a directory.
const secretTool = `#!/bin/sh
echo "$*" >>"$HOME/args"
verb=$1; shift
case "$1" in --label=*) shift;; esac
[ "$1 $2 $3" = "service coppice name" ] || exit 9
file="$HOME/ring-$4"
case $verb in
store) cat >"$file";;
lookup) [ -e "$file" ] || exit 1; cat "$file";;
clear) [ -e "$file" ] || exit 1; rm "$file";;
esac
`

// security is the program of a Mac over a directory.
const security = `#!/bin/sh
echo "$*" >>"$HOME/args"
unhex() { printf "$(printf %s "$1" | sed 's/../\\x&/g')"; }
case $1 in
-i) read -r verb up s service a name x hex
  [ "$verb $up $s $service $a $x" = "add-generic-password -U -s coppice -a -X" ] || exit 9
  printf "$(printf %s "$hex" | sed 's/\(..\)/\\x\1/g')" >"$HOME/ring-$name";;
find-generic-password) [ -e "$HOME/ring-$5" ] || { echo "could not be found" >&2; exit 44; }; cat "$HOME/ring-$5"; echo;;
delete-generic-password) [ -e "$HOME/ring-$5" ] || { echo "could not be found" >&2; exit 44; }; rm "$HOME/ring-$5";;
*) exit 9;;
esac
`

func TestKeyrings(t *testing.T) {
	t.Parallel()
	for system, program := range map[string]struct{ name, text string }{"linux": {"secret-tool", secretTool}, "darwin": {"security", security}} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.System = system
			source := secret.Source{Keyring: "NAME"}
			b.refused("no program", source, coppice.EUnavailable, program.name)
			if err := b.WriteKeyring(t.Context(), "NAME", value); coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(coppice.Public(err).Fix, "without --keyring") {
				t.Errorf("no program: %v", err)
			}
			b.write("bin/"+program.name, strings.Replace(program.text, "#!/bin/sh", "#!/bin/bash", 1), 0o755)
			b.refused("nothing stored", source, coppice.ENotFound, "no entry")
			if err := b.WriteKeyring(t.Context(), "NAME", value); err != nil {
				t.Fatal(err)
			}
			if got, err := b.from(source); err != nil || got != value {
				t.Errorf("%q, %v", got, err)
			}
			for range 2 { // the second time there is nothing to remove
				if err := b.RemoveKeyring(t.Context(), "NAME"); err != nil {
					t.Error(err)
				}
			}
			b.refused("removed", source, coppice.ENotFound, "no entry")
			if err := b.WriteKeyring(t.Context(), "NAME", strings.Repeat("long enough ", 500)); coppice.ErrorCode(err) != coppice.ETooLarge {
				t.Errorf("a long value: %v", err)
			}
			args, err := os.ReadFile(filepath.Join(b.root, "home", "args"))
			if err != nil || strings.Contains(string(args), value) || !strings.Contains(string(args), "NAME") {
				t.Errorf("its arguments, %v:\n%s", err, args)
			}
		})
	}
}

func TestOtherKeyring(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.System = "plan9"
	b.refused("no keyring", secret.Source{Keyring: "NAME"}, coppice.EUnavailable, "plan9")
	b.System = "linux"
	b.write("bin/secret-tool", "#!/bin/sh\necho locked >&2\nexit 1\n", 0o755)
	b.refused("a locked keyring", secret.Source{Keyring: "NAME"}, coppice.EUnavailable, "locked")
	if err := b.RemoveKeyring(t.Context(), "NAME"); err == nil {
		t.Error("a locked keyring removes nothing, and says so")
	}
}
