// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import { describe, expect, test } from 'vitest';
import { browserName } from './browser.ts';
import { allow, idle, logIn, say, scene, sessionIn, stands, withBrowser } from './visitor.ts';

withBrowser();

describe('other features of the page', () => {
  test('show changes, usage and events in the panel, and the cost per turn in a chart', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'fix it');
    await page.locator('.approval').waitFor();
    await allow(page);
    await stands(page, 'complete');
    await page.locator('.panel-toggle').click();
    expect(await page.locator('.panel').innerText()).toContain('1 file changed');
    await page.getByRole('tab', { name: 'usage' }).click();
    await page.locator('.sums').waitFor();
    expect(await page.locator('.chart').first().locator('.bar').count()).toBe(4);
    expect(await page.locator('.sums').innerText()).toMatch(/cost\s+\$0\.01/);
    const { items } = (await one.ask('GET', '/v1/sessions')) as { items: { id: string; usd: number }[] };
    expect(await page.locator('.sums dd').first().innerText()).toBe(`$${(items[0]?.usd ?? 0).toFixed(3)}`);
    const log = await one.store.read(sessionIn(page));
    expect(await logIn(page)).toEqual(log.map((event) => JSON.stringify(event)));
    await page.getByLabel('Filter events').fill('#2');
    expect(await page.locator('.event').count()).toBe(1);
  });

  test('fork a session up to an event, and open an event by its address', async () => {
    const { page, rig: one } = await scene();
    for (const text of ['say One.', 'say Two.']) {
      await say(page, text);
      await page
        .locator('.end')
        .nth(text === 'say One.' ? 0 : 1)
        .waitFor();
    }
    const from = sessionIn(page);
    const first = page.locator('.item.answer').first();
    await first.hover();
    await first.getByRole('button', { name: 'Fork' }).click();
    await page.getByText('This new session is a copy').waitFor();
    const copy = sessionIn(page);
    expect(copy).not.toBe(from);
    expect((await one.ask('GET', `/v1/sessions/${copy}`))['parent']).toEqual({ sessionId: from, seq: 2 });
    await page.goto(`${one.server.url}/s/${from}#e2`);
    await page.locator('#e2.target').waitFor();
    expect(await page.locator('#e2').innerText()).toContain('One.');
    // All of it is visible, and nothing in it is new.
    await expect.poll(() => page.locator('.to-end').count()).toBe(0);
  });

  test('find text in messages and tool output, and sessions by their title', async () => {
    const { page } = await scene();
    await say(page, 'fix the first');
    await page.locator('.approval').waitFor();
    await allow(page);
    await stands(page, 'complete');
    await page.locator('.scroller').focus();
    await page.keyboard.press('/');
    await page.keyboard.type('ERR_ASSERTION');
    await page.getByText('match 1 of 1').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search sessions').fill('nothing like it');
    await page.getByText('No matching titles.').waitFor();
    await page.getByLabel('Search sessions').fill('first');
    expect(await page.locator('.session-row:not(.found)').count()).toBe(1);
  });

  test('attach and send an image and a text, and report an unsupported file', async () => {
    const { page, rig: one } = await scene();
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: png },
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') },
      { name: 'x.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) },
    ]);
    await page.getByText('x.bin cannot be sent').waitFor();
    await page.locator('.composer .chip').nth(1).waitFor();
    await say(page, 'say Seen.');
    await page.locator('.item.answer').waitFor();
    const [user] = await one.store.read(sessionIn(page));
    expect(user?.type === 'user' && user.content.map((part) => part.type)).toEqual(['file', 'text', 'text']);
    await page.locator('.item.said img').waitFor();
    expect(
      await page.locator('.item.said img').evaluate((image: HTMLImageElement) => image.naturalWidth),
    ).toBe(1);
  });

  test('are all available by keyboard, and the page lists the shortcuts', async () => {
    const { page } = await scene();
    // The message has the focus in a new session, so that every key is a letter.
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('message');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('i');
    await page.keyboard.type('say By keyboard.');
    await page.keyboard.press('Enter');
    await page.locator('.item.answer').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('p');
    await page.locator('.panel').waitFor();
    await page.keyboard.press('p');
    await page.keyboard.press('c');
    await page.getByText('What should be done?').waitFor();
    await page.keyboard.press('Control+k');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('session-search');
    const nameless = await page
      .locator('button, a, input, textarea')
      .evaluateAll(
        (elements) =>
          elements.filter(
            (element) =>
              `${element.textContent}${element.getAttribute('aria-label')}${element.getAttribute('title')}`.replace(
                /null/g,
                '',
              ) === '',
          ).length,
      );
    expect(nameless).toBe(0);
  });

  test('announce complete blocks to a screen reader, never parts of them', async () => {
    const { page } = await scene();
    await page.evaluate(() => {
      const told: string[] = [];
      Object.assign(globalThis, { told });
      const region = document.querySelector('[aria-live]');
      if (region === null) throw new Error('The page has no live region.');
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes)
          for (const node of addedNodes) told.push(node.textContent ?? '');
      }).observe(region, { childList: true, characterData: true, subtree: true });
    });
    const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await say(page, 'slowly 10 please');
    await stands(page, 'complete');
    await expect.poll(async () => (await told()).at(-1)).toBe('Run complete');
    expect(await told()).toEqual([expect.stringMatching(/^Response: The failing test is/), 'Run complete']);
  });

  test('keep the scroll position while the user reads, and count new items', async () => {
    const { page, rig: one } = await scene({ viewport: { width: 1280, height: 500 } });
    for (let turn = 1; turn <= 4; turn += 1) {
      await say(page, 'prose please');
      await page
        .locator('.end')
        .nth(turn - 1)
        .waitFor();
    }
    const atEnd = await page
      .locator('.scroller')
      .evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
    expect(atEnd).toBeLessThan(50);
    await page.locator('.scroller').evaluate((element) => element.scrollTo(0, 300));
    await page.locator('.to-end').waitFor();
    const place = await page.locator('.scroller').evaluate((element) => element.scrollTop);
    await one.ask('POST', `/v1/sessions/${sessionIn(page)}/prompt`, { content: 'say More.' });
    await idle(one, sessionIn(page));
    await page.getByRole('button', { name: /↓ 3 new/ }).waitFor();
    expect(await page.locator('.scroller').evaluate((element) => element.scrollTop)).toBe(place);
    await page.locator('.to-end').click();
    await page.locator('.item.answer', { hasText: 'More.' }).waitFor();
    expect(await page.locator('.to-end').count()).toBe(0);
  });
});

