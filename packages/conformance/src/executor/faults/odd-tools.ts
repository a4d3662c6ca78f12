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
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';
import type { Rest } from '../setup/odd-tool.ts';
import { callIn, expectAtOnce, given, resultOf } from '../setup/odd-tool.ts';

const the = group('tools');

/** Corrupts arguments: replaces them with a cycle and with a value that JSON cannot represent. */
function corrupt(args: Record<string, unknown>): void {
  const { list } = args;
  if (Array.isArray(list)) list.push(args, 1n);
  for (const key of Object.keys(args)) delete args[key];
  args['self'] = args;
  args['count'] = 1n;
}

const spoilers: readonly (readonly [string, Rest])[] = [
  [
    'in execute',
    {
      execute(args) {
        corrupt(args);
        return 'spoiled';
      },
    },
  ],
  [
    'in validate',
    {
      validate(args) {
        corrupt(args);
        return { ok: true, value: args };
      },
    },
  ],
  [
    'in subject',
    {
      subject(args) {
        corrupt(args);
        return 'spoiled';
      },
    },
  ],
];

/** A `validate` that returns an invalid result. */
function unclear(what: string, answer: () => unknown): ExecutorCase {
  return the(`a validate function that returns ${what} rejects the call [P9]`, async (setup) => {
    const result = await resultOf(setup, { validate: answer as NonNullable<Tool['validate']> });
    expect(
      result.text.includes('rejected') && !result.text.includes('done'),
      `a rejection, found ${result.text}`,
    );
    expect(result.isError, 'an error');
    expectAtOnce(result);
  });
}

const argumentCases: readonly ExecutorCase[] = [
  ...spoilers.map(([when, rest]) =>
    the(`a tool that corrupts its arguments ${when} changes nothing else [P12]`, async (setup) => {
      await resultOf(setup, rest);
    }),
  ),
  the('a gate that corrupts the arguments it receives changes nothing else [P12]', async (setup) => {
    const { tool, runs } = probeTools();
    const agent = scriptedModel([
      calls([{ name: 'one', arguments: structuredClone(given) }]),
      textResponse('On.'),
    ]);
    const gate = (call: { arguments: Record<string, unknown> }) => {
      corrupt(call.arguments);
      return { type: 'allow' } as const;
    };
    const result = await setup.play({ agent, tools: [tool('one')], gate });
    expectEqual([result.status, runs[0]?.arguments], ['complete', given], 'the status and the arguments');
    expectEqual(callIn(agent.requests[1]?.messages[1]?.content), given, 'the arguments sent back');
  }),
  the('arguments that a gate sets and later corrupts run as they were set [P12]', async (setup) => {
    const { tool, runs } = probeTools();
    const own = structuredClone(given);
    const agent = scriptedModel([calls(['one']), textResponse('On.')]);
    const gate = () => ({ type: 'allow', arguments: own }) as const;
    const one = tool('one', {
      execute() {
        corrupt(own);
        return 'done';
      },
    });
    const run = setup.run({ agent, tools: [one], gate });
    await setup.until(run);
    expectEqual(runs[0]?.arguments, given, 'the arguments');
    expectEqual(ofType(setup.storedOf(run), 'tool_started')[0]?.arguments, given, 'the arguments recorded');
  }),
  the('arguments from a gate that JSON cannot represent are not run [P9]', async (setup) => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    for (const odd of [round, { count: 1n }]) {
      const { tool, names } = probeTools();
      const agent = scriptedModel([calls(['one']), textResponse('On.')]);
      const gate = () => ({ type: 'allow', arguments: odd }) as const;
      const result = await setup.play({ agent, tools: [tool('one')], gate });
      expectEqual([result.status, names], ['complete', []], 'the status and the tools that ran');
      expectEqual(resultsOf(result.messages)[0]?.isError, true, 'whether the result is an error');
    }
  }),
  unclear('undefined', () => undefined),
  unclear('a promise of undefined', async () => undefined),
  unclear('a string', () => 'fine'),
  unclear('neither success nor failure', () => ({ value: {} })),
  unclear('a failure without a reason', () => ({ ok: false })),
  unclear('a promise rejected with undefined', () => Promise.reject(undefined)),
];

const lateCases: readonly ExecutorCase[] = [
  the('a tool that rejects long after its run was cancelled changes nothing [P3, P12]', async (setup) => {
    const { tool } = probeTools();
    const late = Promise.withResolvers<string>();
    const run = setup.run({
      agent: scriptedModel([calls(['one'])]),
      tools: [tool('one', { execute: () => late.promise })],
    });
    await setup.advance(1000);
    const before = setup.elapsed;
    run.cancel();
    const result = await setup.until(run);
    expect(setup.elapsed - before <= 250, `an end within 250 ms, found ${setup.elapsed - before}`);
    expectEqual(result.status, 'cancelled', 'the status');
    const events = setup.eventsOf(run).length;
    await setup.advance(60_000);
    late.reject(new Error('far too late'));
    await setup.advance(1000);
    expectEqual(setup.eventsOf(run).length, events, 'the number of events');
    expectEqual((await setup.until(run)).messages, result.messages, 'the messages');
  }),
  the('a foreign promise that never settles ends at the time limit of its tool [P2]', async (setup) => {
    // biome-ignore lint/suspicious/noThenProperty: the case needs a thenable.
    const never = { then() {} };
    const { isError, took } = await resultOf(setup, { timeoutMs: 2000, execute: () => never });
    expect(isError && took >= 2000 && took < 2500, `an end after 2 s, found ${took}`);
  }),
  the(
    'a promise that resolves to itself repeatedly ends at the time limit of its tool [P2]',
    async (setup) => {
      const round: { then?: (resolve: (value: unknown) => void) => void } = {};
      let turns = 0;
      // biome-ignore lint/suspicious/noThenProperty: the case needs a thenable.
      round.then = (resolve) => {
        turns += 1;
        // An endless chain would block the clock, as it would block any program.
        if (turns < 1000) resolve(round);
      };
      const { isError, took } = await resultOf(setup, { timeoutMs: 2000, execute: () => round });
      expect(isError && took >= 2000 && took < 2500, `an end after 2 s, found ${took}`);
    },
  ),
  the('progress values of any type are converted to text', async (setup) => {
    const { tool } = probeTools();
    const shown: readonly unknown[] = [undefined, null, 7, { a: 1 }, ['x'], 'words'];
    const one = tool('one', {
      execute(_args, { progress }) {
        for (const what of shown) progress(what as string);
        return 'done';
      },
    });
    const run = setup.run({ agent: scriptedModel([calls(['one']), textResponse('On.')]), tools: [one] });
    const result = await setup.until(run);
    const texts = setup.eventsOf(run).flatMap((event) => (event.type === 'progress' ? [event.text] : []));
    expectEqual(texts, shown.map(String), 'the progress');
    expectEqual(resultTexts(result.messages), ['done'], 'the results');
  }),
];

/** Tools that corrupt their arguments or settle after their time limit. */
export const oddToolCases: readonly ExecutorCase[] = [...argumentCases, ...lateCases];
