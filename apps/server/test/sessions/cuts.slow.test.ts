import { request } from 'node:http';
import type { Event, RunEvent, SessionStore } from '@cobbler/agent';
import { isStored, memoryStore } from '@cobbler/agent';
import { connectHarness } from '@cobbler/agent/remote';
import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { plainFrames } from '../../src/sessions/frame.ts';
import type { Cut } from '../support/cutting-proxy.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { ServerProcess } from '../support/process.ts';
import { rig } from '../support/rig.ts';

const prompts = [
  'use look look',
  'think A longer answer than the others.',
  'use break',
  'say Hi.',
  'use look',
];

/** Returns a function that cuts a stream within its data or directly after a frame. */
function seededCut(random: SeededRandom): Cut {
  return (sent, soFar) => {
    if (soFar === 0 || random.next() > 0.4) return undefined;
    const ends: number[] = [];
    for (let at = sent.indexOf('\n\n'); at !== -1; at = sent.indexOf('\n\n', at + 2)) ends.push(at + 2);
    const between = ends[Math.floor(random.next() * ends.length)];
    return random.next() < 0.5 && between !== undefined ? between : Math.floor(random.next() * sent.length);
  };
}

/** Returns a store that calls a function after each commit, before the event is published. */
function breaking(store: SessionStore, afterCommit: () => void): SessionStore {
  return {
    ...store,
    append(...given) {
      store.append(...given);
      afterCommit();
    },
  };
}

const lines = (events: readonly RunEvent[]) => events.filter(isStored).map((event) => JSON.stringify(event));

describe('every stored event arrives once, whatever happens to the connection [P16]', () => {
  test.each([1, 2])(
    'after 225 cuts within and between frames, and between commit and send (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const random = seededRandom(seed);
      let proxy: CuttingProxy | undefined;
      const store = breaking(memoryStore(), () => {
        if (random.next() < 0.3) proxy?.breakStreams();
      });
      const { server, token } = await rig({ store });
      proxy = new CuttingProxy(server.url, seededCut(random));
      await proxy.listen();
      onTestFinished(() => proxy?.close());
      const heard: RunEvent[] = [];
      const harness = connectHarness({
        url: proxy.url,
        token,
        back: { baseMs: 1, maxMs: 4 },
        handler: { onEvent: (event) => heard.push(event) },
      });
      const ran: RunEvent[] = [];
      for (let turn = 0; proxy.cuts < 225; turn += 1) {
        const run = harness.prompt(prompts[turn % prompts.length] ?? '');
        for await (const event of run) ran.push(event);
        expect((await run.result).status).toBe('complete');
      }
      const log = lines(await store.read(harness.sessionId));
      expect(lines(heard)).toEqual(log);
      expect(lines(ran)).toEqual(log);
      await harness.close();
    },
  );

  test('as frames of GET /events, also after cuts between two frames of one event', {
    timeout: 60_000,
  }, async () => {
    const random = seededRandom(7);
    const { server, token, store, ask, idle } = await rig();
    const proxy = new CuttingProxy(server.url, seededCut(random));
    await proxy.listen();
    onTestFinished(() => proxy.close());
    const reader = new SeedReader(proxy.url, token);
    for (let turn = 0; proxy.cuts < 50; turn += 1) {
      await ask('POST', '/prompt', { content: prompts[turn % prompts.length] });
      await idle('default');
    }
    const log = await store.read('default');
    const expected = log.flatMap((event) => plainFrames(event)).map((frame) => frame.toString().trimEnd());
    await expect
      .poll(() => reader.frames.length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(expected.length);
    expect(reader.frames).toEqual(expected);
    reader.close();
  });

  test('although the server is killed during a run and restarted, 12 times', {
    // The server starts 13 times from its sources.
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(3);
    // Without a delay, runs would end before the process is killed.
    const server = new ServerProcess({ paceMs: 20 });
    onTestFinished(() => server.dispose());
    await server.start();
    const { url, token } = server;
    const heard: RunEvent[] = [];
    let restarting = Promise.resolve();
    let countdown = -1;
    const harness = connectHarness({
      url,
      token,
      back: { baseMs: 5, maxMs: 50 },
      handler: {
        onEvent(event) {
          heard.push(event);
          if (countdown === 0) restarting = server.kill().then(() => server.start());
          countdown -= 1;
        },
      },
    });
    let restarts = 0;
    for (let turn = 0; restarts < 12; turn += 1) {
      countdown = Math.floor(random.next() * 12);
      const run = harness.prompt(prompts[turn % prompts.length] ?? '');
      expect((await run.result).status).toBe('complete');
      if (countdown < 0) restarts += 1;
      countdown = -1;
      await restarting;
    }
    const log: readonly Event[] = await server.log(harness.sessionId);
    expect(lines(heard)).toEqual(lines(log));
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.filter(({ type }) => type === 'resumed').length).toBeGreaterThan(0);
    await harness.close();
  });
});

/** Reads the plain stream and reconnects after every cut with the id of the last complete frame. */
class SeedReader {
  readonly frames: string[] = [];
  readonly #url: string;
  readonly #token: string;
  #id = '0';
  #isClosed = false;
  #asked: ReturnType<typeof request> | undefined;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#asked?.destroy();
  }

  #connect(): void {
    if (this.#isClosed) return;
    const headers = { authorization: `Bearer ${this.#token}`, 'last-event-id': this.#id };
    let isOver = false;
    // A reset connection emits two events, but must reconnect only once.
    const again = () => {
      if (!isOver) setImmediate(() => this.#connect());
      isOver = true;
    };
    this.#asked = request(`${this.#url}/events`, { headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      });
      response.on('error', () => undefined).on('close', again);
    });
    this.#asked.on('error', again).end();
  }

  #take(block: string): void {
    const id = /^id: (\S+)$/m.exec(block)?.[1];
    if (id === undefined) return;
    this.#id = id;
    this.frames.push(block);
  }
}
