package setup_test

import (
	"bytes"
	"regexp"
)

// file is one file of a case. A case is a text of files, each after a line
// "-- name --", so that a whole repository can be read at a glance and none of
// its parts, such as a .gitignore, means anything to the repository around it.
type file struct {
	Name string
	Data []byte
}

var header = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

func parseArchive(b []byte) []file {
	var files []file
	marks := header.FindAllSubmatchIndex(b, -1)
	for i, m := range marks {
		end := len(b)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		files = append(files, file{string(b[m[2]:m[3]]), b[m[1]:end]})
	}
	return files
}

func formatArchive(files []file) []byte {
	var b bytes.Buffer
	for _, f := range files {
		b.WriteString("-- " + f.Name + " --\n")
		b.Write(f.Data)
	}
	return b.Bytes()
}
