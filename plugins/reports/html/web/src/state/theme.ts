// Light, dark or the system's theme; stored if the browser offers storage to pages from disk.
import { useLayoutEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const key = "tmeter-theme";

function remembered(): Theme {
  try {
    const theme = localStorage.getItem(key);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";  // file: pages of some browsers have no storage
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // the theme applies nevertheless
  }
}

export function isDark(): boolean {
  const theme = document.documentElement.dataset["theme"];
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function useTheme(): [theme: Theme, next: () => void] {
  const [theme, setTheme] = useState(remembered);
  // Before the first paint, so that the other colours never flash and a press of the button acts at once.
  useLayoutEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    remember(theme);
    dispatchEvent(new Event("tmeter-theme"));
  }, [theme]);
  return [theme, () => setTheme(isDark() ? "light" : "dark")];
}

/** Whether the colours are dark; redraws a component with a canvas when they change. */
export function useColors(): boolean {
  const [dark, setDark] = useState(isDark);
  useLayoutEffect(() => {
    const follow = () => setDark(isDark());
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", follow);
    addEventListener("tmeter-theme", follow);
    follow();
    return () => {
      system.removeEventListener("change", follow);
      removeEventListener("tmeter-theme", follow);
    };
  }, []);
  return dark;
}
