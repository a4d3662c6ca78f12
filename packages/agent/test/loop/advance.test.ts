import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import type { Advance, RunResult } from '../../src/run/run.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { Store, Writer } from '../../src/store/store.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { assertValidHistory } from '../../src/testing/valid-history.ts';
import { AgentError } from '../../src/values/errors.ts';

const ids = { sessionId: 'chat-1', runId: 'run-1', prompt: 'Go.' };

/** Returns an agent that chooses its response by the turn: a repeated request gets the same one. */
function byProgress(steps: readonly ModelStep[]) {
  const requests: number[] = [];
  const agent = scriptedModel([]);
  return {
    requests,
    agent: {
      ...agent,
      run: async (request: Parameters<typeof agent.run>[0], context = {}) => {
        const place = request.messages.filter(({ role }) => role === 'assistant').length;
        requests.push(place);
        const step = steps[place];
        if (step === undefined) throw new AgentError({ kind: 'agent', message: 'The script has ended.' });
        return typeof step === 'function' ? await step(request, context) : step;
      },
    },
  };
}

async function toTheEnd(executor: Executor, most = 50): Promise<{ result: RunResult; actions: number }> {
  for (let actions = 1; actions <= most; actions += 1) {
    const advanced = await executor.advance(ids);
    if (advanced.over) return { result: advanced.result, actions };
  }
  throw new Error('The run did not end.');
}

function seqOf(advanced: Advance): number {
  if (advanced.over) throw new Error('The run has ended.');
  return advanced.seq;
}

