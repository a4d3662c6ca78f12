import { execFileSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';

/** Names of Chromium executables on different systems. */
const installed = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Starts a Chromium: that of `COBBLER_CHROMIUM`, else an installed one, else the one from npm.
 * @throws Error with installation instructions.
 */
export async function openBrowser(): Promise<Browser> {
  const tried: string[] = [];
  for (const find of [named, onPath, fromNpm]) {
    try {
      const executablePath = await find();
      if (executablePath === undefined) continue;
      tried.push(executablePath);
      const args = ['--no-sandbox', '--disable-gpu', '--no-zygote', '--enable-precise-memory-info'];
      return await chromium.launch({ executablePath, headless: true, args });
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

function named(): string | undefined {
  return process.env['COBBLER_CHROMIUM'];
}

function onPath(): string | undefined {
  for (const name of installed) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next one.
    }
  }
  return undefined;
}

async function fromNpm(): Promise<string> {
  const { default: packed } = await import('@sparticuz/chromium');
  return await packed.executablePath();
}
