import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent, AgentEvent, RequestContext } from '../../src/interfaces/agent.ts';
import { fallback } from '../../src/run/compose/index.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { textResponse } from '../../src/testing/scripted-model.ts';
import type { ErrorData } from '../../src/values/errors.ts';
import { AgentError } from '../../src/values/errors.ts';
import { userMessage } from '../../src/values/message.ts';
import { busy, fails, member, tokens, tooLong, triedIn } from './members.ts';

const request = { messages: [userMessage('Hello.')], tools: [] };

async function failureOf(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!AgentError.is(error)) throw new Error(`Expected an AgentError, got ${String(error)}`);
  return error;
}

/** Sends a request whose first agent fails with this error. */
async function after(error: ErrorData, context?: RequestContext) {
  const second = member('second', ['Hello from the second.']);
  const agent = fallback([member('first', [fails(error)]), second]);
  const outcome = await agent.run(request, context).catch((thrown: unknown) => AgentError.from(thrown));
  return { outcome, requests: second.requests.length };
}

describe('a fallback', () => {
  it('returns the response of the first agent unchanged', async () => {
    const response = textResponse('Hello.', { model: 'first-1' });
    const agent = fallback([member('first', [response]), member('second', [])]);
    expect(await agent.run(request)).toBe(response);
  });

  it.each<[string, ErrorData]>([
    ['is overloaded', busy],
    ['reaches a rate limit', { kind: 'rate_limit', message: 'Too many requests.', status: 429 }],
    ['fails', { kind: 'agent', message: 'Internal error.', status: 500 }],
    ['cannot be reached', { kind: 'network', code: 'connection_failed', message: 'Refused.' }],
    ['does not respond in time', { kind: 'timeout', code: 'stalled', message: 'No data.' }],
    ['refuses the key', { kind: 'auth', code: 'key_refused', message: 'Wrong key.', status: 401 }],
    ['does not know the model', { kind: 'invalid', code: 'not_served', message: 'Unknown.', status: 404 }],
    ['has no credit left', { kind: 'invalid', code: 'request_refused', message: 'No credit.', status: 429 }],
    ['demands a payment', { kind: 'invalid', code: 'request_refused', message: 'No credit.', status: 402 }],
  ])('asks the next agent if the service %s', async (_, error) => {
    const { outcome } = await after(error);
    expect(outcome).toMatchObject({ content: 'Hello from the second.' });
  });

  it.each<[string, ErrorData]>([
    ['the caller cancelled it', { kind: 'aborted', code: 'cancelled', message: 'Cancelled.' }],
    ['the request is invalid', { kind: 'invalid', code: 'request_refused', message: 'Bad.', status: 400 }],
    ['the model does not support it', { kind: 'invalid', code: 'unsupported', message: 'No images.' }],
    ['a limit was reached', { kind: 'limit', code: 'answer_too_large', message: 'Too large.' }],
    ['the conversation is too long for both', tooLong],
  ])('fails without asking another agent if %s', async (_, error) => {
    const { outcome, requests } = await after(error);
    expect(outcome).toMatchObject({ kind: error.kind, code: error.code });
    expect(requests).toBe(0);
  });

  it('returns a refusal, which is a response', async () => {
    const refusal = textResponse('I cannot help with that.', { stop: 'refusal' });
    const agent = fallback([member('first', [refusal]), member('second', ['Sure.'])]);
    expect((await agent.run(request)).stopReason).toBe('refusal');
  });

  it('names the model that responded, and those that failed with their tokens', async () => {
    const agent = fallback([
      member('first', [fails({ ...busy, wasted: tokens(5) })]),
      member('second', [textResponse('Hello.', { model: 'second-1-2026', attempts: 2, wasted: tokens(7) })]),
    ]);
    expect(await agent.run(request)).toMatchObject({
      model: 'second-1-2026',
      servedBy: { provider: 'second', model: 'second-1' },
      attempts: 6,
      wasted: tokens(12),
      tried: [
        {
          provider: 'first',
          model: 'first-1',
          kind: 'rate_limit',
          message: 'Overloaded.',
          wasted: tokens(5),
        },
      ],
    });
  });

  it('fails with the last error if all agents fail, and names all of them', async () => {
    const agent = fallback([
      member('first', [fails({ ...busy, wasted: tokens(5) })]),
      member('second', [fails({ kind: 'agent', code: 'broken', message: 'Broken.', wasted: tokens(7) })]),
    ]);
    const error = await failureOf(agent.run(request));
    expect(error.toJSON()).toMatchObject({ kind: 'agent', code: 'broken', attempts: 4, wasted: tokens(12) });
    expect(triedIn(error)).toEqual(['first: busy', 'second: broken']);
  });

  it('emits an event that makes the text so far void and names the next model', async () => {
    const events: AgentEvent[] = [];
    const first = member('first', [
      (_, context) => {
        context.emit?.({ type: 'text_delta', index: 0, text: 'Hel' });
        return Promise.reject(new AgentError(busy));
      },
    ]);
    await fallback([first, member('second', ['Hello.'])]).run(request, {
      emit: (event) => events.push(event),
    });
    const next = { provider: 'second', model: 'second-1' };
    expect(events).toMatchObject([
      { type: 'text_delta' },
      { type: 'retry', attempt: 4, delayMs: 0, error: { code: 'busy' }, next },
    ]);
  });

  it('drops what an agent emits after it failed, and survives a listener that throws', async () => {
    let late = () => {};
    const first = member('first', [
      (_, { emit }) => {
        late = () => emit?.({ type: 'text_delta', index: 0, text: 'late' });
        return Promise.reject(new AgentError(busy));
      },
    ]);
    const second = member('second', [
      () => {
        late();
        return textResponse('Hello.');
      },
    ]);
    const types: string[] = [];
    const emit = ({ type }: AgentEvent) => {
      types.push(type);
      throw new Error('The listener fails.');
    };
    await fallback([first, second]).run(request, { emit });
    expect(types).toEqual(['retry']);
  });

  it('does not ask another agent once the request is cancelled [P2]', async () => {
    const abort = new AbortController();
    const first = member('first', [
      () => {
        abort.abort();
        return Promise.reject(new AgentError(busy));
      },
    ]);
    const second = member('second', ['Hello.']);
    const error = await failureOf(fallback([first, second]).run(request, { signal: abort.signal }));
    expect([error.kind, second.requests.length]).toEqual(['aborted', 0]);
  });

  it('asks before each further request whether the budget covers it, with all tokens wasted so far', async () => {
    const asked: number[] = [];
    const mayRetry = ({ inputTokens }: { inputTokens: number }) => {
      asked.push(inputTokens);
      return inputTokens < 10;
    };
    const second = member('second', [
      (_, context) => {
        context.mayRetry?.(tokens(3));
        return Promise.reject(new AgentError({ ...busy, wasted: tokens(6) }));
      },
    ]);
    const third = member('third', ['Hello.']);
    const first = member('first', [fails({ ...busy, wasted: tokens(5) })]);
    const error = await failureOf(fallback([first, second, third]).run(request, { mayRetry }));
    expect(asked).toEqual([5, 8, 11]);
    expect([error.code, third.requests.length]).toEqual(['busy', 0]);
  });
});

