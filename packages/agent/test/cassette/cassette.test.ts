import { describe, expect, test } from 'vitest';
import type { RecordingControl } from '../../src/cassette/index.ts';
import type { RunEvent } from '../../src/events/event.ts';
import type { Gate } from '../../src/interfaces/gate.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { toolOutput } from '../../src/interfaces/tool-output.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { MockReply, SeededRandom } from '../../src/testing/index.ts';
import {
  callBlock,
  failsWith,
  handlerTransport,
  replies,
  responseSteps,
  scriptResponse,
  seededRandom,
  wireServer,
} from '../../src/testing/index.ts';
import { scriptTesting } from '../../src/testing/script-testing.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Runtime } from '../../src/values/runtime.ts';
import type { Scene } from './rig.ts';
import { apiKey, hastyRuntime, pause, record, replay, show, turn } from './rig.ts';

const parameters = { type: 'object', properties: { path: { type: 'string' } } };

/** Returns a tool that pauses twice; `runs` records each time it really runs. */
function slow(world: Runtime, name: string, rest: Partial<Tool> = {}, runs: string[] = []): Tool {
  return {
    name,
    description: `${name} something`,
    parameters,
    effect: 'read',
    async execute(args, { progress }) {
      runs.push(name);
      progress(`${name} begins`);
      await pause(world, 200);
      progress(`${name} goes on`);
      await pause(world, 200);
      return toolOutput({ content: `${name} of ${JSON.stringify(args)}`, summary: `${runs.length} done` });
    },
    ...rest,
  };
}

function says(text: string, ...calls: readonly string[]): MockReply {
  const blocks = calls.map((name, index) =>
    callBlock(`${name}-${index}`, name, { path: `${name}${index}.txt` }),
  );
  return replies(scriptResponse([text, ...blocks]));
}

const busy = failsWith({ kind: 'busy', message: 'Overloaded' });

function cut(text: string): MockReply {
  const answer = scriptResponse([text]);
  return replies(answer, { steps: responseSteps(answer).slice(0, 3), ending: 'reset' });
}

/** A 529, parallel reads, a cut stream and text in chunks. */
const eventful: Scene = {
  script: [
    busy,
    says('I look.', 'read', 'list', 'read'),
    cut('Now I wri'),
    says('Now I write.', 'write'),
    says('Done.'),
  ],
  tools: (world) => [slow(world, 'read'), slow(world, 'list'), slow(world, 'write', { effect: 'once' })],
};

const asking: Gate = (call) => {
  if (call.effect === 'read') return { type: 'allow' };
  return call.toolName === 'erase' ? { type: 'deny', message: 'Never.' } : { type: 'ask' };
};

