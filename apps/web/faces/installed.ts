import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { miniBrowser } from './drivers/mini-browser.ts';

/** The browsers in which the page is tested. */
export const browserNames = ['chromium', 'firefox', 'webkit'] as const;

export type BrowserName = (typeof browserNames)[number];

/** Returns why a browser cannot be tested here, and what to install. Chromium can always be downloaded. */
export function whyMissing(name: BrowserName): string | undefined {
  if (name === 'firefox' && firefox() === undefined)
    return 'no Firefox is installed (`apt-get install firefox-esr`, or name one in COBBLER_FIREFOX)';
  const needed = [onPath(['WebKitWebDriver']), onPath(['Xvfb']), miniBrowser()];
  if (name === 'webkit' && needed.includes(undefined))
    return 'no WebKitGTK with its driver and a virtual screen is installed (`apt-get install webkit2gtk-driver xvfb`)';
  return undefined;
}

/** Returns the path of Firefox, or undefined. */
export function firefox(): string | undefined {
  const path = process.env['COBBLER_FIREFOX'] ?? onPath(['firefox', 'firefox-esr']);
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** Returns the path of the first of these programs that is installed, or undefined. */
export function onPath(names: readonly string[]): string | undefined {
  for (const name of names) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next one.
    }
  }
  return undefined;
}
