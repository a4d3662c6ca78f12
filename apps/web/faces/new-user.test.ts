// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
// Problems of users who knew only the address of the page.
import { describe, expect, test } from 'vitest';
import { browserName } from './browser.ts';
import { say, scene, sessionIn, stands, withBrowser } from './visitor.ts';

withBrowser();

const focused = 'document.activeElement?.id';

describe('a new user of the page', () => {
  test('can type at once: all keys go to the message, and none acts as a shortcut', async () => {
    const { page } = await scene();
    await expect.poll(() => page.evaluate(focused)).toBe('message');
    await page.keyboard.type('please find a bug?');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('please find a bug?');
    await page.keyboard.press('Enter');
    await stands(page, 'complete');
    await page.keyboard.type('check it');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('check it');
    await page.getByRole('button', { name: 'New', exact: true }).click();
    await expect.poll(() => page.evaluate(focused)).toBe('message');
  });

  test('gets no automatic focus on a touch screen, so that no keyboard covers the page', async ({ skip }) => {
    skip(browserName === 'webkit', 'WebKitGTK has no touch screen');
    const { page } = await scene({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
    await page.getByText('What should be done?').waitFor();
    expect(await page.evaluate(focused)).not.toBe('message');
  });

  test('can allow a call with a key and type on without losing a letter', async () => {
    const { page } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.waitForTimeout(450);
    await page.keyboard.press('y');
    await stands(page, 'complete');
    await expect.poll(() => page.evaluate(focused)).toBe('message');
    await page.keyboard.type('check it');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('check it');
  });

  test('sees the same cost everywhere, also for a session with a cancelled run', async () => {
    const { page } = await scene();
    await say(page, 'slowly 200');
    await page.locator('.live .prose').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await stands(page, 'cancelled');
    await say(page, 'say Hello.');
    await stands(page, 'complete');
    const cost = await page.locator('.money span').last().innerText();
    await page.locator('.session-row .cost', { hasText: cost }).waitFor();
    await page.locator('.panel-toggle').click();
    await page.getByRole('tab', { name: 'Usage' }).click();
    expect(await page.locator('.sums dd').first().innerText()).toBe(cost);
  });

  test('closes the menu, and nothing else, with Esc or a click outside', async () => {
    const { page } = await scene();
    await say(page, 'say Hello.');
    await stands(page, 'complete');
    await page.locator('.panel-toggle').click();
    const menu = page.locator('.menu-list');
    await page.getByLabel('More').click();
    await menu.waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    expect(await page.locator('.panel').count()).toBe(1);
    await page.getByLabel('More').click();
    await menu.waitFor();
    await page.locator('.item.said').click();
    await menu.waitFor({ state: 'hidden' });
  });

  test('renames a session in place: Esc discards the change, an empty title restores the first words', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'say Hello.');
    await stands(page, 'complete');
    const [title, field] = [page.locator('.head h1'), page.getByLabel('Title')];
    await title.getByRole('button').click();
    await field.fill('Half of');
    await page.keyboard.press('Escape');
    expect(await title.innerText()).toBe('say Hello.');
    await page.getByLabel('More').click();
    await page.getByRole('button', { name: 'Rename' }).click();
    await field.fill('The bug');
    await page.keyboard.press('Enter');
    await page.locator('.session-row', { hasText: 'The bug' }).waitFor();
    expect(await title.innerText()).toBe('The bug');
    // The title of the tab changes one render later.
    await expect.poll(() => page.title()).toBe('The bug – Cobbler');
    expect(await one.ask('GET', `/v1/sessions/${sessionIn(page)}`)).toMatchObject({ title: 'The bug' });
    await title.getByRole('button').click();
    await field.fill('');
    await page.keyboard.press('Enter');
    await page.locator('.session-row', { hasText: 'say Hello.' }).waitFor();
  });

  test('can type a search at once: no key goes elsewhere', async () => {
    const { page } = await scene();
    await say(page, 'say Hello to everybody.');
    await stands(page, 'complete');
    await page.getByLabel('Find in this conversation').click();
    await page.locator('.find-bar input').waitFor();
    await page.keyboard.type('everybody');
    expect(await page.locator('.find-bar input').inputValue()).toBe('everybody');
  });

  test('can type a search right after "/", before the page has drawn a frame', async () => {
    const { page } = await scene();
    await say(page, 'say Hello to everybody.');
    await stands(page, 'complete');
    const focused = await page.evaluate(async () => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
      // No frame is drawn between microtasks, however slow the machine is.
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      return document.activeElement?.getAttribute('aria-label');
    });
    expect(focused).toBe('Find in this conversation');
  });
});
