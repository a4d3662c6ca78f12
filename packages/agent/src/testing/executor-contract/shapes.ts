import { AgentError } from '../../errors.ts';
import type { Message } from '../../message.ts';
import type { OutputOption } from '../../output.ts';
import { expect, expectEqual } from '../assertion.ts';
import type { ExecutorCase } from './cases.ts';
import { group } from './cases.ts';
import { probes } from './probe.ts';
import { calls, puppet, says } from './puppet.ts';
import { outline, resultsOf } from './results.ts';

const the = group('output');

interface Verdict {
  readonly good: boolean;
}

const schema = { type: 'object', properties: { good: { type: 'boolean' } }, required: ['good'] };
const output: OutputOption<Verdict> = { name: 'verdict', schema };
const asTool = { output: 'tool' } as const;

export const outputCases: readonly ExecutorCase[] = [
  the('an agent that keeps to a shape by itself is asked for it, and the answer is read', async (stage) => {
    const agent = puppet([says('{"good":true}')]);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual(result.output, { good: true }, 'the output');
    expectEqual(agent.requests[0]?.output?.name, 'verdict', 'the name of the shape asked for');
    expectEqual(agent.requests[0]?.tools, [], 'the tools');
  }),
  the('any other agent answers by calling a tool', async (stage) => {
    const agent = puppet([calls([{ name: 'verdict', arguments: { good: true } }])], asTool);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual([result.status, result.output], ['complete', { good: true }], 'the end');
    expectEqual(result.text, '{"good":true}', 'the text');
    expectEqual(
      [agent.requests.length, agent.requests[0]?.tools.map(({ name }) => name)],
      [1, ['verdict']],
      'what was asked for',
    );
  }),
  the('an answer that comes beside other calls ends the run when all have their results', async (stage) => {
    const { tool } = probes();
    const held = Promise.withResolvers<string>();
    const read = tool('read', { effect: 'read', execute: () => held.promise });
    const answer = { name: 'verdict', arguments: { good: true } };
    const agent = puppet([calls([answer, 'read'])], asTool);
    const run = stage.run({ agent, tools: [read] }, 'Go.', { output });
    await stage.advance(1000);
    held.resolve('read done');
    const result = await stage.until(run);
    expectEqual(
      [result.status, result.output, agent.requests.length],
      ['complete', { good: true }, 1],
      'the end',
    );
  }),
  the('an answer of the wrong shape is refused and can be given again', async (stage) => {
    const wrong = calls([{ name: 'verdict', arguments: { good: 'yes' } }]);
    const agent = puppet([wrong, calls([{ name: 'verdict', arguments: { good: false } }])], asTool);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual([result.output, agent.requests.length], [{ good: false }, 2], 'the end');
    expectEqual(resultsOf(result.messages)[0]?.isError, true, 'whether the first was refused');
  }),
  the('an answer that does not have the shape makes the run a failure', async (stage) => {
    for (const text of ['{"good":1}', 'Good.', '[true]', '']) {
      const result = await stage.play({ agent: puppet([says(text)]) }, 'Go.', { output });
      expectEqual([result.status, result.error?.code], ['failed', 'output'], `the end for ${text}`);
      expectEqual(result.output, undefined, 'the output');
    }
  }),
  the('a run that did not complete has no output', async (stage) => {
    const agent = puppet([says('{"good":true}', { stop: 'max_tokens' })]);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual([result.status, result.output], ['max_tokens', undefined], 'the end');
  }),
  the('a shape that nobody can give is a mistake told at once', async (stage) => {
    const executor = stage.executor({ agent: puppet([], { output: 'none' }) });
    let thrown: unknown;
    try {
      executor.run('Go.', { output });
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown) && thrown.kind === 'invalid', 'an error of kind invalid');
  }),
  the('a check of the output that hangs does not outlive a cancel', async (stage) => {
    const standard = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => new Promise<never>(() => {}),
        jsonSchema: { input: () => schema },
      },
    } as const;
    const run = stage.run({ agent: puppet([says('{"good":true}')]) }, 'Go.', {
      output: { schema: standard },
    });
    await stage.advance(1000);
    const before = stage.elapsed;
    run.cancel();
    expectEqual((await stage.until(run)).status, 'cancelled', 'the status');
    expect(stage.elapsed - before <= 250, 'control back within 250 ms');
  }),
];

const compaction = group('compaction');

const big = { inputTokens: 5000, outputTokens: 100 };

export const compactionCases: readonly ExecutorCase[] = [
  compaction('a conversation that weighs too much is summarised before the next request', async (stage) => {
    const seen: Message[][] = [];
    const summarize = (messages: readonly Message[]) => {
      seen.push([...messages]);
      return Promise.resolve('All was read.');
    };
    const agent = puppet([calls(['one']), calls(['one'], { usage: big }), says('Done.')]);
    const options = {
      agent,
      tools: [probes().tool('one')],
      context: { maxTokens: 1000, keep: 2, summarize },
    };
    const result = await stage.play(options);
    expectEqual(
      outline(seen[0] ?? []),
      ['user: Go.', 'assistant: ', 'tool_result: one done'],
      'what was summarised',
    );
    const sent = agent.requests[2]?.messages ?? [];
    expectEqual(sent.length, 3, 'the messages of the next request');
    expect(outline(sent)[0]?.endsWith('All was read.') === true, 'the summary first');
    expectEqual(result.status, 'complete', 'the status');
  }),
  compaction('a call is never parted from its result', async (stage) => {
    const { tool } = probes();
    for (const keep of [0, 1, 2, 3, 4, 5, 6]) {
      const agent = puppet([
        calls(['one', 'one', 'one']),
        calls(['one', 'one'], { usage: big }),
        says('Done.'),
      ]);
      const context = { maxTokens: 1000, keep, summarize: () => Promise.resolve('So far.') };
      const result = await stage.play({ agent, tools: [tool('one')], context });
      expectEqual(result.status, 'complete', `the status with ${keep} messages kept`);
    }
  }),
  compaction('nothing is summarised below the limit', async (stage) => {
    const agent = puppet([calls(['one'], { usage: big }), says('Done.')]);
    const context = { maxTokens: 5100, summarize: () => Promise.reject(new Error('not asked for')) };
    const result = await stage.play({ agent, tools: [probes().tool('one')], context });
    expectEqual(result.status, 'complete', 'the status');
  }),
  compaction(
    'a summary that fails, or nothing to summarise, fails the run and harms nothing',
    async (stage) => {
      const { tool } = probes();
      const failing = { maxTokens: 1, keep: 0, summarize: () => Promise.reject(new Error('no words')) };
      const first = await stage.play({
        agent: puppet([calls(['one'])]),
        tools: [tool('one')],
        context: failing,
      });
      expectEqual([first.status, first.error?.message], ['failed', 'no words'], 'the end');
      const keeping = { maxTokens: 1, keep: 99, summarize: () => Promise.resolve('') };
      const second = await stage.play({
        agent: puppet([calls(['one'])]),
        tools: [tool('one')],
        context: keeping,
      });
      expectEqual([second.status, second.error?.code], ['failed', 'context_full'], 'the end');
      expectEqual(second.messages.length, 3, 'the messages');
    },
  ),
];
