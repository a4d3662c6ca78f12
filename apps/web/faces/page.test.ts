// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import { describe, expect, test } from 'vitest';
import { rig } from './rig.ts';
import { say, scene, sessionIn, stands, visit, withBrowser } from './visitor.ts';

withBrowser();

describe('signing in [P15]', () => {
  test('removes the token from the address at once, and no script can read the stored credential', async () => {
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

  test('does not let another client use the cookie alone, and keeps the page signed in', async () => {
    const { page, context, rig: one } = await scene();
    const [cookie] = await context.cookies();
    const headers = { cookie: `cobbler=${cookie?.value}`, origin: one.server.url };
    expect((await fetch(`${one.server.url}/v1/sessions`, { headers })).status).toBe(401);
    const inPage = (path: string) => page.evaluate(async (url) => (await fetch(url)).status, path);
    expect(await inPage('/v1/tokens')).toBe(401);
    await page.reload();
    await page.getByText('What should be done?').waitFor();
  });

  test('asks for a missing token, and also accepts the whole address', async () => {
    const one = await rig();
    try {
      const { page } = await visit(one.server.url);
      await page.getByLabel('Token').fill('cbk_wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('This token is not valid.').waitFor();
      await page.getByLabel('Token').fill(one.address);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('What should be done?').waitFor();
    } finally {
      await one.close();
    }
  });
});

describe('a conversation in the page', () => {
  test('streams a response in a new session, with its cost and its title', async () => {
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

  test('shows a call as one closed line that opens to its details; a failed call shows why', async () => {
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

  test('shows part of 10,000 lines of output, with a button for the rest', async () => {
    const { page } = await scene();
    await say(page, 'run all the tests');
    await stands(page, 'complete');
    await page.locator('.call-line').click();
    expect((await page.locator('.long-text pre').innerText()).split('\n').length).toBeLessThanOrEqual(31);
    await page.getByRole('button', { name: /Show [\d,]+ more lines/ }).click();
    expect((await page.locator('.long-text pre').innerText()).split('\n').length).toBeGreaterThan(1_000);
  });

  test('shows a failure and what to do about it, once', async () => {
    const { page } = await scene();
    await say(page, 'fail now');
    await stands(page, 'failed');
    expect(await page.locator('.error-box').count()).toBe(1);
    expect(await page.locator('.error-box').innerText()).toMatch(
      /401 from api.example.org.*\n*.*cobbler doctor/s,
    );
    expect(await page.title()).toMatch(/^✗ /);
    expect(await page.getByRole('button', { name: 'Continue from here' }).count()).toBe(1);
  });

  test('stops a run and accepts the next message', async () => {
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

  test('keeps a stopped response on the page, after a reload and for the model', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'slowly 150 please');
    await page.locator('.live .prose').waitFor();
    await expect
      .poll(async () => (await page.locator('.live .prose').innerText()).length)
      .toBeGreaterThan(40);
    const before = (await page.locator('.live .prose').innerText()).slice(0, 40);
    await page.getByRole('button', { name: 'Stop' }).click();
    await stands(page, 'cancelled');
    const answer = page.locator('.item.answer');
    expect(await answer.innerText()).toContain(before);
    expect(await answer.innerText()).toContain('The response ended before it was complete.');
    expect(await page.locator('.error-box').count()).toBe(0);
    expect(await page.locator('.item.said').count()).toBe(1);
    await page.reload();
    await answer.waitFor();
    expect(await answer.innerText()).toContain(before);
    const { messages } = await one.ask('GET', `/v1/sessions/${sessionIn(page)}/messages`);
    expect(JSON.stringify(messages)).toContain('the work was cancelled');
    await say(page, 'say It goes on.');
    await page.locator('.item.answer', { hasText: 'It goes on.' }).waitFor();
  });

  test('shows a response from its start after a reload and in a second tab', async () => {
    const { page, context } = await scene();
    await say(page, 'slowly 400 please');
    await page.locator('.live .prose').waitFor();
    await expect
      .poll(async () => (await page.locator('.live .prose').innerText()).length, { timeout: 10_000 })
      .toBeGreaterThan(40);
    const begin = (await page.locator('.live .prose').innerText()).slice(0, 40);
    const tab = await context.newPage();
    await Promise.all([page.reload(), tab.goto(page.url())]);
    for (const late of [page, tab]) {
      await late.locator('.live .prose').first().waitFor();
      await expect
        .poll(async () => (await late.locator('.live .prose').first().innerText()).slice(0, begin.length), {
          timeout: 10_000,
        })
        .toBe(begin);
      const text = await late.locator('.live').innerText();
      expect(text.split(begin)).toHaveLength(2);
    }
    await page.getByRole('button', { name: 'Stop' }).click();
    for (const late of [page, tab]) await stands(late, 'cancelled');
    for (const late of [page, tab]) {
      expect((await late.locator('.item.answer').innerText()).split(begin)).toHaveLength(2);
    }
  });

  test('shows a steering message where the model received it', async () => {
    const { page } = await scene();
    await say(page, 'work please');
    await page.locator('.call').first().waitFor();
    await say(page, 'say I will stop now.');
    await stands(page, 'complete');
    await page.locator('.item.said', { hasText: 'sent during the run' }).waitFor();
    const order = await page
      .locator('.item')
      .evaluateAll((items) => items.map((item) => item.textContent ?? ''));
    expect(order.findIndex((text) => text.includes('sent during the run'))).toBeLessThan(
      order.findIndex((text) => text.startsWith('I will stop now.')),
    );
  });

  test('keeps the session and its draft after a reload', async () => {
    const { page } = await scene();
    await say(page, 'prose please');
    await stands(page, 'complete');
    await page.getByLabel('Message', { exact: true }).fill('not sent yet');
    await page.reload();
    await page.locator('.item.answer').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('not sent yet');
  });
});