describe('a conversation that is too long', () => {
  const sized = (name: string, contextTokens: number | undefined, step: Parameters<typeof member>[1][0]) =>
    member(name, [step], contextTokens === undefined ? {} : { contextTokens });

  it('goes to the next agent with a larger window, and past those without', async () => {
    const small = sized('small', 100, 'Hello from the small.');
    const unknown = sized('unknown', undefined, 'Hello from the unknown.');
    const large = sized('large', 500, 'Hello from the large.');
    const agent = fallback([sized('first', 200, fails(tooLong)), small, unknown, large]);
    expect((await agent.run(request)).content).toBe('Hello from the large.');
    expect([small.requests.length, unknown.requests.length]).toEqual([0, 0]);
  });

  it('stays the error if the larger agent fails, because the caller can shorten the conversation', async () => {
    const agent = fallback([sized('first', 200, fails(tooLong)), sized('large', 500, fails(busy))]);
    const error = await failureOf(agent.run(request));
    expect([error.code, triedIn(error)]).toEqual(['context_full', ['first: context_full', 'large: busy']]);
  });

  it('does not make its agent cool down', async () => {
    const first = member('first', [fails(tooLong), 'Hello.'], { contextTokens: 200 });
    const agent = fallback([first, member('large', ['Hi.'], { contextTokens: 500 })]);
    await agent.run(request);
    expect((await agent.run(request)).content).toBe('Hello.');
  });
});

