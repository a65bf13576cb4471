# Says each line that comes through the named pipe that its task tells of.
pipe=$(grep -o '/[^ ]*/pipe' | head -n 1)
exec 3<> "$pipe" # for writing too, so that it never ends
echo "I listen."
while read -r words <&3; do
	echo "$words"
done
