// biome-ignore-all lint/performance/useDomNodeTextContent: what is tested is what a person sees.
import { describe, expect, onTestFinished, test } from 'vitest';
import { rig } from './rig.ts';
import { idle, logIn, say, scene, sessionIn, stands, visit, withBrowser } from './visitor.ts';

withBrowser();

describe('P15 signing in', () => {
  test('the token leaves the address at once; what is kept of it no script can read', async () => {
    const { page, context, rig: one } = await scene();
    expect(page.url()).toBe(`${one.server.url}/`);
    const [cookie, ...others] = await context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ name: 'cobbler', httpOnly: true, sameSite: 'Strict' });
    const kept = await page.evaluate(() => [
      document.cookie,
      JSON.stringify({ ...localStorage, ...sessionStorage }),
      history.state,
    ]);
    expect(JSON.stringify(kept)).not.toContain(one.token);
    expect(cookie?.value).not.toContain(one.token);
  });

  test('without a token the page asks for one, and takes the whole address too', async () => {
    const one = await rig();
    try {
      const { page } = await visit(one.server.url);
      await page.getByLabel('Token').fill('cbk_wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('This token is not valid.').waitFor();
      await page.getByLabel('Token').fill(one.address);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('What shall be done?').waitFor();
    } finally {
      await one.close();
    }
  });
});

describe('a conversation in the page', () => {
  test('a new session: say something, see it come, with its cost and its title', async () => {
    const { page, complaints } = await scene();
    await say(page, 'slowly 25 please');
    await page.locator('.live .prose').waitFor();
    const early = await page.locator('.live').innerText();
    await stands(page, 'complete');
    const whole = await page.locator('.item.answer').innerText();
    expect(early.length).toBeLessThan(whole.length);
    expect(whole).toContain('it should give 0.');
    expect(await page.locator('.item.answer table td').count()).toBe(6);
    expect(await page.locator('.head h1').innerText()).toBe('slowly 25 please');
    expect(await page.title()).toBe('slowly 25 please – Cobbler');
    expect(await page.locator('.money').innerText()).toMatch(/\$0\.\d+/);
    await page.locator('.session-row', { hasText: 'slowly 25 please' }).waitFor();
    expect(await page.locator('details.reasoning').getAttribute('open')).toBeNull();
    expect(complaints).toEqual([]);
  });

  test('a call is one line, closed; it opens to its arguments, its diff and its result; a failure says why', async () => {
    const { page } = await scene();
    await say(page, 'fix it');
    await page.locator('.approval').waitFor();
    const [failed, read] = [page.locator('.call').nth(0), page.locator('.call').nth(1)];
    expect(await failed.locator('.outcome').innerText()).toMatch(/^exit 1/);
    expect(await failed.locator('.reason').innerText()).toContain('Expected 5, got -1');
    expect(await read.locator('.call-details').count()).toBe(0);
    await read.locator('.call-line').click();
    expect(await read.locator('.call-details').innerText()).toContain('src/sum.js');
    expect(await read.locator('.call-details').innerText()).toContain('export const sum');
    await page.waitForTimeout(450);
    await page.keyboard.press('y');
    await stands(page, 'complete');
    const edit = page.locator('.call').nth(2);
    await edit.locator('.call-line').click();
    expect(await edit.locator('.diff-line.added').count()).toBe(4);
    expect(await edit.locator('.diff-line.removed').count()).toBe(2);
  });

  test('10,000 lines of output are shown in part, and said to be more', async () => {
    const { page } = await scene();
    await say(page, 'run all the tests');
    await stands(page, 'complete');
    await page.locator('.call-line').click();
    expect((await page.locator('.long-text pre').innerText()).split('\n').length).toBeLessThanOrEqual(31);
    await page.getByRole('button', { name: /Show [\d,]+ more lines/ }).click();
    expect((await page.locator('.long-text pre').innerText()).split('\n').length).toBeGreaterThan(1_000);
  });

  test('a failure says what happened and what to do, once', async () => {
    const { page } = await scene();
    await say(page, 'fail now');
    await stands(page, 'failed');
    expect(await page.locator('.error-box').count()).toBe(1);
    expect(await page.locator('.error-box').innerText()).toMatch(
      /401 from api.example.org.*\n*.*cobbler doctor/s,
    );
    expect(await page.title()).toMatch(/^✗ /);
    expect(await page.getByRole('button', { name: 'Go on from here' }).count()).toBe(1);
  });

  test('stop ends the run; its partial text is in the log as it was', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'work please');
    await stands(page, 'running');
    expect(await page.title()).toMatch(/^● /);
    await page.getByRole('button', { name: 'Stop' }).click();
    await stands(page, 'cancelled');
    expect((await one.ask('GET', `/v1/sessions/${sessionIn(page)}`)).status).toBe('cancelled');
    await say(page, 'say It goes on.');
    await page.locator('.item.answer', { hasText: 'It goes on.' }).waitFor();
  });

  test('what is said during a run steers it, and stands where it was heard', async () => {
    const { page } = await scene();
    await say(page, 'work please');
    await page.locator('.call').first().waitFor();
    await say(page, 'say I will stop now.');
    await stands(page, 'complete');
    await page.locator('.item.said', { hasText: 'said while it worked' }).waitFor();
    const order = await page
      .locator('.item')
      .evaluateAll((items) => items.map((item) => item.textContent ?? ''));
    expect(order.findIndex((text) => text.includes('said while it worked'))).toBeLessThan(
      order.findIndex((text) => text.startsWith('I will stop now.')),
    );
  });

  test('a session goes on in its draft, its address and its place after a reload', async () => {
    const { page } = await scene();
    await say(page, 'prose please');
    await stands(page, 'complete');
    await page.getByLabel('Message', { exact: true }).fill('not sent yet');
    await page.reload();
    await page.locator('.item.answer').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('not sent yet');
  });
});