describe('the cool-down', () => {
  const spare = (count: number) =>
    member(
      'spare',
      Array.from({ length: count }, (_, at) => `Spare ${at}.`),
    );

  it('skips an agent that failed for 30 seconds, and says so', async () => {
    const runtime = fakeRuntime();
    const first = member('first', [fails(busy), 'Back.']);
    const agent = fallback([first, spare(2)], { runtime });
    await agent.run(request);
    await runtime.advance(29_999);
    const skipped = await agent.run(request);
    expect([skipped.content, triedIn(skipped)]).toEqual(['Spare 1.', ['first: skipped, busy']]);
    expect([skipped.attempts, first.requests.length]).toEqual([1, 1]);
    await runtime.advance(1);
    expect((await agent.run(request)).content).toBe('Back.');
  });

  it('lasts as long as the service asks for, if that is longer', async () => {
    const runtime = fakeRuntime();
    const first = member('first', [fails({ ...busy, retryAfterMs: 60_000 }), 'Back.']);
    const agent = fallback([first, spare(2)], { runtime, coolDownMs: 1_000 });
    await agent.run(request);
    await runtime.advance(59_999);
    expect((await agent.run(request)).content).toBe('Spare 1.');
    await runtime.advance(1);
    expect((await agent.run(request)).content).toBe('Back.');
  });

  it('does not exist if it is 0', async () => {
    const first = member('first', [fails({ ...busy, retryAfterMs: 60_000 }), 'Back.']);
    const agent = fallback([first, spare(1)], { runtime: fakeRuntime(), coolDownMs: 0 });
    await agent.run(request);
    expect((await agent.run(request)).content).toBe('Back.');
  });

  it('does not apply while all agents have failed: they are asked in order', async () => {
    const agent = fallback([member('first', [fails(busy), 'Back.']), member('second', [fails(busy)])], {
      runtime: fakeRuntime(),
    });
    await failureOf(agent.run(request));
    expect((await agent.run(request)).content).toBe('Back.');
  });

  it('ends when the agent responds', async () => {
    const runtime = fakeRuntime();
    const first = member('first', [fails({ ...busy, retryAfterMs: 60_000 }), 'Back.', 'Still here.']);
    const agent = fallback([first, member('second', [fails(busy), 'Hello.'])], { runtime });
    await failureOf(agent.run(request));
    await agent.run(request);
    await runtime.advance(30_000);
    expect((await agent.run(request)).content).toBe('Still here.');
  });
});

describe('what a fallback declares', () => {
  it('is what all of its agents support', () => {
    const { provider, model, maxTokens, capabilities, candidates } = fallback([
      member('first', [], { files: ['image/png', 'text/*'], contextTokens: 200, output: 'native' }, 900),
      member('second', [], { files: ['image/*', 'text/plain'], contextTokens: 100, output: 'tool' }),
      member('third', [], { files: ['*/*'], reasoning: false, sampling: false }, 800),
    ]);
    expect({ provider, model, maxTokens }).toEqual({ provider: 'first', model: 'first-1', maxTokens: 800 });
    expect(capabilities).toMatchObject({
      contextTokens: 100,
      output: 'tool',
      reasoning: false,
      sampling: false,
    });
    expect([...capabilities.files].sort()).toEqual(['image/png', 'text/plain']);
    expect(candidates?.map((one) => one.model)).toEqual(['first-1', 'second-1', 'third-1']);
  });

  it('has no structured output if an agent has none', () => {
    const agents = [member('first', [], { output: 'native' }), member('second', [], { output: 'none' })];
    expect(fallback(agents).capabilities.output).toBe('none');
  });

  it('rejects what is not a list of agents', () => {
    const none = { code: 'bad_option' };
    expect(() => fallback([])).toThrow(expect.objectContaining(none));
    expect(() => fallback([{} as Agent])).toThrow(expect.objectContaining(none));
    expect(() => fallback([member('first', [])], { coolDownMs: -1 })).toThrow(expect.objectContaining(none));
  });
});

