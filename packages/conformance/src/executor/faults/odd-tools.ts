import type { Tool } from '@cobbler/agent';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/cases.ts';
import { group } from '../setup/cases.ts';
import type { Rest } from '../setup/odd-tool.ts';
import { callIn, expectAtOnce, given, toldOf } from '../setup/odd-tool.ts';

const the = group('tools');

/** Spoils arguments as far as it can: makes them a circle, adds what JSON cannot hold, takes away the rest. */
function spoil(args: Record<string, unknown>): void {
  const { list } = args;
  if (Array.isArray(list)) list.push(args, 1n);
  for (const key of Object.keys(args)) delete args[key];
  args['self'] = args;
  args['count'] = 1n;
}

const spoilers: readonly (readonly [string, Rest])[] = [
  [
    'in its work',
    {
      execute(args) {
        spoil(args);
        return 'spoiled';
      },
    },
  ],
  [
    'in its check',
    {
      validate(args) {
        spoil(args);
        return { ok: true, value: args };
      },
    },
  ],
  [
    'when it is asked what it is about',
    {
      subject(args) {
        spoil(args);
        return 'spoiled';
      },
    },
  ],
];

/** A check of arguments that answers what is no answer. */
function unclear(what: string, answer: () => unknown): ExecutorCase {
  return the(`a check of arguments that answers with ${what} refuses the call [P9]`, async (stage) => {
    const told = await toldOf(stage, { validate: answer as NonNullable<Tool['validate']> });
    expect(told.text.includes('refused') && !told.text.includes('done'), `a refusal, found ${told.text}`);
    expect(told.isError, 'an error');
    expectAtOnce(told);
  });
}

const argumentCases: readonly ExecutorCase[] = [
  ...spoilers.map(([when, rest]) =>
    the(`a tool that spoils its arguments ${when} spoils nothing else [P12]`, async (stage) => {
      await toldOf(stage, rest);
    }),
  ),
  the('a gate that spoils what it is shown spoils nothing else [P12]', async (stage) => {
    const { tool, runs } = probeTools();
    const agent = scriptedModel([
      calls([{ name: 'one', arguments: structuredClone(given) }]),
      textResponse('On.'),
    ]);
    const gate = (call: { arguments: Record<string, unknown> }) => {
      spoil(call.arguments);
      return { type: 'allow' } as const;
    };
    const result = await stage.play({ agent, tools: [tool('one')], gate });
    expectEqual([result.status, runs[0]?.arguments], ['complete', given], 'the end and the arguments');
    expectEqual(callIn(agent.requests[1]?.messages[1]?.content), given, 'the arguments sent back');
  }),
  the('arguments that a gate sets and then spoils are those that it set [P12]', async (stage) => {
    const { tool, runs } = probeTools();
    const own = structuredClone(given);
    const agent = scriptedModel([calls(['one']), textResponse('On.')]);
    const gate = () => ({ type: 'allow', arguments: own }) as const;
    const one = tool('one', {
      execute() {
        spoil(own);
        return 'done';
      },
    });
    const run = stage.run({ agent, tools: [one], gate });
    await stage.until(run);
    expectEqual(runs[0]?.arguments, given, 'the arguments');
    expectEqual(ofType(stage.storedOf(run), 'tool_started')[0]?.arguments, given, 'the arguments recorded');
  }),
  the('arguments that a gate sets and JSON cannot hold are not run [P9]', async (stage) => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    for (const odd of [round, { count: 1n }]) {
      const { tool, names } = probeTools();
      const agent = scriptedModel([calls(['one']), textResponse('On.')]);
      const gate = () => ({ type: 'allow', arguments: odd }) as const;
      const result = await stage.play({ agent, tools: [tool('one')], gate });
      expectEqual([result.status, names], ['complete', []], 'the end and the tools that ran');
      expectEqual(resultsOf(result.messages)[0]?.isError, true, 'whether the model is told of an error');
    }
  }),
  unclear('nothing', () => undefined),
  unclear('a promise of nothing', async () => undefined),
  unclear('a word', () => 'fine'),
  unclear('neither yes nor no', () => ({ value: {} })),
  unclear('a refusal without a reason', () => ({ ok: false })),
  unclear('a rejection of nothing', () => Promise.reject(undefined)),
];

const lateCases: readonly ExecutorCase[] = [
  the('a tool that rejects long after its run was cancelled changes nothing [P3, P12]', async (stage) => {
    const { tool } = probeTools();
    const late = Promise.withResolvers<string>();
    const run = stage.run({
      agent: scriptedModel([calls(['one'])]),
      tools: [tool('one', { execute: () => late.promise })],
    });
    await stage.advance(1000);
    const before = stage.elapsed;
    run.cancel();
    const result = await stage.until(run);
    expect(stage.elapsed - before <= 250, `control back within 250 ms, found ${stage.elapsed - before}`);
    expectEqual(result.status, 'cancelled', 'the status');
    const events = stage.eventsOf(run).length;
    await stage.advance(60_000);
    late.reject(new Error('far too late'));
    await stage.advance(1000);
    expectEqual(stage.eventsOf(run).length, events, 'the number of events');
    expectEqual((await stage.until(run)).messages, result.messages, 'the messages');
  }),
  the(
    'a promise of another kind that never settles ends at the time limit of its tool [P2]',
    async (stage) => {
      // biome-ignore lint/suspicious/noThenProperty: what the case is about.
      const never = { then() {} };
      const { isError, took } = await toldOf(stage, { timeoutMs: 2000, execute: () => never });
      expect(isError && took >= 2000 && took < 2500, `an end after 2 s, found ${took}`);
    },
  ),
  the(
    'a promise that leads to itself again and again ends at the time limit of its tool [P2]',
    async (stage) => {
      const round: { then?: (resolve: (value: unknown) => void) => void } = {};
      let turns = 0;
      // biome-ignore lint/suspicious/noThenProperty: what the case is about.
      round.then = (resolve) => {
        turns += 1;
        // For ever would leave the clock no moment to move in, as it would any program.
        if (turns < 1000) resolve(round);
      };
      const { isError, took } = await toldOf(stage, { timeoutMs: 2000, execute: () => round });
      expect(isError && took >= 2000 && took < 2500, `an end after 2 s, found ${took}`);
    },
  ),
  the('progress of any kind is shown as text', async (stage) => {
    const { tool } = probeTools();
    const shown: readonly unknown[] = [undefined, null, 7, { a: 1 }, ['x'], 'words'];
    const one = tool('one', {
      execute(_args, { progress }) {
        for (const what of shown) progress(what as string);
        return 'done';
      },
    });
    const run = stage.run({ agent: scriptedModel([calls(['one']), textResponse('On.')]), tools: [one] });
    const result = await stage.until(run);
    const texts = stage.eventsOf(run).flatMap((event) => (event.type === 'progress' ? [event.text] : []));
    expectEqual(texts, shown.map(String), 'the progress');
    expectEqual(resultTexts(result.messages), ['done'], 'the results');
  }),
];

/** Tools that do to their arguments, or long after their time, what no tool should. */
export const oddToolCases: readonly ExecutorCase[] = [...argumentCases, ...lateCases];
