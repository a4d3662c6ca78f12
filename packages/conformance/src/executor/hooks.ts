import type { Hook } from '@cobbler/agent';
import { toolOutput } from '@cobbler/agent';
import { keepLast } from '@cobbler/agent/context';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  outline,
  probeTools,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('hooks');

const big = { inputTokens: 5000, outputTokens: 100 };

const script = () => scriptedModel([calls(['one'], { usage: big }), textResponse('Done.')]);

/** Hooks that note when each of their functions is called. */
function noting(names: readonly string[], noted: string[]): Hook[] {
  return names.map((name) => {
    const note = (what: string) => () => void noted.push(`${name}: ${what}`);
    return {
      name,
      beforeRun: note('before run'),
      beforeRequest: note('before request'),
      afterResponse: note('after response'),
      beforeTool: note('before tool'),
      afterTool: note('after tool'),
      beforeCompaction: note('before compaction'),
      afterCompaction: note('after compaction'),
      afterRun: note('after run'),
    } as Hook;
  });
}

const passing: readonly ExecutorCase[] = [
  the('every place is passed in order, and the hooks in the order of registration [P31]', async (setup) => {
    const noted: string[] = [];
    const { tool } = probeTools();
    const options = { agent: script(), tools: [tool('one')], hooks: noting(['a', 'b'], noted) };
    const context = { maxTokens: 1000, compact: keepLast(2) };
    const result = await setup.play({ ...options, context });
    const turn = ['before request', 'after response'];
    const places = ['before run', ...turn, 'before tool', 'after tool', 'before compaction'];
    const expected = [...places, 'after compaction', ...turn, 'after run'];
    // Without something to leave out there is no summary to change.
    const found = noted.filter((line) => line.startsWith('a')).map((line) => line.slice(3));
    expectEqual(found, expected, 'the places of one hook');
    const pairs = noted.filter((_, index) => index % 2 === 0).map((line) => line.slice(0, 1));
    expect(
      pairs.every((name) => name === 'a'),
      'the first hook to be called first',
    );
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('a hook changes model, tools, instructions and settings of one request', async (setup) => {
    const { tool } = probeTools();
    const [first, second] = [
      scriptedModel([calls(['one'])]),
      { ...scriptedModel([textResponse('Done.')]), model: 'other' },
    ];
    let turn = 0;
    const hook: Hook = {
      name: 'router',
      beforeRequest: ({ tools }) => {
        turn += 1;
        if (turn === 1) return { system: 'Plan first.', tools: tools.slice(0, 1) };
        return { agent: second, config: { maxTokens: 7 } };
      },
    };
    const run = setup.run({
      agent: first,
      system: 'Be kind.',
      tools: [tool('one'), tool('two')],
      hooks: [hook],
    });
    const result = await setup.until(run.result);
    const [asked, other] = [first.requests[0], second.requests[0]];
    expectEqual([asked?.system, asked?.tools.length], ['Plan first.', 1], 'the first request');
    expectEqual(
      [other?.system, other?.tools.length, other?.config?.maxTokens],
      ['Be kind.', 2, 7],
      'the second request',
    );
    expectEqual([result.status, result.text], ['complete', 'Done.'], 'the outcome');
  }),
  the('a call of a tool that was not offered is not run [P31]', async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['two']), textResponse('Done.')]);
    const hooks: Hook[] = [{ name: 'router', beforeRequest: () => ({ tools: ['one'] }) }];
    const result = await setup.play({ agent, tools: [tool('one'), tool('two')], hooks });
    expectEqual(names, [], 'the tools that ran');
    expect(
      resultTexts(result.messages)[0]?.includes('not offered') === true,
      'the model to receive the reason',
    );
  }),
  the('each hook receives what those before it returned [P31]', async (setup) => {
    const agent = scriptedModel([textResponse('Done.')]);
    const more = (name: string): Hook => ({
      name,
      beforeRequest: ({ system }) => ({ system: `${String(system)} ${name}` }),
    });
    await setup.play({ agent, system: 'Begin.', hooks: [more('a'), more('b')] });
    expectEqual(agent.requests[0]?.system, 'Begin. a b', 'the instructions');
  }),
  the('output that a hook replaces is all that is stored and sent [P31]', async (setup) => {
    const { tool } = probeTools();
    const agent = script();
    const output = { content: 'key 123', summary: 'key 123', diff: '+key 123' };
    const one = tool('one', { execute: () => toolOutput({ ...output, isError: true }) });
    const hooks: Hook[] = [
      {
        name: 'redaction',
        afterTool: ({ content }) => ({
          content: content.map((part) =>
            part.type === 'text' ? { ...part, text: part.text.replace(/\d+/, '###') } : part,
          ),
        }),
      },
    ];
    const run = setup.run({ agent, tools: [one], hooks });
    await setup.until(run.result);
    const [stored] = ofType(setup.storedOf(run), 'tool_result');
    expect(!JSON.stringify([stored, agent.requests[1]?.messages]).includes('123'), 'no digit of the key');
    expectEqual(stored?.content, [{ type: 'text', text: 'key ###' }], 'the content that replaced it');
    expectEqual(stored?.isError, true, 'whether the call failed');
  }),
  the('a compaction can be skipped, and its summary replaced', async (setup) => {
    const { tool } = probeTools();
    for (const [hook, length] of [
      [{ name: 'skip', beforeCompaction: () => ({ skip: true }) }, 3],
      [{ name: 'words', afterCompaction: () => ({ summary: 'In short.' }) }, 3],
    ] as const) {
      const agent = script();
      const context = { maxTokens: 1000, compact: () => ({ upTo: 1, summary: 'Long.' }) };
      const result = await setup.play({ agent, tools: [tool('one')], hooks: [hook], context });
      const sent = outline(agent.requests[1]?.messages ?? []);
      expectEqual([result.status, sent.length], ['complete', length], `the outcome with ${hook.name}`);
      expectEqual(sent[0]?.endsWith('In short.'), hook.name === 'words', `the summary with ${hook.name}`);
    }
  }),
  the('a run that would complete continues with the message of a hook', async (setup) => {
    const agent = scriptedModel([textResponse('Done.'), textResponse('Tests pass.')]);
    let ends = 0;
    const hooks: Hook[] = [
      {
        name: 'checker',
        afterRun: ({ status }) => {
          ends += 1;
          return ends === 1 && status === 'complete' ? { continueWith: 'Run the tests.' } : undefined;
        },
      },
    ];
    const run = setup.run({ agent, hooks });
    const result = await setup.until(run.result);
    expectEqual([result.status, result.text, ends], ['complete', 'Tests pass.', 2], 'the outcome');
    expectEqual(
      outline(agent.requests[1]?.messages ?? []),
      ['user: Go.', 'assistant: Done.', 'user: Run the tests.'],
      'the messages of the second request',
    );
    expectEqual(ofType(setup.storedOf(run), 'finished').length, 1, 'the recorded ends');
  }),
];

