package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func totalMemory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	return uint64(info.Totalram) * uint64(info.Unit), nil
}

// fileSystem names the file system of a directory. It notes an ext4 without a
// journal, which can lose synced data when the machine loses power. If the
// kernel does not show its journals, as in many containers, it notes nothing.
func fileSystem(dir string) (name, note string) {
	var stat unix.Stat_t
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Stat(dir, &stat) != nil {
		return "", ""
	}
	device := fmt.Sprintf("%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	name, source := mountOf(string(mounts), device)
	if name != "ext4" {
		return name, ""
	}
	journals, err := os.ReadDir("/proc/fs/jbd2")
	if err != nil {
		return name, ""
	}
	for _, j := range journals {
		if strings.HasPrefix(j.Name(), filepath.Base(source)+"-") {
			return name, ""
		}
	}
	return name, "without a journal: a power cut can lose what was already synced"
}

// mountOf finds a device in the kernel's list of mounts and returns the type
// and source of its file system. A line reads: id, parent, device, root, mount
// point, options, optional fields, "-", type, source, options.
func mountOf(mounts, device string) (kind, source string) {
	for line := range strings.Lines(mounts) {
		front, back, ok := strings.Cut(line, " - ")
		fields, tail := strings.Fields(front), strings.Fields(back)
		if ok && len(fields) > 3 && len(tail) > 1 && fields[2] == device {
			return tail[0], tail[1]
		}
	}
	return "", ""
}