describe('a replay writes a byte-identical log', () => {
  test('for parallel reads, a retried 529, a retried cut stream and text deltas', async () => {
    const recorded = await record(eventful);
    expect(recorded.result).toMatchObject({ status: 'complete', text: 'Done.' });
    expect(recorded.seen).toContain('"type":"retry"');
    expect(recorded.seen).toContain('"type":"text_delta"');
    expect(recorded.seen).toContain('"type":"progress"');
    const again = await replay(eventful, recorded.cassette);
    expect(again.log).toBe(recorded.log);
    expect(again.seen).toBe(recorded.seen);
    expect(again.result.response).toEqual(recorded.result.response);
    expect(again.tape.check()).toBeUndefined();
  });

  test('for each of two recordings that differ because their inputs differ', async () => {
    const [one, other] = [await record(eventful, 1), await record(eventful, 2)];
    expect(one.log).not.toBe(other.log);
    expect((await replay(eventful, one.cassette)).log).toBe(one.log);
    expect((await replay(eventful, other.cassette)).log).toBe(other.log);
  });

  test('for calls that the user allows or denies, and for a call that the gate denies', async () => {
    const scene: Scene = {
      script: [says('I ask.', 'write', 'erase', 'read', 'write'), says('Well.')],
      tools: (world) =>
        ['read', 'write', 'erase'].map((name) =>
          slow(world, name, {
            ...(name !== 'read' && { effect: 'once' }),
            preview: async () => {
              await pause(world, 40);
              return { summary: `+${Math.floor(world.random() * 9)}` };
            },
          }),
        ),
      options: { gate: asking, attended: true },
      reacts(event, control, world) {
        if (event.type !== 'approval_requested') return;
        const decision = event.index === 0 ? 'allow' : 'deny';
        const message = decision === 'deny' ? { message: 'Not twice.' } : {};
        void pause(world, 2000).then(() => control.decide(event.approvalId, { decision, ...message }));
      },
    };
    const recorded = await record(scene);
    const decided = recorded.log.split('\n').map((line) => JSON.parse(line));
    expect(decided.filter(({ type }) => type === 'approval_decided')).toHaveLength(2);
    expect(decided.find(({ type }) => type === 'approval_decided').waitedMs).toBeGreaterThan(1);
    expect(recorded.log).toContain('Never.');
    expect(recorded.log).toContain('Not twice.');
    const again = await replay(scene, recorded.cassette);
    expect(again.seen).toBe(recorded.seen);
    expect(again.tape.check()).toBeUndefined();
    const alone = await replay({ ...scene, reacts: () => {} }, recorded.cassette);
    expect(alone.seen).toBe(recorded.seen);
  });

  test.for(['thinking', 'running_tool'] as const)(
    'for a run that is cancelled while its status is %s [P3]',
    async (state, { expect }) => {
      const scene: Scene = {
        ...eventful,
        reacts(event, control, world) {
          if (event.type === 'status' && event.state === state)
            void pause(world, 100).then(() => control.cancel());
        },
      };
      const recorded = await record(scene);
      expect(recorded.result.status).toBe('cancelled');
      const again = await replay({ ...eventful, reacts: () => {} }, recorded.cassette);
      expect(again.log).toBe(recorded.log);
      expect(again.tape.check()).toBeUndefined();
    },
  );

  test('for a tool that exceeds its time limit and a run that exceeds its own [P2]', async () => {
    const hangs = (world: Runtime) => [
      slow(world, 'read', { timeoutMs: 500, execute: () => new Promise(() => {}) }),
      slow(world, 'list', { execute: () => new Promise(() => {}) }),
    ];
    const scene: Scene = {
      script: [says('One.', 'read'), says('Two.', 'list')],
      tools: hangs,
      options: { limits: { ms: 3000 } },
    };
    const recorded = await record(scene);
    expect(recorded.result.status).toBe('timeout');
    expect(recorded.log).toContain('did not finish within 0.5 s');
    const again = await replay(scene, recorded.cassette, { patienceMs: 0 });
    expect(again.log).toBe(recorded.log);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(again.tape.check()).toBeUndefined();
  });

  test('for every kind of tool result [P10]', async () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const outcomes: readonly (() => unknown)[] = [
      () => undefined,
      () => 10n,
      () => cycle,
      () => () => 1,
      () => ({ a: [1, 'two', null] }),
      () => toolOutput({ content: 'bad', isError: true, diff: '-a\n+b' }),
      () => toolOutput({ content: [{ type: 'file', mediaType: 'image/png', data: 'iVBO' }] }),
      () => toolOutput({ content: 5 as never }),
      () => {
        throw new AgentError({ kind: 'invalid', message: 'No such file.' });
      },
      () => Promise.reject('a word'),
      () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })),
    ];
    const names = outcomes.map((_, index) => `tool${index}`);
    const scene: Scene = {
      script: [says('All.', ...names), says('Done.')],
      tools: (world) =>
        names.map((name, index) => slow(world, name, { execute: async () => outcomes[index]?.() })),
    };
    const recorded = await record(scene);
    const again = await replay(scene, recorded.cassette);
    expect(again.log).toBe(recorded.log);
    const results = (log: string) =>
      log
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ type }) => type === 'tool_result')
        .toSorted((one, other) => one.index - other.index)
        .map(({ content, isError, summary, diff }) => ({ content, isError, summary, diff }));
    const world = hastyRuntime(5);
    const plain = await show(scene, untaped(scene, world), world);
    expect(results(recorded.log)).toEqual(results(plain.log));
  });

  test('for an asynchronous store, with the recorded prices', async () => {
    const late = (world: Runtime): Store => {
      const store = memoryStore();
      return {
        claim: async (id) => pause(world, 50).then(() => store.claim(id)),
        append: async (...given) => pause(world, 50).then(() => store.append(...given)),
        read: (id, after) => store.read(id, after),
        sessions: () => store.sessions(),
      };
    };
    const scene = (price: number, seed: number): Scene => ({
      ...eventful,
      options: {
        store: late(hastyRuntime(seed)),
        pricing: () => ({ input: price, output: price }),
        limits: { usd: 50, turns: 8 },
      },
    });
    const recorded = await record(scene(3, 4));
    expect(recorded.result.metrics.usd).toBeGreaterThan(0);
    const again = await replay(scene(7, 5), recorded.cassette);
    expect(again.log).toBe(recorded.log);
    expect(again.tape.check()).toBeUndefined();
  });

  test('for a tool that charged the budget, although the tool does not run again [P14]', async () => {
    const scene: Scene = {
      script: [says('One.', 'ask'), says('Two.', 'ask'), says('Three.')],
      tools: (world) => [
        slow(world, 'ask', {
          async execute(_args, { budget }) {
            const reservation = budget.reserve(400, 0);
            await pause(world, 10);
            reservation.settle(900, 0);
            reservation.settle(900, 0);
            return budget.tokens;
          },
        }),
      ],
      options: { limits: { tokens: 2000 }, request: { maxTokens: 300 } },
    };
    const recorded = await record(scene);
    expect(recorded.result.status).toBe('limit');
    const again = await replay(scene, recorded.cassette);
    expect(again.log).toBe(recorded.log);
  });

  test.each(Array.from({ length: 12 }, (_, index) => index * 5 + 1))(
    'for any scenario: seeds from %i',
    async (first) => {
      for (let seed = first; seed < first + 5; seed += 1) {
        const scene = randomScene(seededRandom(seed));
        const recorded = await record(scene, seed);
        const again = await replay({ ...scene, reacts: () => {} }, recorded.cassette, { patienceMs: 1e6 });
        expect(again.seen, `seed ${seed}`).toBe(recorded.seen);
        expect(again.tape.miss, `seed ${seed}`).toBeUndefined();
      }
    },
  );
});

