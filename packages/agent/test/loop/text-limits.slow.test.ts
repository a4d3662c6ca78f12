import { describe, expect, it } from 'vitest';
import type { Event, LiveEvent, RunEvent } from '../../src/events/event.ts';
import { createHarness } from '../../src/harness/harness.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import type { ExecutorOptions, RunOptions } from '../../src/run/options.ts';
import { maxUnreadLength } from '../../src/run/run-text.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import {
  calls,
  modelResponse,
  noResponse,
  scriptedModel,
  textResponse,
} from '../../src/testing/scripted-model.ts';
import { AgentError } from '../../src/values/errors.ts';
import {
  maxAnswerBytes,
  maxArgumentBytes,
  maxCalls,
  maxErrorLength,
  maxNoteBytes,
  maxOutputBytes,
  maxProgressBytes,
  maxPromptBytes,
  maxWaiting,
} from '../../src/values/sizes.ts';

const { tool } = probeTools();

/** An executor whose model calls the tool `act` and then says "Done." */
function executor(options: Partial<ExecutorOptions> & { readonly act?: Partial<Tool> } = {}) {
  const { act = {}, ...rest } = options;
  const agent = scriptedModel([calls(['act']), textResponse('Done.')]);
  return new Executor({ agent, tools: [tool('act', act)], runtime: fakeRuntime(), ...rest });
}

/** Returns the error that a function throws. */
function errorOf(work: () => unknown): AgentError | undefined {
  try {
    work();
  } catch (thrown) {
    if (AgentError.is(thrown)) return thrown;
  }
  return undefined;
}

async function eventsOf(one: Executor, options: RunOptions = {}): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const { error } = await one.run('Go.', { ...options, onEvent: (event) => events.push(event) });
  expect(error).toBeUndefined();
  return events;
}

function ofType<Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type) {
  return events.filter((event): event is Extract<Event | LiveEvent, { type: Type }> => event.type === type);
}

describe('messages to a run', () => {
  it('wait for its next turn: at most 1,000 of them and 64 MiB in total [P29]', async () => {
    const seen: (AgentError | undefined)[] = [];
    const runs: { steer(text: string): boolean }[] = [];
    const send = (text: string) => seen.push(errorOf(() => runs[0]?.steer(text)));
    const steps = [
      () => {
        for (let sent = 0; sent <= maxWaiting; sent += 1) send('x');
        return calls(['act']);
      },
      () => {
        send('x'.repeat(maxPromptBytes - 1000));
        send('x'.repeat(1000));
        send('x');
        return textResponse('Done.');
      },
      textResponse('Done.'),
    ];
    const run = executor({ agent: scriptedModel(steps) }).run('Go.');
    runs.push(run);
    const { status, messages } = await run;
    expect(status).toBe('complete');
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1 + maxWaiting + 2);
    const problems = seen.filter((error) => error !== undefined);
    expect(problems.map(({ kind, code }) => `${kind} ${code}`)).toEqual(
      Array.from({ length: 2 }, () => 'invalid too_many_waiting'),
    );
    expect(problems[0]?.message).toMatch(
      /^1001 messages to the run \(\d+ bytes\) would be waiting, but the maximum is 1000 \(67108864 bytes\)\. Try again later\.$/,
    );
  });
});

describe('prompts', () => {
  it('wait in a harness: at most 1,000 of them and 64 MiB in total [P29]', async () => {
    const agent = scriptedModel([noResponse()]);
    const one = createHarness({ agent, whenBusy: 'queue', runtime: fakeRuntime() });
    one.prompt('Go.');
    const waiting = Array.from({ length: maxWaiting }, () => one.prompt('x'));
    const wanted = { status: 'failed', error: { kind: 'invalid', code: 'too_many_waiting' } };
    expect(await one.prompt('x')).toMatchObject(wanted);
    for (const run of waiting) run.cancel();
    const large = one.prompt('x'.repeat(maxPromptBytes - 1000));
    expect(await one.prompt('x'.repeat(1000))).toMatchObject(wanted);
    await one.close();
    expect((await large).error?.code).toBe('closed');
  });
});

