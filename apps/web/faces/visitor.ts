import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { TestContext } from 'vitest';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { browserName, openBrowser } from './browser.ts';
import type { Rig } from './rig.ts';
import { rig } from './rig.ts';

/** A browser in which the page is open. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors that the browser reported, such as blocked scripts. */
  readonly complaints: readonly string[];
}

let browser: Browser | undefined;

/** Skips a test, with the reason in the output, if only Chromium can show what it needs. */
export function needsChromium({ skip }: TestContext, what: string): void {
  skip(browserName !== 'chromium', `in ${browserName}, tests have no ${what}`);
}

/** Starts one browser for all tests of a file. */
export function withBrowser(): void {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
}

/** Opens an address in a separate browser context until the test ends. */
export async function visit(address: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  if (browser === undefined) throw new Error('There is no browser: call withBrowser first.');
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => context.close());
  if (browserName === 'chromium') await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(address);
  await page.locator('.app, .sign-in').waitFor();
  return {
    page,
    context,
    complaints: [...complaints, ...((page as { complaints?: string[] }).complaints ?? [])],
  };
}

/** Starts a server with the fixture and signs in to its page, until the test ends. */
export async function scene(options: BrowserContextOptions = {}): Promise<Visitor & { readonly rig: Rig }> {
  const one = await rig();
  onTestFinished(() => one.close());
  return { ...(await visit(one.address, options)), rig: one };
}

/** Sends a message in the page. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  // On a touch screen, Enter starts a new line.
  if (await page.evaluate(() => matchMedia('(pointer: coarse)').matches))
    await page.getByRole('button', { name: /^(Send|Steer)$/ }).click();
  else await page.keyboard.press('Enter');
}

/** Waits until the page shows this state. */
export async function stands(page: Page, words: string | RegExp): Promise<void> {
  await page.locator('.state', { hasText: words }).waitFor();
}

/** Allows the call that is shown, after scrolling to its end. */
export async function allow(page: Page): Promise<void> {
  await page.locator('.approval-body').evaluate((body) => body.scrollTo(0, body.scrollHeight));
  await page.getByRole('button', { name: /^Allow once/ }).click();
}

/** Returns the id of the session that the page shows. */
export function sessionIn(page: Page): string {
  return /\/s\/([^#]+)/.exec(page.url())?.[1] ?? '';
}

/** Returns the log that the page copies from its events panel. */
export async function logIn(page: Page): Promise<string[]> {
  if ((await page.locator('.panel').count()) === 0) await page.locator('.panel-toggle').click();
  await page.getByRole('tab', { name: 'events' }).click();
  await page.getByRole('button', { name: 'Copy JSONL' }).click();
  await page.locator('.events').getByText('Copied').waitFor();
  return (await clipboardIn(page)).trim().split('\n');
}

/** Returns the text in the clipboard of the page's browser. */
export async function clipboardIn(page: Page): Promise<string> {
  if (browserName !== 'webkit') return await page.evaluate(() => navigator.clipboard.readText());
  // Scripts cannot read it in WebKit, but a key pastes it.
  await page.evaluate(() => {
    const area = document.createElement('textarea');
    area.id = 'pasted';
    document.body.append(area);
    area.focus();
  });
  await page.keyboard.press('Control+v');
  const area = page.locator('#pasted');
  await expect.poll(() => area.inputValue()).not.toBe('');
  const text = await area.inputValue();
  await area.evaluate((element) => element.remove());
  return text;
}

/** Waits until a session has events and no active run. */
export async function idle(one: Rig, sessionId: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const { runId, events } = await one.ask('GET', `/v1/sessions/${sessionId}`);
        return runId === undefined && Number(events) > 0;
      },
      { timeout: 20_000, interval: 20 },
    )
    .toBe(true);
}
