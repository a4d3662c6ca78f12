import { describe, expect, it } from 'vitest';
import { Executor } from '../../src/loop/executor.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { fakeRuntime, scriptedAgent } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { RunFixture } from '../../src/testing/run-fixture.ts';
import { scenarios } from '../../src/testing/scenarios.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { assertValidHistory } from '../../src/testing/valid-history.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Runtime } from '../../src/values/runtime.ts';

const { tool } = probeTools();

describe('creating an executor', () => {
  it('rejects two tools with the same name, and a tool that no provider accepts', () => {
    const agent = scriptedModel([]);
    expect(() => new Executor({ agent, tools: [tool('a'), tool('a')] })).toThrow(/Two tools are named a/);
    expect(() => new Executor({ agent, tools: [{ ...tool('a'), name: 'a b' }] })).toThrow(AgentError);
    const output = { name: 'a', schema: { type: 'object' } };
    const executor = new Executor({ agent: scriptedModel([], { output: 'tool' }), tools: [tool('a')] });
    expect(() => executor.run('Go.', { output })).toThrow(/Two tools are named a/);
  });

  it.each([
    [undefined, 'options is invalid: it is undefined. Use an object.'],
    [{}, 'options.agent is invalid: it is undefined. Use an agent returned by a provider function.'],
    [{ agent: {} }, 'options.agent.provider is invalid: it is undefined. Use a string.'],
    [{ agent: { ...scriptedModel([]), run: 7 } }, 'options.agent.run is invalid: it is 7. Use a function.'],
    [
      { agent: scriptedModel([]), tools: tool('a') },
      'options.tools is invalid: it is an object. Use an array.',
    ],
    [{ agent: scriptedModel([]), tools: [null] }, 'options.tools[0] is invalid: it is null. Use a tool'],
    [{ agent: scriptedModel([]), limits: { turns: '3' } }, 'options.limits.turns is invalid: it is "3".'],
    [
      { agent: scriptedModel([]), limits: { turns: 1.5 } },
      'options.limits.turns is invalid: it is 1.5. Use a whole number of at least 0.',
    ],
    [{ agent: scriptedModel([]), onLimit: 'stop' }, 'Use "return" or "finalize".'],
  ])('names the invalid option: case %#', (options, words) => {
    const make = () => new Executor(options as never);
    expect(make).toThrow(AgentError);
    expect(make).toThrow(words);
  });

  it('treats an undefined option as absent', async () => {
    const none = undefined as never;
    const options = { gate: none, store: none, runtime: none, pricing: none, limits: { turns: none } };
    const agent = scriptedModel([calls(['a']), textResponse('Done.')]);
    const result = await new Executor({ agent, tools: [tool('a')], ...options });
    expect((await result.run('Go.')).status).toBe('complete');
  });

  it('copies the list of tools', async () => {
    const tools = [tool('a')];
    const agent = scriptedModel([textResponse('Done.')]);
    const executor = new Executor({ agent, tools, runtime: fakeRuntime() });
    tools.push(tool('b'));
    await executor.run('Go.');
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('the overhead of a run', () => {
  /** Counts the timers and the appends of a run. */
  async function measured(turns: number, options: Partial<ExecutorOptions> = {}) {
    const counts = { timers: 0, appends: 0 };
    const store = memoryStore();
    const counting: Store = {
      ...store,
      append(...given) {
        counts.appends += 1;
        return store.append(...given);
      },
    };
    const stage = new RunFixture(() => counting);
    const runtime = {
      ...stage.runtime,
      timer(ms: number, fire: () => void) {
        counts.timers += 1;
        return stage.runtime.timer(ms, fire);
      },
    };
    const script = [...Array.from({ length: turns }, () => calls(['a'])), textResponse('Done.')];
    const result = await stage.play({
      agent: scriptedModel(script),
      tools: [tool('a', { mayRepeat: true })],
      limits: { turns: turns + 1 },
      runtime,
      ...options,
    });
    expect(result.status).toBe('complete');
    return counts;
  }

  it('is three appends for each turn with a tool and two timers in total, if tools are synchronous', async () => {
    const [few, many] = [await measured(10), await measured(20)];
    expect(many.appends - few.appends).toBe(30);
    expect(many.timers).toBe(2);
  });

  it('is one more timer for each asynchronous tool', async () => {
    const patient = { tools: [tool('a', { mayRepeat: true, execute: async () => 'done' })] };
    const [few, many] = [await measured(10, patient), await measured(20, patient)];
    expect(many.timers - few.timers).toBe(10);
    expect(few.timers).toBe(12);
  });

  it('includes no use of the runtime for a delta', async () => {
    const stage = new RunFixture(() => memoryStore());
    let uses = 0;
    const runtime = new Proxy<Runtime>(stage.runtime, {
      get(target, key) {
        uses += 1;
        return Reflect.get(target, key);
      },
    });
    const used = async (deltas: number) => {
      const before = uses;
      const agent = scriptedModel([
        (_request, { emit }) => {
          for (let count = 0; count < deltas; count += 1) emit?.({ type: 'text_delta', index: 0, text: 'x' });
          return textResponse('Done.');
        },
      ]);
      await stage.play({ agent, runtime });
      return uses - before;
    };
    expect(await used(5000)).toBe(await used(0));
  });

  it('includes no copies of the messages', async () => {
    const given: unknown[] = [];
    const agent = scriptedModel([calls(['a']), calls(['a']), textResponse('Done.')]);
    const spy = {
      ...agent,
      run: (...request: Parameters<typeof agent.run>) => {
        given.push(...request[0].messages);
        return agent.run(...request);
      },
    };
    await new RunFixture(() => memoryStore()).play({ agent: spy, tools: [tool('a')] });
    expect(new Set(given).size).toBe(agent.requests.at(-1)?.messages.length);
  });

  it('three hundred runs on one signal leave no listener and no warning [P18]', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown) => warnings.push(warning);
    process.on('warning', note);
    const stop = new AbortController();
    const agent = scriptedModel(Array.from({ length: 300 }, () => textResponse('Done.')));
    const runtime = fakeRuntime();
    const executor = new Executor({ agent, runtime });
    await Promise.all(Array.from({ length: 300 }, () => executor.run('Go.', { signal: stop.signal }).result));
    stop.abort();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(runtime.timers).toBe(0);
  });
});

describe('with a real agent', () => {
  it('a scripted agent completes a run with tools through the whole provider code', async () => {
    const script = [
      { calls: [{ name: 'a', arguments: { path: 'x' } }], reasoning: 'Let me look.' },
      'It is as it should be.',
    ];
    const agent = scriptedAgent(script, { runtime: fakeRuntime() });
    const result = await new Executor({ agent, tools: [tool('a')], runtime: fakeRuntime() }).run('Look.');
    expect(result).toMatchObject({ status: 'complete', text: 'It is as it should be.' });
    assertValidHistory(result.messages);
  });

  it('a call with invalid arguments is never run [P9]', async () => {
    const probe = probeTools();
    const script = [{ calls: [{ name: 'a', arguments: '{"path": "cut' as never }] }, 'Sorry.'];
    const agent = scriptedAgent(script, { runtime: fakeRuntime() });
    const result = await new Executor({ agent, tools: [probe.tool('a')], runtime: fakeRuntime() }).run('Go.');
    expect(probe.names).toEqual([]);
    expect(result.status).toBe('complete');
  });
});

describe('the scenarios of the contract', () => {
  it.each(scenarios)('$name: the log survives a round trip through JSON', async ({ open }) => {
    const stage = new RunFixture(() => memoryStore());
    const staged = open();
    const run = stage.run(staged.options, 'Go.', { sessionId: 'one' });
    await stage.advance(1000);
    run.cancel();
    await stage.until(run);
    const stored = await stage.store.read('one');
    expect(JSON.parse(JSON.stringify(stored))).toEqual(stored);
  });
});
