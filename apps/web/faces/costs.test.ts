// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import { readFile } from 'node:fs/promises';
import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import type { EventBody } from '@cobbler/agent/events';
import { answered, eventsOf } from '@cobbler/agent/testing';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { browserName } from './browser.ts';
import { rig } from './rig.ts';
import { needsChromium, say, scene, stands, visit, withBrowser } from './visitor.ts';

withBrowser();

const dayMs = 86_400_000;

/** Stores one response with this cost; without one, its price is unknown. */
async function spend(store: SessionStore, sessionId: string, daysAgo: number, usd?: number): Promise<void> {
  const epoch = await store.claim(sessionId);
  const { length } = await store.read(sessionId);
  const time = new Date(new Date().setHours(12, 0, 0, 0) - daysAgo * dayMs).toISOString();
  const usage = { inputTokens: 40_000 + daysAgo * 100, cacheReadTokens: 30_000, outputTokens: 900 };
  const rest = { model: sessionId, ...(usd !== undefined && { usd }) };
  const body = { ...answered('Done.', rest), usage } as EventBody;
  const events = eventsOf(sessionId, [body], length).map((event) => ({ ...event, time }));
  await store.append(sessionId, events, { epoch, durable: false, release: true });
}

async function costsPage(viewport = { width: 1280, height: 900 }): Promise<Page> {
  const store = memoryStore();
  for (let day = 0; day < 28; day += 1)
    if (day % 6 !== 5)
      await spend(store, day % 3 === 0 ? 'large-model' : 'small-model', day, 0.4 + ((day * 7) % 9) / 5);
  await spend(store, 'own-model', 4);
  await spend(store, 'large-model', 200, 50);
  const one = await rig({ store });
  onTestFinished(() => one.close());
  const { page } = await visit(one.address, { viewport });
  if (viewport.width < 760) await page.getByRole('button', { name: 'Sessions' }).click();
  await page.getByRole('link', { name: 'Costs' }).click();
  await page.locator('.cost-chart').waitFor();
  return page;
}

/** Returns the cells of a row of the table. */
async function cells(page: Page, name: string): Promise<string[]> {
  const row = page.locator('.costs-table tr', { hasText: name });
  return (await row.locator('th:visible, td:visible').allInnerTexts()).map((text) => text.trim());
}

describe('the page with costs', () => {
  test('shows the cost of each day and of each group, and a forecast', async () => {
    const page = await costsPage();
    expect(page.url()).toMatch(/\/costs$/);
    expect(await page.title()).toBe('Costs – Cobbler');
    const sums = page.locator('.sums');
    expect(await sums.innerText()).toMatch(/cost without 1 unpriced request\s+\$26\.60/);
    expect(await sums.innerText()).toMatch(/expected by the end of \w+\s+at least \$\d+\.\d\d/);
    expect(await page.locator('.cost-chart .amount').count()).toBe(28);
    const fills = await page.evaluate(() =>
      ['.cost-chart .amount', '.cost-chart .unpriced', '.costs-table rect'].map((selector) => {
        const bar = document.querySelector(selector);
        return bar && getComputedStyle(bar).fill;
      }),
    );
    // Bars without a rule in the style sheet would be black, also on a dark page.
    for (const fill of fills) expect(fill).toMatch(/^rgb\((?!0, 0, 0\))/);
    expect(await cells(page, 'total')).toEqual(['total', '25', '1M', '73%', '22.5k', '$26.60 + 1 unpriced']);
    await page.getByText('model', { exact: true }).click();
    await page.getByRole('row', { name: 'own-model' }).waitFor();
    expect(await cells(page, 'own-model')).toEqual(['own-model', '1', '40.4k', '74%', '900', 'unknown (1)']);
    await page.getByText('all', { exact: true }).click();
    await page.getByRole('row', { name: '$59.40' }).waitFor();
    await page.getByText('session', { exact: true }).click();
    await page.getByRole('table').getByRole('link', { name: 'small-model' }).click();
    await page.waitForURL(({ pathname }) => pathname === '/s/small-model');
  });

  test('downloads the shown costs as CSV', async (context) => {
    needsChromium(context, 'downloads');
    const page = await costsPage();
    await page.getByText('kind', { exact: true }).click();
    await page.getByRole('row', { name: 'responses' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('costs-by-kind.csv');
    const [head, row, ...rest] = (await readFile(await file.path(), 'utf8')).split('\n');
    expect(head).toMatch(/^kind,requests,unpriced,usd,/);
    expect(row).toMatch(/^model,25,1,26\.\d+,/);
    expect(rest).toEqual(['']);
  });

  test('works with the keyboard, and tells a screen reader the cost of the selected day', async () => {
    const page = await costsPage();
    await page.goBack();
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('message');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('cos');
    await page.keyboard.press('Enter');
    await page.locator('.cost-chart').waitFor();
    const slider = page.getByRole('slider', { name: 'Day in the chart' });
    await slider.focus();
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
    const told = (await slider.getAttribute('aria-valuetext')) ?? '';
    expect(told).toMatch(/^\w{3}, \w{3} \d+, \d{4}: \$0\.600 \+ 1 unpriced, 2 requests$/);
    expect(await page.locator('.cost-chart figcaption').innerText()).toContain(told);
    expect(await slider.getAttribute('aria-valuenow')).toBe('23');
    await page.keyboard.press('Home');
    expect(await slider.getAttribute('aria-valuenow')).toBe('0');
    await page.getByRole('radio', { name: 'day', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('row', { name: 'large-model' }).waitFor();
  });

  test('fits on a phone', async ({ skip }) => {
    skip(browserName === 'webkit', 'windows of WebKitGTK are at least 447 pixels wide');
    const page = await costsPage({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(await cells(page, 'total')).toEqual(['total', '25', '$26.60 + 1 unpriced']);
  });

  test('says that there are no costs, until there are', async () => {
    const { page } = await scene();
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('message');
    await page.keyboard.press('Escape');
    await page.keyboard.press('$');
    await page.getByText('No costs in this period').waitFor();
    expect(await page.getByRole('button', { name: 'CSV' }).count()).toBe(0);
    await page.keyboard.press('c');
    await say(page, 'say Hello.');
    await stands(page, 'complete');
    await page.getByRole('link', { name: 'Costs' }).click();
    await page.locator('.costs-table').waitFor();
    expect(await cells(page, 'total')).toEqual([
      'total',
      '1',
      expect.any(String),
      '0%',
      expect.any(String),
      '$0.0041',
    ]);
  });

  test('explains a failure, and tries again', async (context) => {
    needsChromium(context, 'interception of requests');
    const { page } = await scene();
    await page.route('**/v1/costs?*', (asked) => asked.abort(), { times: 1 });
    await page.getByRole('link', { name: 'Costs' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No costs in this period').waitFor();
  });
});