const before: readonly ExecutorCase[] = [
  the('hooks decide about a call before the gate, which sees their arguments [P21, P31]', async (setup) => {
    const { tool, runs } = probeTools();
    const judged: unknown[] = [];
    const result = await setup.play({
      agent: script(),
      tools: [tool('one')],
      hooks: [{ name: 'paths', beforeTool: () => ({ type: 'allow', arguments: { path: 'b' } }) }],
      gate: (call) => {
        judged.push(call.arguments);
        return 'allow';
      },
    });
    expectEqual([judged, runs[0]?.arguments], [[{ path: 'b' }], { path: 'b' }], 'the arguments');
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('one deny is enough, whatever the others say [P21]', async (setup) => {
    for (const [verdict, gate] of [
      ['deny', 'allow'],
      ['allow', 'deny'],
      ['ask', 'deny'],
    ] as const) {
      const { tool, names } = probeTools();
      const hooks: Hook[] = [{ name: 'h', beforeTool: () => verdict }];
      const result = await setup.play({ agent: script(), tools: [tool('one')], hooks, gate: () => gate });
      expectEqual([names, result.status], [[], 'complete'], `the outcome of ${verdict} and ${gate}`);
    }
  }),
  the(
    'a user approves the arguments that a hook set, and they run after a resume [P9, P21, P31]',
    async (setup) => {
      const { tool, runs } = probeTools();
      const options = {
        tools: [tool('one')],
        hooks: [{ name: 'paths', beforeTool: () => ({ type: 'allow', arguments: { path: 'b' } }) as const }],
        gate: () => 'ask' as const,
      };
      const first = setup.run({ ...options, agent: scriptedModel([calls(['one'])]) });
      const waiting = await setup.until(first.result);
      const request = waiting.approvals?.[0];
      expectEqual([waiting.status, request?.arguments], ['waiting', { path: 'b' }], 'the request');
      const answers = [{ approvalId: request?.approvalId ?? '', decision: 'allow' as const }];
      const agent = scriptedModel([textResponse('Done.')]);
      const second = setup.resume({ ...options, agent }, first.sessionId, { answers });
      const result = await setup.until(second.result);
      expectEqual([result.status, runs[0]?.arguments], ['complete', { path: 'b' }], 'the outcome');
    },
  ),
];

const fails = (): never => {
  throw new Error('no words');
};

/** A hook that fails at one place, and what must not have happened. */
function failing(
  place: Exclude<keyof Hook, 'name'>,
  status: 'failed' | 'complete',
  ran: number,
): ExecutorCase {
  return the(`a hook that throws in ${place} fails closed and is named [P31]`, async (setup) => {
    const { tool, names } = probeTools();
    const agent = script();
    const hooks = [{ name: 'breaker', [place]: fails }];
    const context = { maxTokens: 1000, compact: keepLast(2) };
    const result = await setup.play({ agent, tools: [tool('one')], hooks, context });
    expectEqual([result.status, names.length], [status, ran], 'the status and the tools that ran');
    const message =
      status === 'failed' ? String(result.error?.message) : String(resultTexts(result.messages)[0]);
    expect(
      message.includes(`The hook "breaker" failed in ${place}: no words`),
      `the hook to be named, found ${message}`,
    );
    if (status === 'failed') expectEqual(result.error?.code, 'hook_failed', 'the code');
  });
}

const closed: readonly ExecutorCase[] = [
  failing('beforeRun', 'failed', 0),
  failing('beforeRequest', 'failed', 0),
  failing('afterResponse', 'failed', 0),
  failing('beforeTool', 'complete', 0),
  failing('afterTool', 'complete', 1),
  failing('beforeCompaction', 'failed', 1),
  failing('afterCompaction', 'failed', 1),
  failing('afterRun', 'failed', 1),
  the('a rejected response is not kept, and its usage counts [P31]', async (setup) => {
    const agent = scriptedModel([textResponse('The key is 123.', { usage: big })]);
    const hooks: Hook[] = [{ name: 'guard', afterResponse: fails }];
    const run = setup.run({ agent, hooks });
    const result = await setup.until(run.result);
    expect(!JSON.stringify(setup.storedOf(run)).includes('123'), 'nothing of the response to be stored');
    expectEqual(result.metrics.wasted.inputTokens, big.inputTokens, 'the counted tokens');
  }),
  the('a hook that offers an unknown tool or returns something else fails closed [P31]', async (setup) => {
    for (const returned of [{ tools: ['none'] }, { tools: 'one' }, 7, { system: 7 }]) {
      const agent = scriptedModel([textResponse('Done.')]);
      const hooks = [{ name: 'router', beforeRequest: () => returned as object }];
      const result = await setup.play({ agent, tools: [probeTools().tool('one')], hooks });
      const found = [result.status, result.error?.code, agent.requests.length];
      expectEqual(found, ['failed', 'hook_failed', 0], `the outcome of ${JSON.stringify(returned)}`);
    }
  }),
  the('a run that is cancelled while a hook waits ends as cancelled [P3]', async (setup) => {
    const hooks: Hook[] = [{ name: 'slow', beforeRequest: () => new Promise(() => {}) }];
    const run = setup.run({ agent: scriptedModel([]), hooks });
    await setup.advance(10);
    run.cancel();
    expectEqual((await setup.until(run.result)).status, 'cancelled', 'the status');
  }),
];

/** Cases about the hooks of an executor. */
export const hookCases: readonly ExecutorCase[] = [...passing, ...before, ...closed];
