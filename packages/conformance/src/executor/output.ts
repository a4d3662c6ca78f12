import type { OutputOption } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import {
  calls,
  expect,
  expectEqual,
  probeTools,
  resultsOf,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/cases.ts';
import { group } from './setup/cases.ts';

const the = group('output');

interface ExampleOutput {
  readonly good: boolean;
}

const schema = { type: 'object', properties: { good: { type: 'boolean' } }, required: ['good'] };
const output: OutputOption<ExampleOutput> = { name: 'verdict', schema };
const asTool = { output: 'tool' } as const;

export const outputCases: readonly ExecutorCase[] = [
  the('an agent that keeps to a shape by itself is asked for it, and the answer is read', async (stage) => {
    const agent = scriptedModel([textResponse('{"good":true}')]);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual(result.output, { good: true }, 'the output');
    expectEqual(agent.requests[0]?.output?.name, 'verdict', 'the name of the shape asked for');
    expectEqual(agent.requests[0]?.tools, [], 'the tools');
  }),
  the('any other agent answers by calling a tool', async (stage) => {
    const agent = scriptedModel([calls([{ name: 'verdict', arguments: { good: true } }])], asTool);
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
    const { tool } = probeTools();
    const held = Promise.withResolvers<string>();
    const read = tool('read', { effect: 'read', execute: () => held.promise });
    const answer = { name: 'verdict', arguments: { good: true } };
    const agent = scriptedModel([calls([answer, 'read'])], asTool);
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
    const agent = scriptedModel([wrong, calls([{ name: 'verdict', arguments: { good: false } }])], asTool);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual([result.output, agent.requests.length], [{ good: false }, 2], 'the end');
    expectEqual(resultsOf(result.messages)[0]?.isError, true, 'whether the first was refused');
  }),
  the('an answer that does not have the shape makes the run a failure', async (stage) => {
    for (const text of ['{"good":1}', 'Good.', '[true]', '']) {
      const result = await stage.play({ agent: scriptedModel([textResponse(text)]) }, 'Go.', { output });
      expectEqual([result.status, result.error?.code], ['failed', 'output'], `the end for ${text}`);
      expectEqual(result.output, undefined, 'the output');
    }
  }),
  the('a run that did not complete has no output', async (stage) => {
    const agent = scriptedModel([textResponse('{"good":true}', { stop: 'max_tokens' })]);
    const result = await stage.play({ agent }, 'Go.', { output });
    expectEqual([result.status, result.output], ['max_tokens', undefined], 'the end');
  }),
  the('a shape that nobody can give is a mistake told at once', async (stage) => {
    const executor = stage.executor({ agent: scriptedModel([], { output: 'none' }) });
    let thrown: unknown;
    try {
      executor.run('Go.', { output });
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown) && thrown.kind === 'invalid', 'an error of kind invalid');
  }),
  the('a check of the output that hangs does not outlive a cancel [P3]', async (stage) => {
    const standard = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => new Promise<never>(() => {}),
        jsonSchema: { input: () => schema },
      },
    } as const;
    const run = stage.run({ agent: scriptedModel([textResponse('{"good":true}')]) }, 'Go.', {
      output: { schema: standard },
    });
    await stage.advance(1000);
    const before = stage.elapsed;
    run.cancel();
    expectEqual((await stage.until(run)).status, 'cancelled', 'the status');
    expect(stage.elapsed - before <= 250, 'control back within 250 ms');
  }),
];
