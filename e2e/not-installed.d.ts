// Packages that only a suite's own lockfile has. `npm run check` sees their names and nothing of their types, installed
// or not; with a suite's own tsconfig.json, which an editor uses, the real types count.

declare module '@sparticuz/chromium';

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