/** Returns a recording that passes everything through, as in an ordinary run. */
function untaped(scene: Scene, world: Runtime) {
  const transport = handlerTransport(wireServer(scriptTesting, scene.script, { secret: apiKey }).handler);
  const same = <Value>(value: Value) => value;
  return {
    runtime: world,
    transport,
    tools: (tools: readonly Tool[]) => [...tools],
    gate: same,
    store: same,
    pricing: same,
    blobs: same,
    wire: same,
    control: (run: RecordingControl) => run,
    fact: <Value>(_name: string, make: () => Value) => make(),
    moment: () => Promise.resolve(),
    check() {},
  };
}

/** Combines responses, failures, cuts, tools, gates, decisions, cancels and steering at random. */
function randomScene(random: SeededRandom): Scene {
  const names = ['read', 'list', 'write', 'erase'];
  const some = (): MockReply => {
    if (random.chance(0.15)) return busy;
    if (random.chance(0.15)) return cut('Half a sentence that is never');
    const calls = Array.from({ length: random.between(0, 4) }, () => random.pick(names));
    return says(`Step ${random.between(1, 99)}.`, ...calls);
  };
  const habit = random.next();
  return {
    script: [...Array.from({ length: random.between(1, 5) }, some), says('Done.')],
    tools: (world) =>
      names.map((name) =>
        slow(world, name, {
          effect: name === 'write' || name === 'erase' ? 'once' : 'read',
          ...(name === 'list' && { execute: () => 'at once' }),
          ...(name === 'erase' && { timeoutMs: 150 }),
        }),
      ),
    options: {
      gate: random.chance(0.5) ? asking : () => ({ type: 'allow' }),
      attended: true,
      limits: { turns: 5 },
    },
    reacts(event: RunEvent, control, world) {
      const later = (act: () => void) => void pause(world, 400).then(act);
      if (event.type === 'approval_requested')
        later(() => control.decide(event.approvalId, { decision: habit < 0.5 ? 'allow' : 'deny' }));
      if (event.type === 'status' && habit > 0.8) later(() => control.cancel());
      if (event.type === 'tool_started' && habit < 0.3) later(() => control.steer('And mind the gap.'));
    },
  };
}

describe('during a replay', () => {
  test('no tool runs and nothing is fetched', async () => {
    const runs: string[] = [];
    const scene: Scene = {
      script: [says('I look.', 'read'), says('Done.')],
      tools: (world) => [slow(world, 'read', {}, runs)],
    };
    const { cassette } = await record(scene);
    expect(runs).toEqual(['read']);
    const { result, tape } = await replay(scene, cassette);
    expect(result.status).toBe('complete');
    expect(runs).toEqual(['read']);
    await expect(tape.runtime.fetch('https://service.test')).rejects.toMatchObject({ code: 'replay_miss' });
  });

  test('live tools run: equal results give the same log, a different result is a mismatch', async () => {
    const runs: string[] = [];
    const scene = (content: string): Scene => ({
      script: [says('I look.', 'read', 'read'), says('Done.')],
      tools: (world) => [
        slow(world, 'read', {
          async execute(_args, { progress }) {
            runs.push('read');
            progress('still there');
            await pause(world, 100);
            return content;
          },
        }),
      ],
    });
    const recorded = await record(scene('green'));
    const again = await replay(scene('green'), recorded.cassette, { liveTools: () => true });
    expect(runs).toHaveLength(4);
    expect(again.log).toBe(recorded.log);
    const told = (seen: string) => seen.split('"type":"progress"').length;
    expect(told(again.seen)).toBe(told(recorded.seen));
    expect(again.tape.check()).toBeUndefined();
    const other = await replay(scene('red'), recorded.cassette, { liveTools: () => true });
    expect(other.result.status).toBe('failed');
    expect(other.result.error?.message).toContain('recorded  "green"');
    expect(other.result.error?.message).toContain('now       "red"');
  });
});
