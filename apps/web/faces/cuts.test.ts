import type { Event } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { itemsOf } from '@cobbler/agent/events';
import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import { TokenStore } from '@cobbler/server';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Cut } from '../../server/test/support/cutting-proxy.ts';
import { CuttingProxy } from '../../server/test/support/cutting-proxy.ts';
import { ServerProcess } from '../../server/test/support/process.ts';
import { longLog } from './long-log.ts';
import type { Rig } from './rig.ts';
import { rig } from './rig.ts';
import { idle, logIn, needsChromium, visit, withBrowser } from './visitor.ts';

withBrowser();

/** Returns a function that cuts a stream within its data or directly after a frame. */
function seededCut(random: SeededRandom, mayCut: () => boolean): Cut {
  return (sent, soFar) => {
    if (soFar === 0 || !mayCut() || random.next() > 0.5) return undefined;
    const ends = [...sent.toString('latin1').matchAll(/\n\n/g)].map(({ index }) => index + 2);
    const between = ends[Math.floor(random.next() * ends.length)];
    return random.next() < 0.5 && between !== undefined ? between : Math.floor(random.next() * sent.length);
  };
}

/** Asserts that the page has the exact log and draws its items without gaps up to the end. */
async function showsExactly(page: Page, log: readonly Event[]): Promise<void> {
  const expected = itemsOf(log).items.map(({ seq }) => `e${seq}`);
  const count = expected.length;
  await expect
    .poll(() => page.locator('.item').last().getAttribute('id'), { timeout: 20_000 })
    .toBe(expected[count - 1]);
  const drawn = await page.locator('.item').evaluateAll((items) => items.map(({ id }) => id));
  const from = expected.indexOf(drawn[0] ?? '');
  expect(drawn.slice(-16)).toEqual(expected.slice(Math.max(from, count - 16)));
  expect(new Set(drawn).size).toBe(drawn.length);
  expect(drawn).toEqual(expected.filter((id) => drawn.includes(id)));
  expect(await logIn(page)).toEqual(log.map((event) => JSON.stringify(event)));
}

const prompts = [
  'fix-less say Hello.',
  'run look',
  'say A short one.',
  'break it',
  'slowly 2 please',
  'run fail',
];

/** The maximum time without an open event stream, in milliseconds: the page must reconnect before. */
const comesBackMs = 60_000;

/** Records the page's event requests and their results, to report them if it does not reconnect. */
function followRequests(page: Page): () => string {
  const lines: string[] = [];
  const note = (what: string, url: string) => {
    if (/events/.test(url)) lines.push(`${new Date().toISOString()} ${what} ${url.replace(/.*\/v1/, '')}`);
  };
  page.on('request', (request) => note('asked', request.url()));
  page.on('response', (response) => note(`answered ${response.status()}`, response.url()));
  page.on('requestfailed', (request) => note(`failed ${request.failure()?.errorText}`, request.url()));
  return () => lines.slice(-12).join('\n');
}

/** Runs prompts in a session until its stream was cut this many times; returns the number of cuts. */
async function workThroughCuts(one: Rig, id: string, random: SeededRandom, cuts: number): Promise<number> {
  let mayCut = true;
  const proxy = new CuttingProxy(
    one.server.url,
    seededCut(random, () => mayCut),
  );
  await proxy.listen();
  onTestFinished(() => proxy.close());
  await one.ask('POST', '/v1/sessions', { id });
  const { page, context, complaints } = await visit(`${proxy.url}/#token=${one.token}`);
  await page.goto(`${proxy.url}/s/${id}`);
  const requests = followRequests(page);
  const steps: string[] = [];
  const step = (what: string) => steps.push(`${new Date().toISOString()} ${what}`);
  for (let turn = 0; proxy.cuts < cuts; turn += 1) {
    step('a prompt');
    await one.ask('POST', `/v1/sessions/${id}/prompt`, { content: prompts[turn % prompts.length] });
    step('it began');
    await idle(one, id);
    if (random.next() < 0.5) step(`${proxy.breakStreams()} streams broken`);
    // Let the page reconnect before more cuts.
    await expect
      .poll(() => proxy.openStreams, { timeout: comesBackMs })
      .toBeGreaterThan(0)
      .catch((error) => {
        throw new Error(
          `The page does not come back after cut ${proxy.cuts}; its requests:\n${requests()}\nwhat was done:\n${steps.slice(-12).join('\n')}`,
          { cause: error },
        );
      });
    await page.waitForTimeout(random.next() * 400);
  }
  mayCut = false;
  proxy.breakStreams();
  await showsExactly(page, await one.store.read(id));
  expect(
    complaints.filter((text) => !/ERR_(CONNECTION|INCOMPLETE|EMPTY|CONTENT_LENGTH|INVALID_HTTP)/.test(text)),
  ).toEqual([]);
  await context.close();
  return proxy.cuts;
}

