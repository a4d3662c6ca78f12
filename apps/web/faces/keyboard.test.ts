import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserName } from './browser.ts';
import { asking, views, widths } from './views.ts';
import { allow, say, scene, stands, withBrowser } from './visitor.ts';

withBrowser();

/** A description of the element that has the focus, and what a user sees of it. */
interface Focus {
  readonly name: string;
  /** True if an outline, or the frame around the message field, marks it. */
  readonly isMarked: boolean;
  readonly isOnScreen: boolean;
  /** Its number among all elements, from which the order follows. */
  readonly at: number;
}

async function focus(page: Page): Promise<Focus> {
  return await page.evaluate(() => {
    const one = document.activeElement ?? document.body;
    const marked = [one, one.closest('.composer'), one.nextElementSibling].filter((each) => each !== null);
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return {
      name: `${one.tagName} ${one.ariaLabel ?? one.textContent?.slice(0, 40) ?? ''}`,
      isMarked: marked.some((each) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
        return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
      }),
      isOnScreen: right > 0 && bottom > 0 && left < innerWidth && top < innerHeight,
      at: [...document.querySelectorAll('*')].indexOf(one),
    };
  });
}

/** Presses Tab until the focus comes back to its first place. */
async function walk(page: Page): Promise<Focus[]> {
  const steps: Focus[] = [];
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    const now = await focus(page);
    // After the last element, the focus leaves the page, in Firefox for good.
    if (now.at === steps[0]?.at || now.at === steps.at(-1)?.at) break;
    if (!/^(BODY|HTML)/.test(now.name)) steps.push(now);
  }
  return steps;
}

describe('with the keyboard alone', () => {
  test.each(['a new session', 'a conversation with an approval', 'events', 'costs'])(
    'every element of %s can have the focus, in order and visibly',
    async (name) => {
      const page = (await views[name]?.()) as Page;
      // Tab continues from here, at the beginning of the page.
      await page.evaluate('((document.body.tabIndex = -1), document.body.focus())');
      const steps = await walk(page);
      expect(steps.length).toBeGreaterThan(5);
      expect(steps.filter(({ isMarked, isOnScreen }) => !(isMarked && isOnScreen))).toEqual([]);
      const order = steps.map(({ at }) => at);
      // The walk may start in the middle of the page, and then continues at its beginning.
      const first = order.indexOf(Math.min(...order));
      const rotated = [...order.slice(first), ...order.slice(0, first)];
      expect(rotated).toEqual([...order].sort((a, b) => a - b));
    },
  );

  test('the list of keys keeps the focus, and returns it with Esc', async () => {
    const page = await views['a new session']?.();
    const opener = page?.getByRole('button', { name: /keys/ });
    await opener?.focus();
    await page?.keyboard.press('Enter');
    await page?.getByRole('dialog').waitFor();
    await page?.keyboard.press('Escape');
    await page?.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await focus(page as Page)).name).toMatch(/keys/);
  });

  test('the list of sessions of a narrow window keeps the focus, and returns it with Esc', async () => {
    const { page } = await scene({ viewport: { width: widths[0], height: 844 } });
    const opener = page.getByRole('button', { name: 'Sessions', exact: true });
    await opener.focus();
    await page.keyboard.press('Enter');
    const list = page.getByRole('navigation', { name: 'Sessions' });
    await list.waitFor();
    await expect.poll(async () => (await focus(page)).name).toMatch(/New/);
    const steps = await walk(page);
    expect(steps.filter(({ isOnScreen }) => !isOnScreen)).toEqual([]);
    expect(steps.map(({ name }) => name)).not.toContain('TEXTAREA Message');
    await page.getByLabel('Search sessions').focus();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await expect.poll(async () => (await focus(page)).name).toMatch(/BUTTON Sessions/);
    // The rest of the page works again, also after the window became wide while the list was open.
    await opener.click();
    await page.setViewportSize({ width: 1280, height: 800 });
    const clicked = async () => {
      await page.getByLabel('Message', { exact: true }).click();
      return (await focus(page)).name;
    };
    await expect.poll(clicked).toMatch(/TEXTAREA/);
  });

  test('the panel and the search return the focus', async () => {
    const { page } = await scene();
    await say(page, 'say Hello.');
    await stands(page, 'complete');
    await page.getByRole('button', { name: 'Details' }).click();
    await page.getByRole('tab', { name: 'events' }).focus();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'events' }).waitFor({ state: 'hidden' });
    expect((await focus(page)).name).toMatch(/Details/);
    await page.keyboard.press('/');
    await page.keyboard.type('Hello');
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await focus(page)).name).toMatch(/BUTTON Find/);
  });

  test('a call can be read and decided with Tab and Enter', async () => {
    const page = await asking();
    await page.waitForTimeout(450);
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press('Tab');
      if (/Allow once/.test((await focus(page)).name)) break;
    }
    await page.keyboard.press('Enter');
    await page.getByText('Done.').first().waitFor();
  });
});

