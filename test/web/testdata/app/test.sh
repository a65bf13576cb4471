# Every file that holds a number must hold an even one.
for f in numbers/*; do
	[ -e "$f" ] || continue
	n=$(cat "$f")
	echo "$f holds $n"
	[ $((n % 2)) -eq 0 ] || { echo "$n is odd"; exit 1; }
done
