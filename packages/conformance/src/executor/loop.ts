import type { AssistantPart, ErrorKind, ModelResponse, RunStatus, StopReason } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  modelResponse,
  ofType,
  outline,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('loop');

function endsAs(stop: StopReason, status: RunStatus): ExecutorCase {
  return the(`a response that stops as ${stop} ends the run as ${status} [P4]`, async (setup) => {
    const result = await setup.play({ agent: scriptedModel([textResponse('As far as it goes.', { stop })]) });
    expectEqual(result.status, status, 'the status');
    expectEqual(result.text, 'As far as it goes.', 'the text');
    if (status === 'failed')
      expectEqual([result.error?.kind, result.error?.code], ['agent', codes[stop] ?? stop], 'the error');
  });
}

/** The error code of each stop reason that fails the run, where it differs from the reason. */
const codes: Partial<Record<StopReason, string>> = { tool_use: 'no_call', unknown: 'unknown_stop' };

function failsAs(kind: ErrorKind): ExecutorCase {
  return the(`a request that fails with ${kind} fails the run with ${kind} [P1]`, async (setup) => {
    const error = new AgentError({
      kind,
      message: 'It went wrong.',
      code: 'because',
      retryAfterMs: 70,
      attempts: 3,
    });
    const result = await setup.play({ agent: scriptedModel([failedResponse(error)]) });
    expectEqual(result.status, kind === 'limit' ? 'limit' : 'failed', 'the status');
    expectEqual(result.error?.toJSON(), error.toJSON(), 'the error');
    expectEqual(result.text, '', 'the text');
  });
}

function refuses(what: string, answer: unknown): ExecutorCase {
  return the(`an agent that returns ${what} fails the run [P1]`, async (setup) => {
    const result = await setup.play({ agent: scriptedModel([() => answer as ModelResponse]) });
    expectEqual([result.status, result.error?.code], ['failed', 'bad_answer'], 'the outcome');
  });
}

function neverRuns(stop: StopReason, asked: number): ExecutorCase {
  return the(`a call in a response that stops as ${stop} is never run [P9]`, async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['write'], { stop }), textResponse('Continued.')]);
    const result = await setup.play({ agent, tools: [tool('write')] });
    expectEqual(names, [], 'the tools that ran');
    expectEqual(
      resultsOf(result.messages).map(({ notRun }) => notRun),
      [true],
      'the results marked as not run',
    );
    expectEqual(agent.requests.length, asked, 'the number of requests');
  });
}

const half: AssistantPart = { type: 'text', text: 'Half' };

