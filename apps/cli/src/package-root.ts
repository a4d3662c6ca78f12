/** The directory of this package: one above the sources, and one above the bundle in `dist`. */
export const packageRoot: URL = new URL('../', import.meta.url);