describe('the page [P16]', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'shows the exact log after 50 cuts of its stream (seed %i)',
    { timeout: 180_000 },
    async (seed) => {
      const one = await rig();
      onTestFinished(() => one.close());
      expect(await workThroughCuts(one, `cut-${seed}`, seededRandom(seed), 50)).toBeGreaterThanOrEqual(50);
    },
  );

  test('shows Reconnecting within 2 s of a cut, then the number of missed events [P24]', {
    timeout: 120_000,
  }, async (test) => {
    needsChromium(test, 'offline mode');
    const one = await rig();
    onTestFinished(() => one.close());
    const proxy = new CuttingProxy(one.server.url, () => undefined);
    await proxy.listen();
    onTestFinished(() => proxy.close());
    const { page, context } = await visit(`${proxy.url}/#token=${one.token}`);
    const asked: string[] = [];
    page.on('request', (request) => /events/.test(request.url()) && asked.push(request.url()));
    await one.ask('POST', '/v1/sessions', { id: 'away' });
    await page.goto(`${proxy.url}/s/away`);
    await one.ask('POST', '/v1/sessions/away/prompt', { content: 'slowly 30 please' });
    await page.locator('.live .prose').waitFor();
    const from = Date.now();
    await context.setOffline(true);
    proxy.breakStreams();
    await page.getByText('Reconnecting…').waitFor({ timeout: 2_000 });
    const saidAfterMs = Date.now() - from;
    await idle(one, 'away');
    await context.setOffline(false);
    await page.getByText(/caught up on 2 events/).waitFor();
    await showsExactly(page, await one.store.read('away'));
    expect([asked[0], asked.at(-1)]).toEqual([
      expect.stringMatching(/after=0$/),
      expect.stringMatching(/after=1$/),
    ]);
    expect(saidAfterMs).toBeLessThan(2_000);
  });

  test('shows the exact log after it was hidden for an hour', {
    timeout: 120_000,
  }, async (test) => {
    needsChromium(test, 'clock to set');
    const one = await rig();
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await one.ask('POST', '/v1/sessions', { id: 'rest' });
    await page.clock.install();
    await page.goto(`${one.server.url}/s/rest`);
    await page.locator('.composer').waitFor();
    const see = (hidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await see(true);
    await page.clock.runFor(3_600_000);
    for (const text of ['say One.', 'run two', 'say Three.']) {
      await one.ask('POST', '/v1/sessions/rest/prompt', { content: text });
      await idle(one, 'rest');
    }
    expect(await page.locator('.item').count()).toBe(0);
    await see(false);
    await page.clock.resume();
    await page.getByText(/caught up on 1[0-9] events/).waitFor();
    await showsExactly(page, await one.store.read('rest'));
  });

  test('shows the exact log after 8 kills and restarts of the server, without a new sign-in', {
    timeout: 240_000,
  }, async () => {
    const random = seededRandom(11);
    const server = new ServerProcess();
    onTestFinished(() => server.dispose());
    await server.start();
    const { page, context } = await visit(`${server.url}/#token=${server.token}`);
    const { url, token } = server;
    const ask = async (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return await (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    await ask('/v1/sessions', { id: 'work' });
    await page.goto(`${url}/s/work`);
    for (let restart = 0; restart < 8; restart += 1) {
      await ask('/v1/sessions/work/prompt', { content: 'listen to me' });
      await page.locator('.call').last().waitFor();
      await page.waitForTimeout(random.next() * 700);
      await server.kill();
      await page.getByText('Reconnecting…').waitFor({ timeout: 2_000 });
      await server.start();
      await page.locator('.state.running, .state.limit').waitFor();
      await ask('/v1/sessions/work/cancel', {});
      await page.locator('.state.cancelled, .state.limit').waitFor();
    }
    await showsExactly(page, await server.log('work'));
    expect(await page.locator('.sign-in').count()).toBe(0);
    await context.close();
  });

  test('reloads a log that lost events, and asks for a new token when the old one ends', {
    timeout: 120_000,
  }, async () => {
    const tokens = new TokenStore();
    const first = await rig({ tokens });
    const port = Number(new URL(first.server.url).port);
    const { page } = await visit(first.address);
    for (const text of ['say One.', 'say Two.']) {
      await first.ask('POST', '/v1/sessions', { id: 'lost' });
      await first.ask('POST', '/v1/sessions/lost/prompt', { content: text });
      await idle(first, 'lost');
    }
    await page.goto(`${first.server.url}/s/lost`);
    await page.locator('.item.answer', { hasText: 'Two.' }).waitFor();
    await first.close();
    const store = memoryStore();
    const second = await rig({ tokens, store, port });
    onTestFinished(() => second.close());
    await second.ask('POST', '/v1/sessions', { id: 'lost' });
    await second.ask('POST', '/v1/sessions/lost/prompt', { content: 'say Anew.' });
    await page.locator('.item.answer', { hasText: 'Anew.' }).waitFor();
    await idle(second, 'lost');
    await showsExactly(page, await store.read('lost'));
    tokens.rotate();
    await page.locator('.sign-in').waitFor();
    await page.getByLabel('Token').fill(tokens.own());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.item.answer', { hasText: 'Anew.' }).waitFor();
  });

  test('shows an interrupted run, which the user can continue', { timeout: 60_000 }, async () => {
    const store = memoryStore();
    const epoch = await store.claim('dead');
    const cut = longLog('dead', 60).slice(0, 4);
    await store.append('dead', cut, { epoch });
    const one = await rig({ store, resumes: false });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await page.goto(`${one.server.url}/s/dead`);
    await page.locator('.state.interrupted').waitFor();
    expect(await page.locator('.live').count()).toBe(0);
    await page.getByRole('button', { name: 'Continue from here' }).click();
    await page.locator('.state.complete').waitFor();
    await showsExactly(page, await store.read('dead'));
  });
});