type Outcome = 'text' | 'busy' | 'invalid' | 'too long';

const errors: Readonly<Record<Exclude<Outcome, 'text'>, ErrorData>> = {
  busy: { ...busy, attempts: 2, wasted: tokens(3) },
  invalid: { kind: 'invalid', code: 'request_refused', message: 'Bad.', attempts: 1, wasted: tokens(5) },
  'too long': { ...tooLong, wasted: tokens(7) },
};

const plan = fc.array(
  fc.record({
    window: fc.option(fc.constantFrom(100, 200, 300), { nil: undefined }),
    outcomes: fc.array(fc.constantFrom<Outcome>('text', 'busy', 'invalid', 'too long'), {
      minLength: 6,
      maxLength: 6,
    }),
  }),
  { minLength: 1, maxLength: 4 },
);

describe('any sequence of outcomes', () => {
  it('counts every request once, never skips without a reason and ends at the first response', async () => {
    await fc.assert(
      fc.asyncProperty(
        plan,
        fc.array(fc.constantFrom(0, 10_000, 30_000), { maxLength: 6 }),
        async (plans, waits) => {
          const runtime = fakeRuntime();
          let served: { name: string; outcome: Outcome }[] = [];
          const agents = plans.map(({ window, outcomes }, at) =>
            member(
              `m${at}`,
              outcomes.map((outcome) => () => {
                served.push({ name: `m${at}`, outcome });
                if (outcome === 'text') return textResponse('Hello.', { model: `m${at}-1` });
                return Promise.reject(new AgentError(errors[outcome]));
              }),
              window === undefined ? {} : { contextTokens: window },
            ),
          );
          const agent = fallback(agents, { runtime });
          const failedAt = new Map<string, number>();
          for (const wait of waits) {
            await runtime.advance(wait);
            served = [];
            const result = await agent.run(request).catch((thrown: unknown) => AgentError.from(thrown));
            const now = runtime.monotonic();
            const failures = served.filter(({ outcome }) => outcome !== 'text');
            const [last] = served.slice(-1);
            // Only the last one asked can have responded or failed for a reason of the request.
            expect(
              served.slice(0, -1).every(({ outcome }) => outcome === 'busy' || outcome === 'too long'),
            ).toBe(true);
            expect(AgentError.is(result)).toBe(last?.outcome !== 'text');
            const spent = failures.map(({ outcome }) => errors[outcome as 'busy']);
            const sum = (pick: (error: ErrorData) => number) =>
              spent.reduce((all, error) => all + pick(error), 0);
            expect(result.wasted?.inputTokens ?? 0).toBe(sum(({ wasted }) => wasted?.inputTokens ?? 0));
            expect(result.attempts).toBe(
              sum(({ attempts = 0 }) => attempts) + (last?.outcome === 'text' ? 1 : 0),
            );
            const names = [...served.map(({ name }) => name)];
            expect(names).toEqual([...names].sort());
            const isCooling = (name: string) =>
              now - (failedAt.get(name) ?? Number.NEGATIVE_INFINITY) < 30_000;
            const all = agents.map(({ provider }) => provider);
            const isTooLong = served.some(({ outcome }) => outcome === 'too long');
            for (const name of all.slice(0, all.indexOf(last?.name ?? ''))) {
              // An agent before the last one was asked, cools down, or has too small a window.
              expect(names.includes(name) || isCooling(name) || isTooLong).toBe(true);
            }
            if (!all.every(isCooling)) expect(names.filter(isCooling)).toEqual([]);
            for (const { name, outcome } of served) {
              if (outcome === 'busy') failedAt.set(name, now);
              if (outcome === 'text') failedAt.delete(name);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
