/** The folder of this package: one above the sources, and one above the bundle, which is in `dist`. */
export const packageRoot: URL = new URL('../', import.meta.url);