describe('a run executed one action at a time', () => {
  const script = [calls(['a', 'b']), calls(['c']), textResponse('Done.')];

  it('performs one request or one call at a time and records the same as a whole run [P9]', async () => {
    const one = probeTools();
    const tools = ['a', 'b', 'c'].map((name) => one.tool(name));
    const runtime = fakeRuntime();
    const whole = memoryStore();
    await new Executor({ agent: scriptedModel(script), tools, runtime, store: whole }).run('Go.', ids);
    const stepped = memoryStore();
    const executor = new Executor({
      agent: scriptedModel(script),
      tools,
      runtime: fakeRuntime(),
      store: stepped,
    });
    const { result, actions } = await toTheEnd(executor);
    // Three requests and three calls; the last request also ends the run.
    expect(actions).toBe(6);
    expect(result.status).toBe('complete');
    expect(result.text).toBe('Done.');
    const bare = (events: readonly Event[]) => events.map(({ id: _, time: __, ...event }) => event);
    expect(bare(await stepped.read('chat-1'))).toEqual(bare(await whole.read('chat-1')));
  });

  it('returns an ended run again without writing anything', async () => {
    const store = memoryStore();
    const executor = new Executor({
      agent: scriptedModel([textResponse('Done.')]),
      runtime: fakeRuntime(),
      store,
    });
    await toTheEnd(executor);
    const before = await store.read('chat-1');
    const again = await executor.advance(ids);
    expect(again).toMatchObject({ over: true, result: { status: 'complete', text: 'Done.' } });
    expect(await store.read('chat-1')).toEqual(before);
  });

  it('returns the structured output of an ended run again', async () => {
    const agent = scriptedModel([textResponse('{"pairs":2}')]);
    const executor = new Executor({ agent, runtime: fakeRuntime(), store: memoryStore() });
    const output = { schema: { type: 'object' } };
    for (let step = 1; step <= 2; step += 1) {
      const advanced = await executor.advance({ ...ids, output });
      expect(advanced).toMatchObject({ over: true, result: { status: 'complete', output: { pairs: 2 } } });
    }
  });

  it('continues an existing conversation of the session', async () => {
    const store = memoryStore();
    const agent = scriptedModel([textResponse('One.'), textResponse('Two.')]);
    const executor = new Executor({ agent, runtime: fakeRuntime(), store });
    await toTheEnd(executor);
    const second = await executor.advance({ ...ids, runId: 'run-2', prompt: 'And then?' });
    expect(second).toMatchObject({ over: true, result: { text: 'Two.', runId: 'run-2' } });
    expect(agent.requests[1]?.messages).toHaveLength(3);
  });

  it('applies the limits to all actions together and ends with a closing response', async () => {
    const kit = probeTools();
    const forever = Array.from({ length: 9 }, () => calls(['a']));
    const { agent, requests } = byProgress([...forever.slice(0, 3), textResponse('That is all.')]);
    const options = { limits: { toolCalls: 2, turns: 20 }, onLimit: 'finalize' } as const;
    const executor = new Executor({ agent, tools: [kit.tool('a')], runtime: fakeRuntime(), ...options });
    const { result } = await toTheEnd(executor);
    expect(kit.names).toEqual(['a', 'a']);
    expect(requests).toEqual([0, 1, 2, 3]);
    expect(result).toMatchObject({ status: 'limit', limit: 'toolCalls', text: 'That is all.' });
  });

  it('applies a token limit to all actions together, as a whole run does', async () => {
    const kit = probeTools();
    const script = [calls(['a']), calls(['a']), calls(['a']), textResponse('Done.')];
    const options = { tools: [kit.tool('a')], limits: { tokens: 2000 }, runtime: fakeRuntime() };
    const dear = script.map((step) => ({ ...step, usage: { inputTokens: 600, outputTokens: 100 } }));
    const whole = await new Executor({ agent: byProgress(dear).agent, ...options }).run('Go.');
    const { result } = await toTheEnd(new Executor({ agent: byProgress(dear).agent, ...options }));
    expect(whole.status).toBe('limit');
    expect(result).toMatchObject({ status: 'limit', limit: 'tokens' });
    expect(result.metrics.invocations).toBe(whole.metrics.invocations);
  });

  it('rejects an empty prompt immediately', async () => {
    const executor = new Executor({ agent: scriptedModel([]), runtime: fakeRuntime() });
    await expect(executor.advance({ ...ids, prompt: ' ' })).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('a stepped run whose process crashes [P9, P13]', () => {
  /** Wraps a store so that the process crashes before or after its n-th append. */
  function dying(store: Store, at: number, when: 'before' | 'after'): Store {
    let count = 0;
    const gone = new Error('The process is gone.');
    return {
      ...store,
      async append(sessionId: string, events: readonly Event[], writer: Writer) {
        count += 1;
        if (count > at || (count === at && when === 'before')) throw gone;
        await store.append(sessionId, events, writer);
        if (count === at) throw gone;
      },
    };
  }

  const script = [calls(['read', 'once']), calls(['again']), textResponse('Done.')];

  function scene() {
    const kit = probeTools();
    const tools: Tool[] = [
      kit.tool('read', { effect: 'read' }),
      kit.tool('once', { effect: 'once' }),
      kit.tool('again', { effect: 'idempotent' }),
    ];
    const { agent, requests } = byProgress(script);
    const store = memoryStore();
    const options = (over: Partial<ExecutorOptions> = {}): ExecutorOptions => ({
      agent,
      tools,
      store,
      runtime: fakeRuntime(),
      ...over,
    });
    return { kit, requests, store, options };
  }

  // The run writes eleven events: the prompt, 3 responses, 3 starts, 3 results and the end.
  const points = Array.from({ length: 11 }, (_, index) => index + 1);

  it.each(
    points.flatMap((at) => [
      { at, when: 'before' as const },
      { at, when: 'after' as const },
    ]),
  )(
    'completes after a crash $when write $at without repeating a `once` tool or recorded work',
    async ({ at, when }) => {
      const { kit, requests, store, options } = scene();
      const first = new Executor(options({ store: dying(store, at, when) }));
      const died = await toTheEnd(first).then(
        () => false,
        () => true,
      );
      const recorded = await store.read('chat-1');
      const requestsBefore = requests.length;
      const runsBefore = kit.names.length;
      const { result } = await toTheEnd(new Executor(options()));
      expect(died).toBe(at < 12);
      expect(result.status).toBe('complete');
      assertValidHistory(result.messages);
      const log = await store.read('chat-1');
      expect(log.slice(0, recorded.length)).toEqual(recorded);
      const answered = recorded.filter(({ type }) => type === 'assistant').length;
      const closed = recorded.filter(({ type }) => type === 'tool_result').length;
      expect(requests.length - requestsBefore).toBe(3 - answered);
      // A started tool without a result runs again, or its outcome is unknown if it must not.
      expect(kit.names.length - runsBefore).toBeLessThanOrEqual(3 - closed);
      expect(kit.names.filter((name) => name === 'once').length).toBeLessThanOrEqual(1);
      expect(log.filter(({ type }) => type === 'finished')).toHaveLength(1);
    },
  );

  it('a failed store gives a retryable error, a session claimed by another process does not', async () => {
    const { store, options } = scene();
    const failing = new Executor(options({ store: dying(store, 2, 'before') }));
    await expect(toTheEnd(failing)).rejects.toMatchObject({ code: 'store', retryable: true });
    const fencedStore: Store = {
      ...store,
      append: () => {
        throw new AgentError({ kind: 'invalid', code: 'fenced', message: 'Others have it.' });
      },
    };
    const replaced = new Executor(options({ store: fencedStore }));
    await expect(toTheEnd(replaced)).rejects.toMatchObject({ code: 'fenced', retryable: false });
  });
});

describe('stopping a stepped run', () => {
  function slow() {
    const abort = new AbortController();
    const asked = Promise.withResolvers<void>();
    const agent = {
      ...scriptedModel([]),
      run: (_: unknown, context: { signal?: AbortSignal } = {}) =>
        new Promise<never>((_, reject) => {
          context.signal?.addEventListener('abort', () => reject(AgentError.from(context.signal?.reason)));
          asked.resolve();
        }),
    };
    const store = memoryStore();
    const executor = new Executor({ agent, runtime: fakeRuntime(), store });
    return { abort, asked, executor, store };
  }

  it('a cancel ends it as cancelled', async () => {
    const { abort, asked, executor, store } = slow();
    const advanced = executor.advance({ ...ids, signal: abort.signal });
    await asked.promise;
    abort.abort(new AgentError({ kind: 'aborted', code: 'cancelled', message: 'Stop.' }));
    expect(await advanced).toMatchObject({ over: true, result: { status: 'cancelled' } });
    expect((await store.read('chat-1')).at(-1)).toMatchObject({ type: 'finished', status: 'cancelled' });
  });

  it('any other reason leaves it unfinished, like a crash, and it continues later [P13]', async () => {
    const { abort, asked, executor, store } = slow();
    const advanced = executor.advance({ ...ids, signal: abort.signal });
    await asked.promise;
    abort.abort(new AgentError({ kind: 'aborted', code: 'closed', message: 'Closing.' }));
    await expect(advanced).rejects.toMatchObject({ kind: 'aborted', code: 'closed' });
    expect((await store.read('chat-1')).map(({ type }) => type)).toEqual(['user']);
    const next = new Executor({
      agent: scriptedModel([textResponse('Done.')]),
      runtime: fakeRuntime(),
      store,
    });
    expect((await toTheEnd(next)).result.status).toBe('complete');
  });
});

describe('a stepped run that waits for a user', () => {
  const gate = () => ({ type: 'ask' }) as const;

  async function waiting(rest: Partial<ExecutorOptions> = {}) {
    const kit = probeTools();
    const store = memoryStore();
    const { agent } = byProgress([calls(['a', 'b']), textResponse('Done.')]);
    const tools = [kit.tool('a'), kit.tool('b')];
    const executor = new Executor({ agent, tools, gate, store, runtime: fakeRuntime(), ...rest });
    const { result } = await toTheEnd(executor);
    const asked = (await store.read('chat-1')).filter((event) => event.type === 'approval_requested');
    return { kit, store, executor, result, asked };
  }

  it('asks about the whole batch before anything runs, and runs the allowed calls', async () => {
    const { kit, executor, result, asked } = await waiting();
    expect(result.status).toBe('waiting');
    expect(kit.names).toEqual([]);
    expect(asked).toHaveLength(2);
    const answers = asked.map(({ approvalId, toolName }) => ({
      approvalId,
      decision: toolName === 'a' ? ('allow' as const) : ('deny' as const),
    }));
    await executor.advance({ ...ids, answers });
    const { result: end } = await toTheEnd(executor);
    expect(kit.names).toEqual(['a']);
    expect(end.status).toBe('complete');
    expect(JSON.stringify(end.messages)).toContain('A person denied this call.');
  });

  it('continues to wait without a decision', async () => {
    const { executor, store } = await waiting();
    const before = await store.read('chat-1');
    expect(await executor.advance(ids)).toMatchObject({ over: true, result: { status: 'waiting' } });
    expect(await store.read('chat-1')).toEqual(before);
  });

  it('a decision that the log already has does not continue a run that waits for another [P13]', async () => {
    const { executor, store, asked } = await waiting();
    const answers = asked.slice(0, 1).map(({ approvalId }) => ({ approvalId, decision: 'allow' as const }));
    expect(await executor.advance({ ...ids, answers })).toMatchObject({ result: { status: 'waiting' } });
    const before = await store.read('chat-1');
    expect(await executor.advance({ ...ids, answers })).toMatchObject({ result: { status: 'waiting' } });
    expect(await store.read('chat-1')).toEqual(before);
  });

  it('a decision repeated after a crash counts once', async () => {
    const { kit, executor, asked } = await waiting();
    const answers = asked.map(({ approvalId }) => ({ approvalId, decision: 'allow' as const }));
    const first = await executor.advance({ ...ids, answers });
    const again = await executor.advance({ ...ids, answers });
    expect(seqOf(again)).toBeGreaterThan(seqOf(first));
    await toTheEnd(executor);
    expect(kit.names).toEqual(['a', 'b']);
  });
});
