import type { AgentEvent, RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { scenarios } from '@cobbler/agent/scenarios';
import type { ModelStep } from '@cobbler/agent/testing';
import { calls, expect, expectEqual, probeTools, scriptedModel, textResponse } from '@cobbler/agent/testing';
import type { CreateSetup, ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const events = group('events');
const readers = group('readers');

/** A response that emits text deltas first. */
function streamsDeltas(count: number): ModelStep {
  return (_request, { emit }) => {
    for (let index = 0; index < count; index += 1)
      emit?.({ type: 'text_delta', index: 0, text: `${index} ` });
    emit?.({ type: 'text', index: 0, text: 'Done.' });
    return textResponse('Done.');
  };
}

const types = (seen: readonly RunEvent[]): string[] => seen.map(({ type }) => type);

/** The log of a scenario, as JSON text. */
async function logOf(createSetup: CreateSetup, name: string): Promise<string> {
  const setup = createSetup();
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`);
  const run = setup.run(scenario.open().options);
  await setup.until(run);
  return JSON.stringify(setup.eventsOf(run));
}

export const eventCases: readonly ExecutorCase[] = [
  events(
    'the events of a run are in order: stored events in sequence, live events in between',
    async (setup) => {
      const run = setup.run({
        agent: scriptedModel([calls(['one']), streamsDeltas(2)]),
        tools: [probeTools().tool('one')],
      });
      await setup.until(run);
      expectEqual(
        types(setup.eventsOf(run)),
        [
          'started',
          'user',
          'status',
          'assistant',
          'tool_started',
          'status',
          'tool_result',
          'status',
          'text_delta',
          'text_delta',
          'text',
          'assistant',
          'finished',
        ],
        'the events',
      );
    },
  ),
  events('the first event names session and run', async (setup) => {
    const run = setup.run({ agent: scriptedModel([textResponse('Done.')]) }, 'Go.', { sessionId: 'mine' });
    await setup.until(run);
    const first = setup.eventsOf(run)[0];
    expectEqual(first, { type: 'started', v: 1, sessionId: 'mine', runId: run.id }, 'the first event');
    expectEqual(run.sessionId, 'mine', 'the session of the run');
  }),
  events('all events of the agent are emitted unchanged', async (setup) => {
    const shown: AgentEvent[] = [
      { type: 'reasoning_delta', index: 0, text: 'Hm' },
      { type: 'reasoning', index: 0, text: 'Hm' },
      { type: 'tool_input_delta', index: 1, json: '{' },
      { type: 'tool_call', index: 1, call: { id: 'a', toolName: 'one', arguments: {} } },
      { type: 'retry', attempt: 1, error: { kind: 'network', message: 'cut' }, delayMs: 5 },
    ];
    const agent = scriptedModel([
      (_request, { emit }) => {
        for (const event of shown) emit?.(event);
        return textResponse('Done.');
      },
    ]);
    const run = setup.run({ agent });
    await setup.until(run);
    const live = setup.eventsOf(run).filter((event) => !isStored(event));
    expectEqual(live.slice(2), shown, 'the events emitted');
  }),
  events('events of an agent after its response are ignored', async (setup) => {
    let speak: (() => void) | undefined;
    const agent = scriptedModel([
      (_request, { emit }) => {
        speak = () => emit?.({ type: 'text_delta', index: 0, text: 'late' });
        return calls(['one']);
      },
      () => {
        speak?.();
        return textResponse('Done.');
      },
    ]);
    const run = setup.run({ agent, tools: [probeTools().tool('one')] });
    await setup.until(run);
    expect(!types(setup.eventsOf(run)).includes('text_delta'), 'no late delta');
  }),
  events('the same seed and script produce identical bytes', async (_setup, createSetup) => {
    for (const { name } of scenarios.slice(0, 4)) {
      expectEqual(await logOf(createSetup, name), await logOf(createSetup, name), `the log of ${name}`);
    }
  }),
  events('the result is the same without a reader', async (setup) => {
    const executor = setup.executor({ agent: scriptedModel([streamsDeltas(3)]) });
    const result = await setup.until(executor.run('Go.'));
    expectEqual([result.status, result.text], ['complete', 'Done.'], 'the outcome');
  }),
];

const collect = async (from: AsyncIterable<RunEvent>): Promise<RunEvent[]> => {
  const seen: RunEvent[] = [];
  for await (const event of from) seen.push(event);
  return seen;
};

export const readerCases: readonly ExecutorCase[] = [
  readers('a late reader gets the stored events, the response so far, then all new events', async (setup) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const run = setup.run({
      agent: scriptedModel([
        (_request, { emit }) => {
          emit?.({ type: 'text_delta', index: 0, text: 'early' });
          return held.promise.then((answer) => {
            emit?.({ type: 'text_delta', index: 0, text: 'late' });
            return answer;
          });
        },
      ]),
    });
    await setup.advance(1000);
    const late = collect(run);
    held.resolve(textResponse('Done.'));
    await setup.until(run);
    const seen = await setup.until(late);
    expectEqual(
      types(seen),
      ['started', 'user', 'status', 'text_delta', 'text_delta', 'assistant', 'finished'],
      'the events that the late reader got',
    );
    const deltas = seen.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
    expectEqual(deltas, ['early', 'late'], 'the text');
  }),
  readers('a reader that starts after the end gets the stored events and ends', async (setup) => {
    const run = setup.run({ agent: scriptedModel([streamsDeltas(2)]) });
    await setup.until(run);
    const seen = await setup.until(collect(run));
    expectEqual(types(seen), ['started', 'user', 'assistant', 'finished'], 'the events that the reader got');
  }),
  readers('a reader that stops early does not affect the run', async (setup) => {
    const run = setup.run({
      agent: scriptedModel([calls(['one']), textResponse('Done.')]),
      tools: [probeTools().tool('one')],
    });
    const leaving = (async () => {
      for await (const event of run) if (event.type === 'assistant') break;
    })();
    await setup.until(leaving);
    expectEqual((await setup.until(run)).status, 'complete', 'the status');
  }),
  readers('a reader that stops while it waits is released', async (setup) => {
    const run = setup.run({ agent: scriptedModel([() => new Promise(() => {})]) });
    await setup.advance(1000);
    const reader = run[Symbol.asyncIterator]();
    for (let taken = 0; taken < 3; taken += 1) await setup.until(reader.next());
    const waiting = reader.next();
    await reader.return?.();
    expectEqual((await setup.until(waiting)).done, true, 'whether the pending read ended');
    expectEqual((await setup.until(reader.next())).done, true, 'whether the reader has ended');
    run.cancel();
    await setup.until(run);
  }),
  readers('two pending reads get two events', async (setup) => {
    const run = setup.run({ agent: scriptedModel([textResponse('Done.')]) });
    const reader = run[Symbol.asyncIterator]();
    const both = Promise.all([reader.next(), reader.next(), reader.next(), reader.next(), reader.next()]);
    const seen = (await setup.until(both)).map(({ value }) => value?.type);
    expectEqual(seen, ['started', 'user', 'status', 'assistant', 'finished'], 'the events read');
    expectEqual((await setup.until(reader.next())).done, true, 'whether the reader has ended');
  }),
  readers('a slow reader loses no stored event and does not delay the run', async (setup) => {
    const agent = scriptedModel([calls(['one']), streamsDeltas(25_000)]);
    const run = setup.executor({ agent, tools: [probeTools().tool('one')] }).run('Go.');
    const reader = run[Symbol.asyncIterator]();
    await setup.until(run);
    const seen: RunEvent[] = [];
    for (let next = await reader.next(); next.done !== true; next = await reader.next())
      seen.push(next.value);
    const stored = seen.filter(isStored);
    const kept = await setup.until(Promise.resolve(setup.store.read(run.sessionId)));
    expectEqual(stored, kept, 'the stored events that the reader got');
    expect(seen.length <= 10_100, `a bounded number of live events, found ${seen.length}`);
  }),
  readers('a listener that throws or rejects does not affect the run [P18]', async (setup) => {
    const seen: string[] = [];
    const run = setup.run({ agent: scriptedModel([textResponse('Done.')]) }, 'Go.', {
      onEvent() {
        throw new Error('not today');
      },
    });
    const faulty = (() => Promise.reject(new Error('nor tomorrow'))) as () => void;
    run.subscribe(faulty);
    run.subscribe(({ type }) => seen.push(type));
    const result = await setup.until(run);
    expectEqual([result.status, seen.at(-1)], ['complete', 'finished'], 'the outcome');
  }),
  readers(
    'a listener is called until it unsubscribes, and each subscription is independent',
    async (setup) => {
      const seen: string[] = [];
      const listener = ({ type }: RunEvent) => void seen.push(type);
      const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
      const run = setup.run({ agent: scriptedModel([() => held.promise]) });
      const stops = [run.subscribe(listener), run.subscribe(listener)];
      await setup.advance(1000);
      const before = seen.length;
      stops[0]?.();
      stops[0]?.();
      held.resolve(textResponse('Done.'));
      await setup.until(run);
      expectEqual(
        [before, seen.slice(before)],
        [4, ['assistant', 'finished']],
        'the events before and after the first unsubscribe',
      );
      run.subscribe(listener)();
      expectEqual(seen.length, before + 2, 'the number of events after the end');
    },
  ),
  readers('a run can be awaited like a promise, and so can its result', async (setup) => {
    const run = setup.run({ agent: scriptedModel([textResponse('Done.')]) });
    const awaited = await setup.until(run);
    expect(awaited === (await run.result), 'the same result');
    expectEqual(await setup.until(run.then(({ text }) => text)), 'Done.', 'the value of then');
  }),
];