export const loopCases: readonly ExecutorCase[] = [
  the('a text response completes the run [S0.13]', async (setup) => {
    const answer = textResponse('Forty-two.');
    const result = await setup.play({ agent: scriptedModel([answer]) }, 'What is it?');
    expectEqual(result.status, 'complete', 'the status');
    expectEqual(result.text, 'Forty-two.', 'the text');
    expectEqual(result.response, answer, 'the response');
    expectEqual(outline(result.messages), ['user: What is it?', 'assistant: Forty-two.'], 'the messages');
    expect(result.unwrap() === result, 'unwrap to return the result itself');
  }),
  the('calls run and their results are in the next request [S0.10, S0.12]', async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one', 'two']), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: [tool('one'), tool('two')] });
    expectEqual(result.status, 'complete', 'the status');
    expectEqual(names, ['one', 'two'], 'the tools that ran');
    const last = agent.requests[1]?.messages ?? [];
    expectEqual(resultTexts(last), ['one done', 'two done'], 'the results in the second request');
  }),
  the('each request contains the whole conversation [S0.16]', async (setup) => {
    const { tool } = probeTools();
    const agent = scriptedModel([calls(['one']), calls(['one']), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: [tool('one')] });
    expectEqual(
      agent.requests.map(({ messages }) => messages.length),
      [1, 3, 5],
      'the number of messages in each request',
    );
    for (const request of agent.requests) {
      expectEqual(
        request.messages,
        result.messages.slice(0, request.messages.length),
        'the messages of a request',
      );
    }
  }),
  the('every request has the same tools and settings', async (setup) => {
    const { tool } = probeTools();
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    const request = { maxTokens: 500, temperature: 0.5, effort: 'low' } as const;
    await setup.play({ agent, tools: [tool('one')], system: ['Be brief.', 'Today is Monday.'], request });
    const [first, second] = agent.requests;
    expect(first !== undefined && first.tools === second?.tools, 'the same array of tools');
    expectEqual([first?.config, second?.config], [request, request], 'the settings of each request');
    expectEqual(second?.system, ['Be brief.', 'Today is Monday.'], 'the instructions');
  }),
  endsAs('max_tokens', 'max_tokens'),
  endsAs('refusal', 'refusal'),
  endsAs('context_full', 'failed'),
  endsAs('unknown', 'failed'),
  endsAs('tool_use', 'failed'),
  the('an unrecognized stop reason is unknown, never complete [P4]', async (setup) => {
    const result = await setup.play({
      agent: scriptedModel([textResponse('Hm.', { stop: 'made_up' as StopReason })]),
    });
    expectEqual([result.status, result.error?.code], ['failed', 'unknown_stop'], 'the outcome');
  }),
  the('a paused response is continued in another request', async (setup) => {
    const agent = scriptedModel([
      textResponse('First half,', { stop: 'pause' }),
      textResponse(' second half.'),
    ]);
    const result = await setup.play({ agent });
    expectEqual(result.status, 'complete', 'the status');
    expectEqual(
      outline(agent.requests[1]?.messages ?? []),
      ['user: Go.', 'assistant: First half,'],
      'the second request',
    );
  }),
  neverRuns('complete', 1),
  neverRuns('max_tokens', 1),
  neverRuns('refusal', 1),
  neverRuns('unknown', 1),
  neverRuns('pause', 2),
  the('a call with malformed arguments gets an error result and never runs [P9]', async (setup) => {
    const { tool, names } = probeTools();
    const broken = {
      type: 'tool_call',
      id: 'a',
      toolName: 'one',
      arguments: {},
      problem: 'They are cut.',
    } as const;
    const agent = scriptedModel([modelResponse([half, broken]), textResponse('Sorry.')]);
    const result = await setup.play({ agent, tools: [tool('one')] });
    expectEqual(names, [], 'the tools that ran');
    expect(resultTexts(result.messages)[0]?.includes('They are cut.') === true, 'the problem in the result');
    expectEqual(resultsOf(result.messages)[0]?.isError, true, 'whether it is an error');
  }),
  the('the result of a call to an unknown tool lists the available tools', async (setup) => {
    const agent = scriptedModel([calls(['three']), textResponse('Sorry.')]);
    const result = await setup.play({ agent, tools: [probeTools().tool('one'), probeTools().tool('two')] });
    const [text] = resultTexts(result.messages);
    expect(
      text?.includes('three') === true && text.includes('one, two'),
      `the names in the result, found ${text}`,
    );
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('arguments that do not match the schema are rejected before the tool runs [P9]', async (setup) => {
    const { tool, names } = probeTools();
    const strict = tool('one', {
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    });
    const agent = scriptedModel([
      calls(['one', { name: 'one', arguments: { path: 7 } }]),
      textResponse('Sorry.'),
    ]);
    const result = await setup.play({ agent, tools: [strict] });
    expectEqual(names, [], 'the tools that ran');
    expect(
      resultTexts(result.messages).every((text) => text.includes('path')),
      'the argument to be named in each result',
    );
  }),
  the('with duplicate or empty ids, each result still belongs to its own call [P12]', async (setup) => {
    const { tool } = probeTools();
    const named = ['one', 'two'].map((name) => tool(name));
    const twice = [
      { name: 'one', id: 'same' },
      { name: 'two', id: 'same' },
    ];
    const empty = [
      { name: 'two', id: '' },
      { name: 'one', id: '' },
    ];
    const result = await setup.play({
      agent: scriptedModel([calls(twice), calls(empty), textResponse('Done.')]),
      tools: named,
    });
    expectEqual(
      resultTexts(result.messages),
      ['one done', 'two done', 'two done', 'one done'],
      'the results in the order of the calls',
    );
  }),
  failsAs('agent'),
  failsAs('timeout'),
  failsAs('rate_limit'),
  failsAs('network'),
  failsAs('invalid'),
  failsAs('auth'),
  failsAs('aborted'),
  failsAs('limit'),
  the('an agent that rejects with a value that is not an AgentError fails the run [P1]', async (setup) => {
    for (const thrown of [undefined, null, 'words', 7, new TypeError('no such field'), Symbol('odd')]) {
      const result = await setup.play({ agent: scriptedModel([failedResponse(thrown)]) });
      expectEqual([result.status, result.error?.kind], ['failed', 'agent'], 'the outcome');
      expect((result.error?.message ?? '') !== '', 'a message');
    }
  }),
  the('an agent that throws synchronously fails the run [P1]', async (setup) => {
    const agent = { ...scriptedModel([]), run: () => explode('at once') };
    const result = await setup.play({ agent });
    expectEqual([result.status, result.error?.message], ['failed', 'at once'], 'the outcome');
  }),
  refuses('undefined', undefined),
  refuses('a string', 'Done.'),
  refuses('a response without a message', { ...textResponse('Done.'), message: undefined }),
  refuses('a message without content', { ...textResponse('Done.'), message: { role: 'assistant' } }),
  refuses('a response without token counts', { ...textResponse('Done.'), usage: undefined }),
  refuses('token counts that are not numbers', {
    ...textResponse('Done.'),
    usage: { inputTokens: Number.NaN, outputTokens: 1 },
  }),
  the('fields that an agent omits from its response get defaults', async (setup) => {
    const { attempts: _attempts, wasted: _wasted, ...rest } = textResponse('Done.');
    const result = await setup.play({ agent: scriptedModel([() => rest as ModelResponse]) });
    expectEqual([result.status, result.metrics.attempts], ['complete', 1], 'the status and the attempts');
  }),
  the('an empty response completes the run with an empty text, whatever came before', async (setup) => {
    const { tool } = probeTools();
    const before = modelResponse([half, { type: 'tool_call', id: 'a', toolName: 'one', arguments: {} }]);
    const result = await setup.play({
      agent: scriptedModel([before, modelResponse([])]),
      tools: [tool('one')],
    });
    expectEqual([result.status, result.text], ['complete', ''], 'the status and the text');
  }),
  the('a run without a response has no text, although the session has responses', async (setup) => {
    const agent = scriptedModel([textResponse('Good morning.'), failedResponse(new Error('gone'))]);
    await setup.play({ agent }, 'Hello.', { sessionId: 'one' });
    const result = await setup.play({ agent }, 'And now?', { sessionId: 'one' });
    expectEqual(
      [result.status, result.text, result.response],
      ['failed', '', undefined],
      'the status, text and response',
    );
  }),
  the('unwrap throws the error of a run that did not complete [P1]', async (setup) => {
    const error = new AgentError({ kind: 'auth', message: 'No such key.' });
    const failed = await setup.play({ agent: scriptedModel([failedResponse(error)]) });
    expectEqual(thrownBy(() => failed.unwrap())?.kind, 'auth', 'the kind of the thrown error');
    const cut = await setup.play({ agent: scriptedModel([textResponse('Half', { stop: 'max_tokens' })]) });
    expectEqual(thrownBy(() => cut.unwrap())?.code, 'max_tokens', 'the code of the thrown error');
  }),
  the('the log contains the model and the attempts of each response', async (setup) => {
    const run = setup.run({
      agent: scriptedModel([textResponse('Done.', { model: 'another', attempts: 2 })]),
    });
    await setup.until(run);
    const [event] = ofType(setup.storedOf(run), 'assistant');
    expectEqual(
      [event?.provider, event?.model, event?.attempts],
      ['puppet', 'another', 2],
      'the provider, model and attempts',
    );
  }),
];

function thrownBy(work: () => unknown): AgentError | undefined {
  try {
    work();
  } catch (error) {
    if (AgentError.is(error)) return error;
  }
  return undefined;
}

function explode(message: string): never {
  throw new Error(message);
}
