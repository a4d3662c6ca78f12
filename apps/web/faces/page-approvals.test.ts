// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { browserName } from './browser.ts';
import { rig, scenePlaces } from './rig.ts';
import { logIn, say, scene, sessionIn, stands, visit, withBrowser } from './visitor.ts';

withBrowser();

/** Makes the page press "y" itself while the next card is new, because a command of a driver can take longer than that. */
async function pressWhileNew(page: Page): Promise<void> {
  await page.evaluate(() => {
    const changes = new MutationObserver(() => {
      if (document.querySelector('.approval') === null) return;
      changes.disconnect();
      const from = performance.now();
      let presses = 0;
      const press = () => {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true }));
        presses += 1;
      };
      press();
      const timer = setInterval(() => {
        // A timer can be late on a busy machine.
        if (performance.now() - from < 350) return press();
        clearInterval(timer);
        Object.assign(globalThis, { presses });
      }, 20);
    });
    changes.observe(document.body, { childList: true, subtree: true });
  });
}

describe('approvals in the page', () => {
  test('show the diff above the message, and "y" allows exactly this call', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'write it');
    await page.locator('.approval .diff-line.added').first().waitFor();
    // The title of the tab changes one render later.
    await expect.poll(() => page.title()).toMatch(/^! /);
    const [card, field] = [
      await page.locator('.approval').boundingBox(),
      await page.locator('.composer').boundingBox(),
    ];
    expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThanOrEqual((field?.y ?? 0) + 1);
    await page.waitForTimeout(450);
    await page.keyboard.press('y');
    await stands(page, 'complete');
    const log = (await logIn(page)).map((line) => JSON.parse(line));
    const [asked, decided] = ['approval_requested', 'approval_decided'].map((type) =>
      log.find((event) => event.type === type),
    );
    expect(decided).toMatchObject({ approvalId: asked.approvalId, decision: 'allow' });
    expect((await one.ask('GET', '/v1/approvals')).items).toEqual([]);
  });

  test('ignore a key pressed as the question appears or in a text field', async () => {
    const { page, rig: one } = await scene();
    await pressWhileNew(page);
    await say(page, 'write it');
    await expect.poll(() => page.evaluate('globalThis.presses ?? 0'), { timeout: 20_000 }).toBeGreaterThan(0);
    await page.getByLabel('Message', { exact: true }).focus();
    await page.waitForTimeout(450);
    await page.keyboard.type('yny');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('yny');
    expect((await one.ask('GET', '/v1/approvals')).items).toHaveLength(1);
  });

  test('send the reason of a denial to the model', async () => {
    const { page } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.waitForTimeout(450);
    await page.keyboard.press('e');
    await page.getByLabel('Message for the model').fill('Use the other folder.');
    await page.keyboard.press('Enter');
    await page.locator('.item.answer .prose', { hasText: 'Use the other folder.' }).waitFor();
    expect(await page.locator('.call.denied .outcome').innerText()).toMatch(/denied/);
    expect(await page.locator('.call.denied .reason').innerText()).toBe('Use the other folder.');
  });

  test('are denied with "n"', async () => {
    const { page } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.waitForTimeout(450);
    await page.keyboard.press('n');
    await stands(page, 'complete');
    expect(await page.locator('.call.denied').count()).toBe(1);
  });

  test('count down to their expiry, and cannot be allowed afterwards', async () => {
    // Long enough for the slowest driver to look at the card.
    const one = await rig({ approvalMs: 8_000 });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await say(page, 'write it');
    await page.locator('.expiry', { hasText: /expires in [1-8] s/ }).waitFor();
    await page.locator('.expiry', { hasText: 'expired' }).waitFor();
    expect(await page.getByRole('button', { name: /Allow once/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Continue without it' }).click();
    await stands(page, 'complete');
    expect(await page.locator('.call .outcome').innerText()).toMatch(/expired|denied/);
    expect(await page.locator('.call.done').count()).toBe(0);
  });

  test('can be allowed only after all of the call was on the screen [P21]', async () => {
    const { page, rig: one } = await scene();
    await say(page, `run ask ${'a'.repeat(20_000)}; rm -rf src`);
    await page.getByRole('button', { name: /^Show more, then allow/ }).waitFor();
    const open = async () => ((await one.ask('GET', '/v1/approvals')).items as unknown[]).length;
    await page.waitForTimeout(450);
    await page.keyboard.press('y');
    expect([await page.getByRole('button', { name: /Allow once/ }).count(), await open()]).toEqual([0, 1]);
    const allow = page.getByRole('button', { name: /Allow once/ });
    for (let presses = 0; presses < 100 && (await allow.count()) === 0; presses += 1) {
      await page.keyboard.press('d');
      await page.waitForTimeout(20);
    }
    await page.keyboard.press('y');
    await stands(page, 'complete');
    expect(await open()).toBe(0);
  });

  test('start at the top, also after another one was read to its end [P21]', async () => {
    const { page, rig: one } = await scene();
    await say(page, `each ask ${'a'.repeat(20_000)} / ask ${'b'.repeat(20_000)}; rm -rf src`);
    const more = page.getByRole('button', { name: /^Show more, then allow/ });
    const open = async () => ((await one.ask('GET', '/v1/approvals')).items as unknown[]).length;
    await more.waitFor();
    await page.waitForTimeout(450);
    // Who holds the key down does not allow the call when its end comes.
    await more.focus();
    for (let presses = 0; presses < 100; presses += 1) {
      await page.keyboard.down('Enter');
      // The driver of WebKit does not repeat a key that is held.
      if (browserName === 'webkit') await page.keyboard.up('Enter');
      await page.waitForTimeout(10);
    }
    await page.keyboard.up('Enter');
    await page.getByRole('button', { name: /Allow once/ }).waitFor();
    expect(await open()).toBe(2);
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('approval');
    await page.keyboard.press('y');
    await page.locator('.approval .command', { hasText: 'bbb' }).waitFor();
    await page.waitForTimeout(450);
    await page.keyboard.press('y');
    expect([await more.count(), await open()]).toEqual([1, 1]);
    expect(await page.locator('.approval-body').evaluate((body) => body.scrollTop)).toBe(0);
  });

  test('save a rule only after its button has stayed in its place, not with a double click before [P21]', async () => {
    const places = scenePlaces();
    const one = await rig({ places });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await say(page, 'run ask npm test');
    await page.waitForTimeout(900);
    await page.getByText('Always allow…').dblclick();
    await page.waitForTimeout(100);
    expect([(await one.ask('GET', '/v1/approvals')).items, places.kept]).toEqual([[expect.anything()], []]);
    await page.getByText('run_command(ask npm test)').waitFor();
    await page.getByRole('button', { name: 'Save this rule and allow' }).click();
    await stands(page, 'complete');
    expect(places.kept).toEqual(['run_command(ask npm test)']);
  });

  test('can be reached to the last button in a low window', async () => {
    const { page } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.setViewportSize({ width: 390, height: 240 });
    const card = page.locator('.approval');
    await card.locator('header').hover();
    await page.mouse.wheel(0, 2_000);
    await page.waitForTimeout(300);
    const [box, last] = [await card.boundingBox(), await card.locator('footer button').last().boundingBox()];
    const deny = await card.locator('footer button').first().boundingBox();
    for (const button of [last, deny])
      expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(
        (box?.y ?? 0) + (box?.height ?? 0),
      );
  });

  test.each([
    [1280, 1],
    [390, 40],
  ])('show the reason and every line in full, at %d px', async (width, lines) => {
    const { page } = await scene();
    await page.setViewportSize({ width, height: 700 });
    await say(page, `write ${lines}`);
    await page
      .locator('.approval .diff-line.added')
      .nth(lines - 1)
      .waitFor();
    expect(await page.locator('.approval').innerText()).toContain('This file is protected.');
    // Nothing inside the body is cut or has a scroll area of its own. Text in a line has no box, but a size in Firefox.
    const cut = await page
      .locator('.approval-body *')
      .evaluateAll(
        (all) =>
          all.filter(
            (one) =>
              getComputedStyle(one).display !== 'inline' &&
              (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1),
          ).length,
      );
    expect(cut).toBe(0);
    const end = page.locator('.approval .diff-line.added .code').nth(lines - 1);
    await end.scrollIntoViewIfNeeded();
    const [box, line] = [await page.locator('.approval-body').boundingBox(), await end.boundingBox()];
    expect((line?.x ?? 0) + (line?.width ?? 0)).toBeLessThanOrEqual((box?.x ?? 0) + (box?.width ?? 0));
  });

  test('disappear when they are decided elsewhere, and the page reports it', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'run ask me');
    await page.locator('.approval .command', { hasText: 'ask me' }).waitFor();
    const [asked] = (await one.ask('GET', '/v1/approvals')).items as { approvalId: string; hash: string }[];
    const path = `/v1/sessions/${sessionIn(page)}/approvals/${asked?.approvalId}`;
    await one.ask('POST', path, { decision: 'allow', hash: asked?.hash });
    await page.getByText('allowed elsewhere').waitFor();
    await stands(page, 'complete');
    expect(await page.locator('.approval').count()).toBe(0);
  });
});
