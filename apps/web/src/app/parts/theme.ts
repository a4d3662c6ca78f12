/** Light, dark, or the system's theme. */
export type Theme = 'auto' | 'light' | 'dark';

export const themes: readonly Theme[] = ['auto', 'light', 'dark'];

const key = 'theme';

/** Returns the theme chosen in this browser. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((theme) => theme === stored) ?? 'auto';
}

/** Applies a theme and remembers it. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'auto') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  showTheme(theme);
}

/** Applies a theme to the page. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}
