import type { ExecutorOptions, Message } from '@cobbler/agent';
import { AgentError, userMessage } from '@cobbler/agent';
import type { Compaction } from '@cobbler/agent/context';
import { firstOf, keepLast, memoryBlobs, offload, summarize } from '@cobbler/agent/context';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  ofType,
  outline,
  probeTools,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('compaction');

const big = { inputTokens: 5000, outputTokens: 100 };

/** The error that a provider returns for a conversation that does not fit. */
const full = failedResponse(
  new AgentError({ kind: 'invalid', code: 'context_full', message: 'prompt is too long' }),
);

const inShort = (keep: number): Compaction => summarize(() => 'All was read.', { keep });

const one = () => [probeTools().tool('one')];

const weighing: readonly ExecutorCase[] = [
  the('a conversation that is too long is summarized before the next request', async (setup) => {
    const seen: Message[][] = [];
    const compact = summarize(
      (messages) => {
        seen.push([...messages]);
        return 'All was read.';
      },
      { keep: 2 },
    );
    const agent = scriptedModel([calls(['one']), calls(['one'], { usage: big }), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: one(), context: { maxTokens: 1000, compact } });
    expectEqual(
      outline(seen[0] ?? []),
      ['user: Go.', 'assistant: ', 'tool_result: one done'],
      'the messages to summarize',
    );
    const sent = agent.requests[2]?.messages ?? [];
    expectEqual(sent.length, 3, 'the messages of the next request');
    expect(outline(sent)[0]?.endsWith('All was read.') === true, 'the summary to come first');
    expectEqual([result.status, seen.length], ['complete', 1], 'the outcome');
  }),
  the('a call is never separated from its result [P12]', async (setup) => {
    for (const keep of [0, 1, 2, 3, 4, 5, 6]) {
      const agent = scriptedModel([
        calls(['one', 'one', 'one']),
        calls(['one', 'one'], { usage: big }),
        textResponse('Done.'),
      ]);
      const context = { maxTokens: 1000, compact: inShort(keep) };
      const result = await setup.play({ agent, tools: one(), context });
      expectEqual(result.status, 'complete', `the status with ${keep} messages kept`);
    }
  }),
  the('nothing is summarized below the limit', async (setup) => {
    const agent = scriptedModel([calls(['one'], { usage: big }), textResponse('Done.')]);
    const compact = () => Promise.reject(new Error('must not be called'));
    const result = await setup.play({ agent, tools: one(), context: { maxTokens: 5200, compact } });
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('tool output that no response has counted yet counts before the next request', async (setup) => {
    const { tool } = probeTools();
    const tools = [tool('one', { execute: () => 'word '.repeat(6000) })];
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    await setup.play({ agent, tools, context: { maxTokens: 5000, compact: inShort(2) } });
    expectEqual(
      outline(agent.requests[1]?.messages ?? [])[0]?.endsWith('All was read.'),
      true,
      'whether the next request starts with the summary',
    );
  }),
  the('a conversation passed as the prompt counts before the first request', async (setup) => {
    const given = [
      userMessage('word '.repeat(6000)),
      { role: 'assistant', content: [] },
      userMessage('Continue.'),
    ];
    const agent = scriptedModel([textResponse('Done.')]);
    const options = { agent, context: { maxTokens: 5000, compact: keepLast(1) } };
    await setup.play(options, given as readonly Message[]);
    expectEqual(agent.requests[0]?.messages.length, 2, 'the messages of the first request');
  }),
  the('if nothing can be left out, the run continues unchanged', async (setup) => {
    const agent = scriptedModel([calls(['one'], { usage: big }), textResponse('Done.')]);
    const result = await setup.play({
      agent,
      tools: one(),
      context: { maxTokens: 1, compact: keepLast(99) },
    });
    expectEqual([result.status, agent.requests[1]?.messages.length], ['complete', 3], 'the outcome');
  }),
];

const failing: readonly ExecutorCase[] = [
  the('a summary that fails ends the run and keeps the history valid [P1, P12]', async (setup) => {
    const compact = summarize(() => Promise.reject(new Error('no words')), { keep: 0 });
    const agent = scriptedModel([calls(['one'], { usage: big })]);
    const result = await setup.play({ agent, tools: one(), context: { maxTokens: 1000, compact } });
    expectEqual([result.status, result.error?.message], ['failed', 'no words'], 'the outcome');
    expectEqual(result.messages.length, 3, 'the messages');
  }),
  the('if the first of two compaction strategies fails, the second is used', async (setup) => {
    const compact = firstOf(() => Promise.reject(new Error('no words')), keepLast(2));
    const agent = scriptedModel([calls(['one'], { usage: big }), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: one(), context: { maxTokens: 1000, compact } });
    expectEqual([result.status, agent.requests[1]?.messages.length], ['complete', 3], 'the outcome');
  }),
];

const refusing: readonly ExecutorCase[] = [
  the(
    'a request that is too long for the provider is repeated with a shorter conversation',
    async (setup) => {
      const agent = scriptedModel([calls(['one']), full, textResponse('Done.')]);
      const run = setup.run({ agent, tools: one(), context: { compact: inShort(2) } });
      const result = await setup.until(run);
      expectEqual(
        [result.status, result.text, agent.requests.length],
        ['complete', 'Done.', 3],
        'the outcome',
      );
      expect(
        outline(agent.requests[2]?.messages ?? [])[0]?.endsWith('All was read.') === true,
        'the request to start with the summary',
      );
      expectEqual(ofType(setup.storedOf(run), 'compacted').length, 1, 'the number of compactions');
    },
  ),
  the('a request that is still too long then fails [P1]', async (setup) => {
    const agent = scriptedModel([calls(['one']), full, full, textResponse('Never asked.')]);
    const result = await setup.play({ agent, tools: one(), context: { compact: inShort(2) } });
    expectEqual(
      [result.status, result.error?.code, agent.requests.length],
      ['failed', 'context_full', 3],
      'the outcome',
    );
  }),
  the(
    'a request that is too long fails if nothing can be left out or no compaction is set',
    async (setup) => {
      for (const context of [{ compact: keepLast(99) }, {}]) {
        const agent = scriptedModel([calls(['one']), full, textResponse('Never asked.')]);
        const result = await setup.play({ agent, tools: one(), context });
        expectEqual(
          [result.status, result.error?.code, agent.requests.length],
          ['failed', 'context_full', 2],
          'the outcome',
        );
      }
    },
  ),
  the('a response that fills the context window is continued in a shorter conversation', async (setup) => {
    const agent = scriptedModel([
      calls(['one']),
      textResponse('Half an', { stop: 'context_full' }),
      textResponse('answer.'),
    ]);
    const result = await setup.play({ agent, tools: one(), context: { compact: inShort(1) } });
    const sent = agent.requests[2]?.messages ?? [];
    expectEqual(
      sent.map(({ role }) => role),
      ['user', 'assistant', 'user'],
      'the roles in the next request',
    );
    expectEqual([result.status, result.text], ['complete', 'answer.'], 'the outcome');
  }),
  the('a session that failed because of its length can resume with compaction', async (setup) => {
    const options: ExecutorOptions = { agent: scriptedModel([calls(['one']), full]), tools: one() };
    const first = await setup.play(options, 'Go.', { sessionId: 'long' });
    expectEqual(first.status, 'failed', 'the status without compaction');
    const agent = scriptedModel([full, textResponse('Done.')]);
    const again = setup.resume({ ...options, agent, context: { compact: inShort(2) } }, 'long');
    expectEqual((await setup.until(again)).status, 'complete', 'the status with compaction');
  }),
];

export const compactionCases: readonly ExecutorCase[] = [...weighing, ...failing, ...refusing];

const offloading = group('offload');

export const offloadCases: readonly ExecutorCase[] = [
  offloading(
    'the conversation contains both ends of a long output, and the rest can be read [P10]',
    async (setup) => {
      const text = Array.from({ length: 30_000 }, (_, line) => `line ${line}\n`).join('');
      const { tool } = probeTools();
      const agent = scriptedModel([
        calls(['one']),
        ({ messages }) => {
          const { id, offset } = referenceIn(messages);
          return calls([{ name: 'read_blob', arguments: { id, offset, bytes: 1000 } }]);
        },
        textResponse('Done.'),
      ]);
      const tools = [tool('one', { execute: () => text })];
      const run = setup.run({ agent, tools, context: { offload: offload(memoryBlobs()) } });
      const result = await setup.until(run);
      const [shown = '', read = ''] = resultTexts(result.messages);
      expect(
        shown.length < 5000 && shown.startsWith('line 0\n') && shown.endsWith('line 29999\n'),
        'both ends of the output',
      );
      expect(text.includes(read.slice(read.indexOf('\n') + 1)), 'a passage from the complete output');
      const [event] = ofType(setup.storedOf(run), 'tool_result');
      expectEqual(event?.blobs?.[0]?.bytes, text.length, 'the size in the event');
      expect(JSON.stringify(event).length < 6000, 'the event to contain no more than the model receives');
    },
  ),
  offloading(
    'an offload store that fails or never settles costs only the middle of the output [P10]',
    async (setup) => {
      const { tool } = probeTools();
      for (const put of [() => Promise.reject(new Error('full')), () => new Promise<never>(() => {})]) {
        const blobs = { put, get: () => undefined };
        const options = { tools: [tool('one', { execute: () => 'x'.repeat(300_000) })] };
        const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
        const result = await setup.play({ ...options, agent, context: { offload: offload(blobs) } });
        const [shown = ''] = resultTexts(result.messages);
        expectEqual(
          [result.status, shown.length > 10_000 && shown.length < 20_000],
          ['complete', true],
          'the outcome',
        );
      }
    },
  ),
  offloading(
    'a tool that returns while the run is being cancelled keeps its result, even if the offload store hangs [P10, P13]',
    async (setup) => {
      const { tool } = probeTools();
      const blobs = { put: () => new Promise<never>(() => {}), get: () => undefined };
      const one = tool('one', {
        execute: (_, { signal }) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve('x'.repeat(300_000)), { once: true }),
          ),
      });
      const agent = scriptedModel([calls(['one'])]);
      const run = setup.run({ agent, tools: [one], context: { offload: offload(blobs) } });
      await setup.advance(1000);
      run.cancel();
      const { status, messages } = await setup.until(run.result);
      const [shown = ''] = resultTexts(messages);
      expectEqual([status, shown.startsWith('xxx')], ['cancelled', true], 'the outcome');
    },
  ),
];

/** The id under which an output was stored, and the offset of the part that was left out. */
function referenceIn(messages: readonly Message[]): { id: string; offset: number } {
  const found = /read_blob with (\{.*?\})/.exec(resultTexts(messages).join('\n'))?.[1];
  return JSON.parse(found ?? '{}');
}
