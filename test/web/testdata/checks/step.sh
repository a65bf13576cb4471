# Prints what comes through a named pipe, until that is an exit code. The base, which
# has no pages, passes.
[ -d pages ] || exit 0
exec 3<> "$1" # for writing too, so that it never ends
while read -r line <&3; do
	case "$line" in
	exit*) exit "${line#exit }" ;;
	*) echo "$line" ;;
	esac
done
