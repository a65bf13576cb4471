package child

import (
	"html"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gen2brain/beeep"

	"coppice"
	"coppice/notify"
)

// The limits of a bubble on the desktop.
var (
	desktopTitle = notify.Limit{Most: 120, Unit: notify.Runes}
	desktopText  = notify.Limit{Most: 700, Unit: notify.Runes}
)

// desktopEscape escapes the markup that the notification services of Linux know.
func desktopEscape(r rune) string {
	if runtime.GOOS != "darwin" && strings.ContainsRune("&<>", r) {
		return html.EscapeString(string(r))
	}
	return string(r)
}

// desktop shows a message on the desktop of the user who runs Coppice.
func desktop(m notify.Message) error {
	if runtime.GOOS == "linux" && !hasBus() {
		return errNoDesktop("there is no session bus")
	}
	beeep.AppName = "Coppice"
	title := desktopTitle.Fit(m.Title, nil)
	if strings.HasPrefix(title, "-") { // programs that beeep falls back to read it as an option
		title = "\u2060" + title
	}
	text := m.Marked(desktopText, desktopEscape)
	if strings.HasPrefix(text, "-") {
		text = "\u2060" + text
	}
	show := beeep.Notify
	if m.Priority == coppice.PriorityUrgent {
		show = beeep.Alert
	}
	if err := show(title, text, ""); err != nil {
		return errNoDesktop(coppice.FirstLine(err.Error()))
	}
	return nil
}

// hasBus reports whether there is a session bus. Without one, the D-Bus library would
// start one that has no notification service.
func hasBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	u, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/run/user", u.Uid, "bus"))
	return err == nil
}

func errNoDesktop(why string) error {
	return coppice.Failf(coppice.ClassCapability, "the desktop of this machine cannot show notifications: "+why,
		"start coppice serve in your desktop session, with a notification service such as dunst, or use another kind of notifier, such as ntfy")
}