describe('the texts of a call', () => {
  it('that an approval shows are truncated, and the cuts are marked [P29]', async () => {
    const requests: (readonly number[])[] = [];
    for (const extra of [0, 1]) {
      const summary = 'x'.repeat(maxNoteBytes + extra);
      const long = 'x'.repeat(maxOutputBytes + extra);
      const act = {
        subject: () => long,
        mustAsk: () => summary,
        preview: async () => ({ summary, diff: long }),
      };
      const events = await eventsOf(executor({ act, gate: () => 'ask' }));
      for (const request of ofType(events, 'approval_requested')) {
        const texts = [request.subject, request.diff, request.summary, request.mustAsk].map(String);
        requests.push(texts.map((text) => Number(/… (\d+) bytes omitted …/.exec(text)?.[1] ?? 0)));
        for (const text of texts) expect(text.length).toBeLessThanOrEqual(maxOutputBytes + extra);
      }
    }
    expect(requests[0]).toEqual([0, 0, 0, 0]);
    expect(requests[1]?.every((left) => left > 0)).toBe(true);
  });

  it('that report progress are truncated to 16 KiB, and the cuts are marked [P29]', async () => {
    const execute: Tool['execute'] = (_, { progress }) => {
      for (const extra of [0, 1]) progress('x'.repeat(maxProgressBytes + extra));
    };
    const [whole, cut] = ofType(await eventsOf(executor({ act: { execute } })), 'progress');
    expect(whole?.text).toBe('x'.repeat(maxProgressBytes));
    expect(cut?.text).toMatch(/^x+\n… \d+ bytes omitted …\nx+$/);
    expect(cut?.text.length).toBeLessThanOrEqual(maxProgressBytes);
  });

  it('that a user writes with a decision have at most 256 KiB [P29]', async () => {
    const one = executor({ gate: () => 'ask', attended: true });
    const run = one.run('Go.');
    const errors: (AgentError | undefined)[] = [];
    run.subscribe((event) => {
      if (event.type !== 'approval_requested') return;
      for (const extra of [1, 0]) {
        const message = 'x'.repeat(maxOutputBytes + extra);
        errors.push(errorOf(() => run.decide(event.approvalId, { decision: 'deny', message })));
      }
    });
    expect((await run).status).toBe('complete');
    expect(errors[0]).toMatchObject({ kind: 'invalid', code: 'bad_decision' });
    expect(errors[0]?.message).toMatch(
      /^answer\.message is invalid: it is "x+…"\. Use at most 262144 bytes instead of 262145\.$/,
    );
    expect(errors[1]).toBeUndefined();
  });

  it('that a gate sets as arguments have at most 1 MiB: the model sees an error [P29]', async () => {
    const results: string[] = [];
    for (const extra of [0, 1]) {
      const text = 'x'.repeat(maxArgumentBytes - 16 + extra);
      const gate = () => ({ type: 'allow', arguments: { text } }) as const;
      const [result] = ofType(await eventsOf(executor({ gate })), 'tool_result');
      results.push(result?.content.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '');
    }
    expect(results).toEqual([
      'act done',
      'The arguments set by the permission gate were rejected: They exceed 1048576 bytes.',
    ]);
  });
});

describe('the options of a run', () => {
  it('have a system text of at most 64 MiB [P29]', async () => {
    const half = 'x'.repeat(maxPromptBytes / 2 - 8);
    expect(errorOf(() => executor({ system: 'x'.repeat(maxPromptBytes) }))).toBeUndefined();
    expect(errorOf(() => executor({ system: [half, half] }))).toBeUndefined();
    for (const system of ['x'.repeat(maxPromptBytes + 1), [half, half, 'x']]) {
      const error = errorOf(() => executor({ system }));
      expect(error).toMatchObject({ kind: 'invalid', code: 'bad_option' });
      expect(error?.message).toMatch(
        /^options\.system is invalid: .* Use at most 67108864 bytes instead of /,
      );
    }
  });

  it('have a run id of at most 1,000 characters [P29]', async () => {
    const runId = 'x'.repeat(1_000);
    expect((await executor().run('Go.', { runId })).runId).toBe(runId);
    expect(errorOf(() => executor().run('Go.', { runId: `${runId}x` }))?.message).toMatch(
      /^options\.runId is invalid: .* Use a string of 1 to 1000 characters\.$/,
    );
  });

  it('have hooks that continue a run with at most 64 MiB: a failure names the hook [P29]', async () => {
    const results: string[] = [];
    for (const extra of [0, 1]) {
      const sent: string[] = ['x'.repeat(maxPromptBytes + extra)];
      const hook = { name: 'more', afterRun: () => ({ continueWith: sent.pop() ?? '' }) };
      const agent = scriptedModel([textResponse('One.'), textResponse('Two.')]);
      const { text, error } = await executor({ agent, hooks: [hook] }).run('Go.');
      results.push(error?.message ?? text);
    }
    expect(results[0]).toBe('Two.');
    expect(results[1]).toMatch(/^The hook "more" failed in afterRun: .*Use at most 67108864 bytes/);
  });
});

