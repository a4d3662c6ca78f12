/** Light, dark, or what the system says. */
export type Theme = 'auto' | 'light' | 'dark';

export const themes: readonly Theme[] = ['auto', 'light', 'dark'];

const key = 'theme';

/** The theme that was chosen in this browser. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((theme) => theme === stored) ?? 'auto';
}

/** Chooses a theme, here and from now on. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'auto') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  showTheme(theme);
}

/** Shows the page in a theme. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}