describe('approvals in the page', () => {
  test('the card shows the diff above the message; "y" allows exactly it', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'write it');
    await page.locator('.approval .diff-line.added').first().waitFor();
    expect(await page.title()).toMatch(/^! /);
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

  test('a key that comes with the question, or into a text, decides nothing', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.keyboard.press('y');
    await page.getByLabel('Message', { exact: true }).focus();
    await page.waitForTimeout(450);
    await page.keyboard.type('yny');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('yny');
    expect((await one.ask('GET', '/v1/approvals')).items).toHaveLength(1);
  });

  test('denied with a reason, the model is told it', async () => {
    const { page } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.waitForTimeout(450);
    await page.keyboard.press('e');
    await page.getByLabel('What the model is told').fill('Use the other folder.');
    await page.keyboard.press('Enter');
    await page.locator('.item.answer', { hasText: 'Use the other folder.' }).waitFor();
    expect(await page.locator('.call.denied .outcome').innerText()).toMatch(/denied/);
  });

  test('"n" denies', async () => {
    const { page } = await scene();
    await say(page, 'write it');
    await page.locator('.approval').waitFor();
    await page.waitForTimeout(450);
    await page.keyboard.press('n');
    await stands(page, 'complete');
    expect(await page.locator('.call.denied').count()).toBe(1);
  });

  test('a question that expires counts down, and cannot be answered afterwards', async () => {
    const one = await rig({ approvalMs: 3_000 });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await say(page, 'write it');
    await page.locator('.expiry', { hasText: /expires in [123] s/ }).waitFor();
    await page.locator('.expiry', { hasText: 'expired' }).waitFor();
    expect(await page.getByRole('button', { name: /Allow once/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Go on without it' }).click();
    await stands(page, 'complete');
    expect(await page.locator('.call .outcome').innerText()).toMatch(/expired|denied/);
    expect(await page.locator('.call.done').count()).toBe(0);
  });

  test('an answer from elsewhere takes the card away and is told', async () => {
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

describe('what else the page can do', () => {
  test('changes, usage and events stand in the panel, and the cost of each turn in a chart', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'fix it');
    await page.locator('.approval').waitFor();
    await page.getByRole('button', { name: /Allow once/ }).click();
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

  test('a fork begins like the session, up to its event, and an address leads to an event', async () => {
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
    await page.getByText('This is a new session').waitFor();
    const copy = sessionIn(page);
    expect(copy).not.toBe(from);
    expect((await one.ask('GET', `/v1/sessions/${copy}`))['parent']).toEqual({ sessionId: from, seq: 2 });
    await page.goto(`${one.server.url}/s/${from}#e2`);
    await page.locator('#e2.target').waitFor();
    expect(await page.locator('#e2').innerText()).toContain('One.');
  });

  test('words are found in what is said and in what tools gave, sessions by their title', async () => {
    const { page } = await scene();
    await say(page, 'fix the first');
    await page.locator('.approval').waitFor();
    await page.getByRole('button', { name: /Allow once/ }).click();
    await stands(page, 'complete');
    await page.locator('.scroller').focus();
    await page.keyboard.press('/');
    await page.keyboard.type('ERR_ASSERTION');
    await page.getByText('1 of 1 place').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search sessions').fill('nothing like it');
    await page.getByText('No session has these words.').waitFor();
    await page.getByLabel('Search sessions').fill('first');
    expect(await page.locator('.session-row').count()).toBe(1);
  });

  test('a picture and a text are attached and sent; what cannot be sent is said', async () => {
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
    await page.locator('.attached li').nth(1).waitFor();
    await say(page, 'say Seen.');
    await page.locator('.item.answer').waitFor();
    const [user] = await one.store.read(sessionIn(page));
    expect(user?.type === 'user' && user.content.map((part) => part.type)).toEqual(['image', 'text', 'text']);
    await page.locator('.item.said img').waitFor();
    expect(
      await page.locator('.item.said img').evaluate((image: HTMLImageElement) => image.naturalWidth),
    ).toBe(1);
  });

  test('everything is reached by keyboard, and the keys are told', async () => {
    const { page } = await scene();
    // A new session begins in its message, where every key is a letter.
    await page.waitForFunction("document.activeElement?.id === 'message'");
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
    await page.getByText('What shall be done?').waitFor();
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

  test('blocks are told to a screen reader when they are whole, never in pieces', async () => {
    const { page } = await scene();
    await page.evaluate(() => {
      const told: string[] = [];
      Object.assign(globalThis, { told });
      const region = document.querySelector('[aria-live]');
      if (region === null) throw new Error('nobody is told anything');
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes)
          for (const node of addedNodes) told.push(node.textContent ?? '');
      }).observe(region, { childList: true, characterData: true, subtree: true });
    });
    const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await say(page, 'slowly 10 please');
    await stands(page, 'complete');
    await expect.poll(async () => (await told()).at(-1)).toBe('Run complete');
    expect(await told()).toEqual([expect.stringMatching(/^Answer: The failing test is/), 'Run complete']);
  });

  test('stays where somebody reads, and counts what came', async () => {
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

describe('on a phone and in the dark', () => {
  const phone = {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 2,
  };

  test('nothing is wider than the screen, targets are large, tabs lead to the changes', async () => {
    const { page } = await scene(phone);
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
    await page.getByRole('button', { name: 'Allow once' }).tap();
    await stands(page, '✓');
    await page.getByRole('tab', { name: 'Changes' }).first().tap();
    await page.locator('.panel .diff').waitFor();
    expect(await wide()).toBe(390);
    await page.getByRole('tab', { name: 'Session' }).tap();
    await page.getByRole('button', { name: 'Sessions' }).tap();
    await page.locator('.session-row').first().tap();
    await page.locator('.item.answer').first().waitFor();
  });

  test('dark follows the system, and can be chosen', async () => {
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
