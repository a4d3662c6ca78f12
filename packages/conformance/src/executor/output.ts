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
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('output');

interface ExampleOutput {
  readonly good: boolean;
}

const schema = { type: 'object', properties: { good: { type: 'boolean' } }, required: ['good'] };
const output: OutputOption<ExampleOutput> = { name: 'verdict', schema };
const asTool = { output: 'tool' } as const;

export const outputCases: readonly ExecutorCase[] = [
  the(
    'an agent that supports output schemas receives the schema, and its response is parsed',
    async (setup) => {
      const agent = scriptedModel([textResponse('{"good":true}')]);
      const result = await setup.play({ agent }, 'Go.', { output });
      expectEqual(result.output, { good: true }, 'the output');
      expectEqual(agent.requests[0]?.output?.name, 'verdict', 'the name of the schema in the request');
      expectEqual(agent.requests[0]?.tools, [], 'the tools');
    },
  ),
  the('any other agent responds by calling a tool', async (setup) => {
    const agent = scriptedModel([calls([{ name: 'verdict', arguments: { good: true } }])], asTool);
    const result = await setup.play({ agent }, 'Go.', { output });
    expectEqual([result.status, result.output], ['complete', { good: true }], 'the outcome');
    expectEqual(result.text, '{"good":true}', 'the text');
    expectEqual(
      [agent.requests.length, agent.requests[0]?.tools.map(({ name }) => name)],
      [1, ['verdict']],
      'the number of requests and the tools',
    );
  }),
  the('an output that comes with other calls ends the run when all calls have results', async (setup) => {
    const { tool } = probeTools();
    const held = Promise.withResolvers<string>();
    const read = tool('read', { effect: 'read', execute: () => held.promise });
    const answer = { name: 'verdict', arguments: { good: true } };
    const agent = scriptedModel([calls([answer, 'read'])], asTool);
    const run = setup.run({ agent, tools: [read] }, 'Go.', { output });
    await setup.advance(1000);
    held.resolve('read done');
    const result = await setup.until(run);
    expectEqual(
      [result.status, result.output, agent.requests.length],
      ['complete', { good: true }, 1],
      'the outcome',
    );
  }),
  the('an output that does not match the schema is rejected, and the agent can try again', async (setup) => {
    const wrong = calls([{ name: 'verdict', arguments: { good: 'yes' } }]);
    const agent = scriptedModel([wrong, calls([{ name: 'verdict', arguments: { good: false } }])], asTool);
    const result = await setup.play({ agent }, 'Go.', { output });
    expectEqual([result.output, agent.requests.length], [{ good: false }, 2], 'the outcome');
    expectEqual(resultsOf(result.messages)[0]?.isError, true, 'whether the first output was rejected');
  }),
  the('a response that does not match the schema fails the run', async (setup) => {
    for (const text of ['{"good":1}', 'Good.', '[true]', '']) {
      const result = await setup.play({ agent: scriptedModel([textResponse(text)]) }, 'Go.', { output });
      expectEqual([result.status, result.error?.code], ['failed', 'output'], `the outcome for ${text}`);
      expectEqual(result.output, undefined, 'the output');
    }
  }),
  the('a run that did not complete has no output', async (setup) => {
    const agent = scriptedModel([textResponse('{"good":true}', { stop: 'max_tokens' })]);
    const result = await setup.play({ agent }, 'Go.', { output });
    expectEqual([result.status, result.output], ['max_tokens', undefined], 'the outcome');
  }),
  the('a schema that the agent cannot support is rejected immediately', async (setup) => {
    const executor = setup.executor({ agent: scriptedModel([], { output: 'none' }) });
    let thrown: unknown;
    try {
      executor.run('Go.', { output });
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown) && thrown.kind === 'invalid', 'an error of kind invalid');
  }),
  the('a cancel ends a run whose output validation hangs [P3]', async (setup) => {
    const standard = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => new Promise<never>(() => {}),
        jsonSchema: { input: () => schema },
      },
    } as const;
    const run = setup.run({ agent: scriptedModel([textResponse('{"good":true}')]) }, 'Go.', {
      output: { schema: standard },
    });
    await setup.advance(1000);
    const before = setup.elapsed;
    run.cancel();
    expectEqual((await setup.until(run)).status, 'cancelled', 'the status');
    expect(setup.elapsed - before <= 250, 'an end within 250 ms');
  }),
];
