import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import type { State } from '../../src/events/state.ts';
import { emptyState } from '../../src/events/state.ts';
import type { Run } from '../../src/run/run.ts';
import { repairLog } from '../../src/store/format.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { outline } from '../../src/testing/conversation.ts';
import { RunFixture } from '../../src/testing/run-fixture.ts';
import type { Scenario } from '../../src/testing/scenarios.ts';
import { scenarios } from '../../src/testing/scenarios.ts';
import { assertValidHistory } from '../../src/testing/valid-history.ts';
import { answered, callPart, finished, place, result, said, started, story } from '../support/fold-story.ts';

/** Returns the log of a scenario that ran twice in one session. */
async function logOf(scenario: Scenario): Promise<readonly Event[]> {
  const stage = new RunFixture(() => memoryStore());
  for (const prompt of ['Go.', 'Go on.']) {
    const staged = scenario.open();
    const asking: string[] = [];
    const run: Run = stage.run(staged.options, prompt, {
      sessionId: 'one',
      onEvent: (event) => {
        if (event.type === 'approval_requested') asking.push(event.approvalId);
        staged.watch?.(event, run, asking);
      },
    });
    await stage.until(run);
  }
  return JSON.parse(JSON.stringify(await stage.store.read('one')));
}

const logs: readonly (readonly Event[])[] = await Promise.all(scenarios.map(logOf));

function folded(events: readonly Event[]): State {
  const state = emptyState();
  for (const event of events) fold(state, event);
  return state;
}

/** Expects a log that has no problems and leaves nothing open, so that its session can continue. */
function expectSound(events: readonly Event[]): void {
  expect(repairLog(events)).toEqual({ events, problems: [] });
  const state = folded(events);
  if (state.finished?.status !== 'waiting') {
    expect([state.calls, state.steering]).toEqual([[], []]);
    assertValidHistory(state.messages);
  }
}

const told = (values: readonly unknown[]) =>
  repairLog(values).problems.map(({ at, what }) => `${at} ${what}`);

const bodies = [
  said('Go.'),
  answered([callPart('a'), callPart('b')]),
  started(1, 0),
  result(1, 0, { callId: 'a' }),
  result(1, 1, { callId: 'b' }),
  answered([{ type: 'text', text: 'Done.' }]),
  finished('complete'),
];
const log: readonly Event[] = bodies.map((body, index) => {
  const event = place(body, index + 1);
  return event.type === 'tool_started' ? { ...event, callId: 'a' } : event;
});

describe('a log written by a run', () => {
  it.each(scenarios.map(({ name }, index) => [name, logs[index] ?? []] as const))(
    'is valid: %s',
    (_name, events) => {
      expect(events.length).toBeGreaterThan(5);
      expectSound(events);
    },
  );

  it('is valid with live events from --json and types of a later version in between', () => {
    const later = { ...place({ type: 'resumed' }, 7), type: 'dreamt', of: 'sheep' };
    const end = { ...log[6], seq: 8, id: 's-8' };
    const live = { type: 'started', v: 1, sessionId: 's', runId: 'run-1' };
    const delta = { type: 'text_delta', index: 0, text: 'Do' };
    expect(told([live, ...log.slice(0, 5), delta, log[5], later, end])).toEqual([]);
  });

  it('is valid with an end that is not stored, and omits it [P13]', () => {
    const { seq: _, id: __, ...unstored } = log[6] ?? place(finished('failed'), 7);
    const again = [...log.slice(0, 3), unstored, ...log.slice(3)];
    expect(repairLog(again)).toEqual({ events: log, problems: [] });
    expect(told([...log.slice(0, 6), { ...unstored, id: 's-7' }])).toHaveLength(2);
  });
});

