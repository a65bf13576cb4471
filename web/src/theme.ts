// Applies the chosen theme before anything is drawn. It is a separate file
// because the page's policy allows no inline script.
import { applyTheme, prefs } from "./state/prefs";

applyTheme(prefs().theme);