describe('the page on a phone and in dark mode', () => {
  const phone = {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 2,
  };

  test('fits the screen, has large touch targets, and shows the changes in a tab', async ({ skip }) => {
    skip(
      browserName === 'webkit',
      'WebKitGTK has no touch screen, and its windows are at least 447 pixels wide',
    );
    const { page } = await scene(phone);
    const dock = await page.locator('.dock').boundingBox();
    expect((dock?.y ?? 0) + (dock?.height ?? 0)).toBe(844);
    await say(page, 'fix it');
    await page.locator('.approval').waitFor();
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await wide()).toBe(390);
    const heights = await page
      .locator('.dock button:visible, .head button:visible, .phone-tabs button')
      .evaluateAll((elements) =>
        elements.map((element) => Math.round(element.getBoundingClientRect().height)),
      );
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    await allow(page);
    await stands(page, '✓');
    await page.getByRole('tab', { name: 'Changes' }).first().tap();
    await page.locator('.panel .diff').waitFor();
    expect(await wide()).toBe(390);
    await page.getByRole('tab', { name: 'Session' }).tap();
    await page.getByRole('button', { name: 'Sessions' }).tap();
    await page.locator('.session-row').first().tap();
    await page.locator('.item.answer').first().waitFor();
  });

  test('follows the dark mode of the system, and lets the user choose', async () => {
    const { page } = await scene({ colorScheme: 'dark' });
    const brightness = () =>
      page.evaluate(() => {
        const [red = 0] =
          getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
        return red;
      });
    expect(await brightness()).toBeLessThan(60);
    await page.getByRole('button', { name: /auto/ }).click();
    expect(await brightness()).toBeGreaterThan(200);
    await page.reload();
    await page.locator('.app').waitFor();
    expect(await brightness()).toBeGreaterThan(200);
  });
});
