import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Rig } from './rig.ts';
import { say, scene, withBrowser } from './visitor.ts';

withBrowser();

const narrow = { viewport: { width: 390, height: 844 } };

async function open(one: Rig): Promise<number> {
  return ((await one.ask('GET', '/v1/approvals')).items as unknown[]).length;
}

/** Clicks twice in the page, without a pause, as soon as a button exists. */
async function clickAtOnce(page: Page, name: string): Promise<boolean> {
  return await page.evaluate(
    (wanted) =>
      new Promise<boolean>((resolve) => {
        const look = () => {
          const button = [...document.querySelectorAll('button')].find((each) =>
            each.textContent?.startsWith(wanted),
          );
          if (button === undefined) return false;
          const isEnabled = !button.disabled;
          button.click();
          button.click();
          resolve(isEnabled);
          return true;
        };
        if (look()) return;
        const changes = new MutationObserver(() => look() && changes.disconnect());
        changes.observe(document.body, { childList: true, subtree: true });
      }),
    name,
  );
}

describe('a click that was meant for something else [P21]', () => {
  test('decides nothing as the card appears, and the same click decides afterwards', async () => {
    const { page, rig: one } = await scene(narrow);
    const clicked = clickAtOnce(page, 'Allow once');
    await say(page, 'run ask me');
    expect(await clicked).toBe(false);
    await page.waitForTimeout(300);
    expect(await open(one)).toBe(1);
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('It ran.').first().waitFor();
  });

  test('decides nothing as a second card replaces the first', async () => {
    const { page, rig: one } = await scene(narrow);
    await say(page, 'each ask one / ask two');
    const button = page.getByRole('button', { name: 'Allow once' });
    await button.waitFor();
    await page.waitForTimeout(450);
    const box = await button.boundingBox();
    const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
    await page.mouse.dblclick(x, y);
    await page.locator('.approval', { hasText: 'ask two' }).waitFor();
    await page.mouse.dblclick(x, y);
    await page.waitForTimeout(200);
    expect(await open(one)).toBe(1);
    await button.click();
    await page.getByText('They ran.').first().waitFor();
  });

  test('decides nothing as "Allow once" replaces "Show more, then allow"', async () => {
    const { page, rig: one } = await scene(narrow);
    await say(page, 'write 14');
    const more = page.getByRole('button', { name: /^Show more/ });
    await more.waitFor();
    await page.waitForTimeout(450);
    await page.evaluate(`document.querySelector('.approval-body').scrollTop = 1e6`);
    const clicked = clickAtOnce(page, 'Allow once');
    expect(await clicked).toBe(false);
    await page.waitForTimeout(100);
    expect(await open(one)).toBe(1);
    await page.getByRole('button', { name: 'Allow once' }).click();
    await expect.poll(() => open(one)).toBe(0);
  });
});