describe('a damaged log is repaired [P12]', () => {
  const anyLog = fc.constantFrom(...logs);

  it('cut off anywhere, at either end, it becomes valid', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), fc.nat(), (events, from, to) => {
        const [first = 0, last = 0] = [from % events.length, to % events.length].sort((a, b) => a - b);
        expectSound(repairLog(events.slice(first, last + 1)).events);
      }),
      { numRuns: 300, seed: 20_261_121 },
    );
  });

  it('out of order and duplicated, it is restored completely', () => {
    const torn = anyLog.chain((events) =>
      fc.tuple(
        fc.constant(events),
        fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(torn, ([events, values]) => {
        expect(repairLog(values).events).toEqual(events);
      }),
      { numRuns: 200, seed: 20_261_121 },
    );
  });

  it('with events lost, duplicated and out of order, it becomes valid', () => {
    const torn = anyLog.chain((events) => fc.shuffledSubarray([...events, ...events], { minLength: 1 }));
    fc.assert(
      fc.property(torn, (values) => {
        expectSound(repairLog(values).events);
      }),
      { numRuns: 500, seed: 20_261_121 },
    );
  });

  it('with invalid values and any events, it becomes valid', () => {
    fc.assert(
      fc.property(story, fc.array(fc.jsonValue(), { maxLength: 3 }), (steps, junk) => {
        const state = emptyState();
        const events = steps.map(([runId, step], index) => {
          const event = place(step(state), index + 1, runId);
          fold(state, event);
          return event;
        });
        expectSound(repairLog([...junk, ...JSON.parse(JSON.stringify(events))]).events);
      }),
      { numRuns: 300, seed: 20_261_121 },
    );
  });
});

describe('the problems reported for a log', () => {
  const [user, answer, start, first, second, last, end] = log;

  it('are empty for a valid log and for an empty one', () => {
    expect(told(log)).toEqual([]);
    expect(repairLog([])).toEqual({ events: [], problems: [] });
  });

  it('name values that are not events, and the invalid field', () => {
    expect(told([...log.slice(0, 6), undefined, 'x', { type: 'user' }, end])).toEqual([
      '6 is not an event',
      '7 is not an event',
      expect.stringMatching(/^8 is not a valid user event: .*seq/),
    ]);
  });

  it('name wrong order, duplicates and gaps', () => {
    expect(told([user, start, answer, ...log.slice(3), end])).toEqual([
      '2 has position 2 but follows position 3',
      '7 is repeated (position 7)',
    ]);
    expect(
      told([
        user,
        answer,
        start,
        first,
        second,
        { ...last, seq: 9, id: 's-9' },
        { ...end, seq: 10, id: 's-10' },
      ]),
    ).toEqual(['5 follows a gap: positions 6 to 8 are missing']);
  });

  it('name a different session, and an id that does not match', () => {
    expect(told([...log.slice(0, 6), { ...log[2], id: 'other-3' }, end])).toContain(
      '6 belongs to a different session: its id is "other-3"',
    );
    expect(told([...log.slice(0, 6), { ...end, id: 's-9' }])).toEqual([
      '6 has position 7, but its id is "s-9"',
    ]);
  });

  it('name a result without a call, and events after the end', () => {
    const again = place(result(1, 1, { callId: 'b' }), 6);
    expect(
      told([...log.slice(0, 5), again, { ...last, seq: 7, id: 's-7' }, { ...end, seq: 8, id: 's-8' }]),
    ).toEqual(['5 refers to a call that is not open (turn 1, call 1)']);
    expect(told([...log, place(said('More.'), 8)])).toEqual(['7 comes after the end of its run']);
  });

  it('name a missing end, and open calls get results', () => {
    const { events, problems } = repairLog(log.slice(0, 4));
    expect(problems).toEqual([{ at: 3, what: 'is the last event, but does not end its run' }]);
    expect(events.at(-1)).toMatchObject({ type: 'finished', status: 'failed', seq: 5, id: 's-5' });
    expect(outline(folded(events).messages)[3]).toMatch(/not run/);
  });

  it('name a compaction that would separate a call from its result', () => {
    const cut = place({ type: 'compacted', upTo: 3, summary: 'So far.' }, 6);
    const rest = [
      { ...last, seq: 7, id: 's-7' },
      { ...end, seq: 8, id: 's-8' },
    ];
    expect(told([...log.slice(0, 5), cut, ...rest])).toEqual([
      '5 summarizes the messages up to 3, but only those up to 1 can be summarized',
    ]);
  });
});

describe('after events were lost', () => {
  it('results still find their calls', () => {
    const more = [
      said('Again.'),
      answered([callPart('c')]),
      result(3, 0, { callId: 'c' }),
      finished('complete'),
    ];
    const all = [...log, ...more.map((body, index) => place(body, index + 8, 'run-2'))];
    const { events, problems } = repairLog(all.slice(6));
    expect(problems.map(({ what }) => what)).toContain(
      'belongs to a call in turn 1, but refers to turn 3, call 0',
    );
    expect(outline(folded(events).messages)).toEqual([
      'user: Again.',
      'assistant: ',
      'tool_result: result 3.0',
    ]);
  });
});
