import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserName } from './browser.ts';
import { settled, views } from './views.ts';
import { withBrowser } from './visitor.ts';

withBrowser();

/** The smallest side of a target for a finger, in pixels. */
const least = 44;

/** Returns the targets that are too small, with their size. Links in a line of text are not targets of their own. */
async function smallTargets(page: Page): Promise<string[]> {
  return await page.evaluate((side) => {
    const all = document.querySelectorAll<HTMLElement>(
      'button, a[href], summary, input, textarea, select, [role="button"], [role="tab"], [role="slider"]',
    );
    const isInText = (one: Element) =>
      one.matches('a') &&
      getComputedStyle(one).display === 'inline' &&
      one.closest('p, .prose, svg') !== null;
    return [...all].flatMap((one) => {
      if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: false }) || isInText(one))
        return [];
      // A label belongs to the target, and a field that only a script clicks is none.
      const { width, height } = (one.closest('label') ?? one).getBoundingClientRect();
      if (one.matches('.unseen') || (width >= side && height >= side)) return [];
      return `${one.tagName} ${one.className} "${one.ariaLabel ?? one.textContent}": ${width} x ${height}`;
    });
  }, least - 0.5);
}

const screens: readonly (readonly [string, BrowserContextOptions])[] = [
  ['a narrow window', { viewport: { width: 390, height: 844 } }],
  ['a tablet', { viewport: { width: 1024, height: 1366 }, hasTouch: true, isMobile: true }],
];

describe.each(screens)('targets on %s', (screen, options) => {
  // WebKitGTK cannot say that it has a touch screen.
  const hasScreen = browserName !== 'webkit' || screen === 'a narrow window';
  test.skipIf(!hasScreen).each(Object.entries(views))(
    `are at least ${least} pixels wide and high in %s`,
    async (_, open) => {
      const page = await open(options);
      await settled(page);
      expect(await smallTargets(page)).toEqual([]);
    },
  );
});
