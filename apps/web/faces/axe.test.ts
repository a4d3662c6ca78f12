import { describe, expect, test } from 'vitest';
import { faultsIn, settled, views, widths } from './views.ts';
import { withBrowser } from './visitor.ts';

withBrowser();

describe('axe finds no fault', () => {
  test.each(Object.entries(views))('in %s, light and dark, on every width', async (name, open) => {
    const page = await open();
    const faults: string[] = [];
    for (const width of name === 'the list of sessions' ? [widths[0]] : widths)
      for (const theme of ['light', 'dark']) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        await settled(page);
        faults.push(...(await faultsIn(page)).map((fault) => `${width} ${theme}: ${fault}`));
      }
    expect(faults).toEqual([]);
  });
});
