// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
// Problems of users who knew only the address of the page.
import { describe, expect, onTestFinished, test } from 'vitest';
import { browserName } from './browser.ts';
import { rig, scenePlaces } from './rig.ts';
import { say, scene, sessionIn, stands, visit, withBrowser } from './visitor.ts';

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
    // Its keyboard has no Shift+Enter.
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    expect(await field.inputValue()).toBe('one\ntwo');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.item.said', { hasText: 'two' }).waitFor();
  });

  test('can type on while the first message is being sent, without losing a letter', async () => {
    const { page } = await scene();
    await page.evaluate(() => {
      const { fetch } = globalThis;
      globalThis.fetch = async (input, init) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return await fetch(input, init);
      };
    });
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('say One.');
    await page.keyboard.press('Enter');
    await page.keyboard.type('say Two.');
    await page.locator('.item.answer', { hasText: 'One.' }).waitFor();
    expect(await field.inputValue()).toBe('say Two.');
    await page.getByRole('button', { name: 'New', exact: true }).click();
    expect(await field.inputValue()).toBe('');
  });

  test('is told that the token in an address is wrong, and can type another one at once', async () => {
    const one = await rig();
    onTestFinished(() => one.close());
    const { page } = await visit(`${one.server.url}/#token=cbk_wrong`);
    await page.getByText('This token is not valid.').waitFor();
    await page.keyboard.type(one.token);
    await page.keyboard.press('Enter');
    await page.locator('.app').waitFor();
  });

  test('can drop files anywhere, and learns at once which of them cannot be sent', async () => {
    const { page } = await scene();
    const accepted = await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      for (const [name, type, content] of [
        ['note.txt', 'text/plain', 'a note'],
        ['broken.png', 'image/png', 'not an image'],
        ['long.pdf', 'application/pdf', new Uint8Array(800_000)],
      ] as const)
        dataTransfer.items.add(new File([content], name, { type }));
      return ['dragover', 'drop'].map((type) => {
        const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
        document.querySelector('.sidebar')?.dispatchEvent(event);
        return event.defaultPrevented;
      });
    });
    expect(accepted).toEqual([true, true]);
    await page.getByText('broken.png cannot be read as an image.').waitFor();
    await page.getByText('long.pdf is 800.0 KB; the limit is 750.0 KB.').waitFor();
    expect(await page.locator('.composer .chip .name').allInnerTexts()).toEqual(['note.txt']);
  });

  test('can send a message instead of deciding, without a notice about someone else', async () => {
    const { page } = await scene();
    await say(page, 'run ask me');
    await page.locator('.approval').waitFor();
    await say(page, 'say Instead.');
    await page.locator('.item.answer', { hasText: 'Instead.' }).waitFor();
    await stands(page, 'complete');
    expect(await page.locator('.toast').allInnerTexts()).toEqual([]);
  });

  test('can choose from a list with letters: they decide nothing and open nothing', async () => {
    const one = await rig({ places: scenePlaces() });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await say(page, 'run ask me');
    await page.locator('.approval').waitFor();
    const session = sessionIn(page);
    await page.waitForTimeout(450);
    await page.getByLabel('Directory of the listed').focus();
    await page.keyboard.type('yc');
    await page.waitForTimeout(200);
    expect(await page.evaluate('location.pathname')).toBe(`/s/${session}`);
    expect((await one.ask('GET', '/v1/approvals')).items).toHaveLength(1);
  });

  test('opens a call at the end, which stays where it is', async () => {
    const { page } = await scene({ viewport: { width: 1280, height: 500 } });
    await say(page, 'prose please');
    await stands(page, 'complete');
    await say(page, 'run all the tests');
    const line = page.locator('.call-line');
    await line.waitFor();
    await stands(page, 'complete');
    const before = await line.boundingBox();
    await line.click();
    await page.locator('.call-details').waitFor();
    await page.locator('.to-end').waitFor();
    // An open call has a wider margin.
    expect(Math.abs(((await line.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(10);
    await page.locator('.to-end').click();
    await page.locator('.to-end').waitFor({ state: 'hidden' });
  });

  test('sees the tabs of a narrow window while a notice is shown', async () => {
    const { page } = await scene({ viewport: { width: 390, height: 800 } });
    await say(page, 'say Hello.');
    await stands(page, '✓');
    await page
      .locator('input[type=file]')
      .setInputFiles([
        { name: 'x.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) },
      ]);
    await page.locator('.toast').waitFor();
    const [tabs, notice] = [
      await page.locator('.phone-tabs').boundingBox(),
      await page.locator('.toast').boundingBox(),
    ];
    expect(notice?.y).toBeGreaterThanOrEqual((tabs?.y ?? 0) + (tabs?.height ?? 0));
  });

  test('reads each paragraph in its own direction, and numbers of a table on the right', async () => {
    const { page } = await scene();
    await say(page, 'raw שלום.\n\nHello.\n\n| name | number |\n|---|--:|\n| one | 1 |');
    await page.locator('.prose td').first().waitFor();
    const sides = await page.locator('.prose p, .prose td').evaluateAll((all) =>
      all.map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const [text, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
        return text.left - box.left < box.right - text.right ? 'left' : 'right';
      }),
    );
    expect(sides).toEqual(['right', 'left', 'left', 'right']);
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
