// Packages that only the lockfile of a suite contains. `npm run check` knows their names but not
// their types, installed or not; an editor uses the suite's tsconfig.json and thus the real types.

declare module '@sparticuz/chromium';

declare module 'axe-core';

declare module 'lighthouse';

declare module 'miniflare' {
  export const convertV4MiniflareOptions, Log, LogLevel, Miniflare, Request;
  export type Miniflare = typeof Miniflare;
  export type V4MiniflareOptions = typeof Miniflare;
}

declare module 'playwright-core' {
  export const chromium;
  export type Browser = typeof chromium;
  export type BrowserContext = typeof chromium;
  export type BrowserContextOptions = typeof chromium;
  export type Page = typeof chromium;
}
