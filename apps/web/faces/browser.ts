import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';
import { FirefoxBrowser } from './drivers/firefox.ts';
import { playwrightLike } from './drivers/page.ts';
import { WebKitBrowser } from './drivers/webkit.ts';
import type { BrowserName } from './installed.ts';
import { browserNames, firefox, onPath, whyMissing } from './installed.ts';

/** The browser of this test run. Each one is a project of vitest.config.ts. */
export const browserName: BrowserName =
  browserNames.find((name) => name === process.env['COBBLER_PAGE_BROWSER']) ?? 'chromium';

/** Starts the browser of this test run. */
export async function openBrowser(): Promise<Browser> {
  const missing = whyMissing(browserName);
  if (missing !== undefined) throw new Error(missing);
  if (browserName === 'chromium')
    return await startChromium((options) => chromium.launch({ ...options, headless: true }));
  return playwrightLike(
    browserName === 'firefox' ? new FirefoxBrowser(firefox() ?? '') : new WebKitBrowser(),
  );
}

/**
 * Starts a Chromium: that of `COBBLER_CHROMIUM`, else an installed one, else the one from npm.
 * @throws Error with installation instructions.
 */
export async function startChromium<Started>(
  start: (options: { executablePath: string; args: string[] }) => Promise<Started>,
): Promise<Started> {
  const tried: string[] = [];
  for (const find of [named, () => onPath(chromiums), fromNpm]) {
    try {
      const executablePath = await find();
      if (executablePath === undefined) continue;
      tried.push(executablePath);
      const args = ['--no-sandbox', '--disable-gpu', '--no-zygote', '--enable-precise-memory-info'];
      return await start({ executablePath, args });
    } catch (error) {
      tried.push(String(error).split('\n')[0] ?? '');
    }
  }
  throw new Error(
    'The tests of the page need a Chromium and found none that starts. Install one (`apt-get install chromium`), ' +
      'or name one in COBBLER_CHROMIUM, or run `npm ci` in apps/web/faces for the one of npm (Linux, x64). ' +
      `Tried: ${tried.join('; ') || 'nothing'}`,
  );
}

/** Names of Chromium executables on different systems. */
const chromiums = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function named(): string | undefined {
  return process.env['COBBLER_CHROMIUM'];
}

async function fromNpm(): Promise<string> {
  const { default: packed } = await import('@sparticuz/chromium');
  return await packed.executablePath();
}