describe('the settings of a user', () => {
  // WebKitGTK takes them from the desktop only.
  const canSet = browserName !== 'webkit';

  test.skipIf(!canSet)('nothing moves if the user prefers less motion', async () => {
    const { page } = await scene({ reducedMotion: 'reduce' });
    await say(page, 'work please');
    await stands(page, 'running');
    await page.getByText('Step 2.').first().waitFor();
    await page.getByRole('button', { name: 'Details' }).hover();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).click();
  });

  test.skipIf(!canSet)(
    'with the colors of the system, the focus and the chosen tab remain visible',
    async () => {
      const { page } = await scene({ forcedColors: 'active' });
      expect(await page.evaluate(`matchMedia('(forced-colors: active)').matches`)).toBe(true);
      await say(page, 'fix it');
      await allow(page);
      await stands(page, 'complete');
      const outline = async () =>
        await page.evaluate(() => {
          const field =
            document.activeElement?.closest('.composer') ?? document.activeElement ?? document.body;
          return getComputedStyle(field).outlineStyle;
        });
      await page.getByLabel('Message', { exact: true }).focus();
      expect(await outline()).toBe('solid');
      await page.keyboard.press('Escape');
      await page.keyboard.press('p');
      await page.getByRole('tab', { name: 'usage' }).waitFor();
      const colors = await page
        .getByRole('tab')
        .evaluateAll((tabs) =>
          tabs.filter((tab) => tab.checkVisibility()).map((tab) => getComputedStyle(tab).borderBottomColor),
        );
      expect(new Set(colors).size).toBe(2);
    },
  );

  test.each(Object.entries(views))('%s needs no horizontal scrolling at 320 px', async (_, open) => {
    const page = await open({ viewport: { width: 320, height: 640 } });
    const wide = await page.evaluate(() => [
      Math.max(document.documentElement.scrollWidth - innerWidth, 0),
      // Controls that no scrolling reaches.
      ...[...document.querySelectorAll('button, a, input, textarea, summary')].flatMap((one) => {
        const { left, right } = one.getBoundingClientRect();
        const scrolls = one.closest('.prose, pre, table, svg, [aria-hidden="true"], .sidebar');
        const isOut = scrolls === null && one.checkVisibility() && (left < -1 || right > innerWidth + 1);
        return isOut ? [`${one.tagName} ${one.ariaLabel ?? one.textContent}: ${left} to ${right}`] : [];
      }),
    ]);
    expect(wide).toEqual([0]);
  });
});

describe('a screen reader', () => {
  test('hears whole responses only: no live region contains a streamed text', async () => {
    const { page } = await scene();
    await say(page, 'slowly 30 please');
    const live = page.getByRole('article', { name: 'Response in progress' });
    await live.waitFor();
    const around = await live.evaluate((one) => [
      one.getAttribute('aria-busy'),
      one.closest('[aria-live], [role="status"], [role="alert"], [role="log"]'),
    ]);
    expect(around).toEqual(['true', null]);
    await stands(page, 'complete');
  });
});