describe('a response of any agent', () => {
  it('has at most 64 MiB [P29]', async () => {
    const bytes = maxAnswerBytes - 36;
    const answers = [bytes, bytes + 1].map((length) =>
      executor({ agent: scriptedModel([modelResponse([{ type: 'text', text: 'x'.repeat(length) }])]) }),
    );
    const [fits, large] = await Promise.all(answers.map((one) => one.run('Go.').result));
    expect(fits?.status).toBe('complete');
    expect(large?.error).toMatchObject({ kind: 'agent', code: 'bad_answer' });
    expect(large?.error?.message).toContain('Use at most 67108864 bytes instead of');
  });

  it('has at most 256 calls: its usage is counted, and no call runs [P29]', async () => {
    const results = [];
    for (const extra of [0, 1]) {
      const many = Array.from({ length: maxCalls + extra }, () => 'act');
      const agent = scriptedModel([calls(many), textResponse('Done.')]);
      const { status, limit, error, metrics } = await executor({ agent }).run('Go.');
      results.push({ status, limit, message: error?.message, ran: metrics.toolCalls });
      if (extra === 1) expect(metrics.wasted.inputTokens).toBeGreaterThan(0);
    }
    expect(results).toEqual([
      { status: 'complete', limit: undefined, message: undefined, ran: maxCalls },
      {
        status: 'limit',
        limit: undefined,
        message: 'The response contains 257 calls, but the maximum is 256. It was discarded.',
        ran: 0,
      },
    ]);
  });

  it('can wait for a slow reader of its text up to 64 MiB, then reading fails [P29]', async () => {
    const ends: string[] = [];
    for (const extra of [0, 1]) {
      const chunk = 'x'.repeat(maxUnreadLength / 2);
      const agent = scriptedModel([
        (_, { emit }) => {
          for (const text of [chunk, chunk, 'x'.repeat(extra)])
            emit?.({ type: 'text_delta', index: 0, text });
          throw new AgentError({ kind: 'agent', code: 'end', message: 'The end.' });
        },
      ]);
      const run = executor({ agent }).run('Go.');
      const reading = (async () => {
        let length = 0;
        for await (const text of run.text()) length += text.length;
        return length;
      })();
      ends.push(await reading.then(String, (thrown) => AgentError.from(thrown).code ?? ''));
    }
    expect(ends).toEqual(['end', 'text_discarded']);
  });
});

describe('an error', () => {
  it('has a message of at most 16,384 characters, and the cut is marked [P29]', () => {
    const message = 'x'.repeat(maxErrorLength);
    expect(new AgentError({ kind: 'agent', message }).message).toBe(message);
    expect(new AgentError({ kind: 'agent', message: `${message}x` }).message).toBe(`${message}…`);
  });
});

describe('a memory store', () => {
  it('counts sessions without events: those that no run needs are removed, others are not [P29]', async () => {
    const released = memoryStore({ keepBytes: 2_000 });
    for (const id of ['a', 'b', 'c']) {
      const epoch = await released.claim(id);
      await released.append(id, [], { epoch, release: true });
    }
    expect(() => released.claim('a')).toThrow(/^Session a was removed to free memory/);
    const claimed = memoryStore({ keepBytes: 2_000, maxBytes: 2_000 });
    for (const id of ['a', 'b']) await claimed.claim(id);
    expect(() => claimed.claim('c')).toThrow(/would need 3000 bytes, but maxBytes is 2000/);
    expect(await claimed.claim('a')).toBeGreaterThan(0);
  });
});
