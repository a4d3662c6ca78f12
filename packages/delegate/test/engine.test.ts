import type { Limits } from '@cobbler/agent';
import { memoryStore, textOf } from '@cobbler/agent';
import { createHarness, readVerdict } from '@cobbler/agent/harness';
import { harnessFixture } from '@cobbler/conformance';
import type { SessionAgent, ToolActivity } from '@cobbler/delegate';
import { agentResponse, buildEngine, toSessionAgent } from '@cobbler/delegate';
import { describe, expect, it } from 'vitest';
import { session } from './rig.ts';

/** Returns an agent with only the three required methods. */
function plainAgent(execute: SessionAgent['execute']): SessionAgent {
  return { execute, cancel: async () => {}, shutdown: async () => {} };
}

describe('buildEngine [S1.15]', () => {
  it('accepts a plain object with three methods', async () => {
    const engine = buildEngine(
      plainAgent(async (prompt) => agentResponse({ content: `You said: ${prompt}`, cost: 0.5 })),
    );
    const result = await engine.prompt('Hello.').result;
    expect([result.status, result.text, result.metrics.usd]).toEqual(['complete', 'You said: Hello.', 0.5]);
    await engine.close();
  });

  it('converts callbacks to events, including gate decisions [S1.5]', async () => {
    const store = memoryStore();
    const agent = plainAgent(async (_prompt, _session, callbacks) => {
      await callbacks?.onTextChunk?.('Working.');
      const activity: ToolActivity = { toolName: 'Bash', description: 'ls' };
      const decisions: string[] = [];
      for (const callId of ['a', 'b']) {
        await callbacks?.onToolActivity?.(activity);
        const signal = new AbortController().signal;
        const answer = await callbacks?.canUseTool?.('Bash', { command: callId }, { signal, callId });
        decisions.push(readVerdict(answer).type);
        await callbacks?.onToolActivity?.(null);
      }
      return agentResponse({ content: decisions.join(' '), numTurns: 3 });
    });
    const engine = buildEngine(agent, {
      store,
      sessionId: 'e',
      gate: (call) =>
        call.arguments['command'] === 'b' ? { type: 'deny', message: 'No.' } : { type: 'allow' },
    });
    const result = await engine.prompt('Go.').result;
    expect(result.text).toBe('allow deny');
    const kinds = (await store.read('e')).map((event) =>
      event.type === 'tool_result' && event.denied === true ? 'denied' : event.type,
    );
    expect(kinds).toEqual([
      ...['user', 'assistant', 'tool_started', 'tool_result', 'assistant', 'denied', 'assistant', 'finished'],
    ]);
    await engine.close();
  });

  /** Runs a prompt over an agent that streams these chunks and returns this content. */
  async function answerTo(chunks: readonly string[], content: string, limits: Limits = {}) {
    const store = memoryStore();
    const agent = plainAgent(async (_prompt, _session, callbacks) => {
      for (const chunk of chunks) await callbacks?.onTextChunk?.(chunk);
      return agentResponse({ content, cost: 0.5 });
    });
    const engine = buildEngine(agent, { store, sessionId: 'e', limits });
    const result = await engine.prompt('Go.').result;
    await engine.close();
    const said = (await store.read('e')).flatMap((event) =>
      event.type === 'assistant' ? [textOf({ role: 'assistant', content: event.content })] : [],
    );
    return { status: result.status, text: result.text, usd: result.metrics.usd, said };
  }

  it('returns the final content if the chunks differ from it, and stores both [P1]', async () => {
    expect(await answerTo(['thinking aloud'], 'The final answer.')).toEqual({
      status: 'complete',
      text: 'The final answer.',
      usd: 0.5,
      said: ['thinking aloud', 'The final answer.'],
    });
  });

  it.each([
    ['chunks equal to the content', ['The final ', 'answer.'], 'The final answer.'],
    ['chunks that are the lines of the content', ['The final', 'answer.'], 'The final\nanswer.'],
    ['chunks and an empty content', ['The final answer.'], ''],
    ['no chunks', [], 'The final answer.'],
    ['chunks that end early', ['The final'], 'The final answer.'],
    ['a last chunk equal to the content', ['So: ', 'The final answer.'], 'The final answer.'],
  ])('stores the content once: %s [P1]', async (_what, chunks, content) => {
    const { status, said } = await answerTo(chunks, content);
    expect([status, said.length]).toEqual(['complete', 1]);
    expect(said.join('').split('answer.').length - 1).toBe(1);
    expect(said.join('').replace(/\s/g, '')).toContain((content || chunks.join('')).replace(/\s/g, ''));
  });

  it('returns the final content despite a turn limit [P1]', async () => {
    const { status, text } = await answerTo(['thinking aloud'], 'The final answer.', { turns: 1 });
    expect([status, text]).toEqual(['complete', 'thinking aloud\n\nThe final answer.']);
  });

  it('continues the conversation of the agent [S1.16]', async () => {
    const resumed: (string | null | undefined)[] = [];
    const engine = buildEngine(
      plainAgent(async (_prompt, { claudeSessionId }) => {
        resumed.push(claudeSessionId);
        return agentResponse({ content: 'x', sessionId: 'c-9' });
      }),
    );
    await engine.prompt('One.').result;
    await engine.prompt('Two.').result;
    expect(resumed).toEqual([null, 'c-9']);
    await engine.close();
  });

  it('reports a returned or thrown error as a failed run, and accepts the next prompt', async () => {
    const answers = [
      async () => agentResponse({ content: 'authentication_error', isError: true }),
      async () => Promise.reject(new Error('It broke.')),
      async () => agentResponse({ content: 'On.' }),
    ];
    const engine = buildEngine(plainAgent(() => answers.shift()?.() ?? Promise.reject(new Error('over'))));
    expect((await engine.prompt('a').result).error?.kind).toBe('auth');
    expect((await engine.prompt('b').result).error?.message).toBe('It broke.');
    expect((await engine.prompt('c').result).text).toBe('On.');
    await engine.close();
  });

  it('cancels the agent and returns immediately [S1.2, P3]', async () => {
    const cancelled: string[] = [];
    const agent: SessionAgent = {
      execute: () => new Promise(() => {}),
      cancel: async (sessionId) => void cancelled.push(sessionId),
      shutdown: async () => {},
    };
    const engine = buildEngine(agent, { sessionId: 'e' });
    const run = engine.prompt('Go.');
    for await (const event of run) if (event.type === 'status') break;
    engine.cancel();
    expect((await run).status).toBe('cancelled');
    expect(cancelled).toEqual(['e']);
  });
});

describe('toSessionAgent [S1.15]', () => {
  it('creates a session agent from the local loop, with one conversation per session', async () => {
    const agent = toSessionAgent((_session, gate) => createHarness({ ...harnessFixture(), gate }));
    const told: unknown[] = [];
    const one = session();
    const response = await agent.execute('use look write', one, {
      onTextChunk: (chunk) => told.push(chunk),
      onToolActivity: (activity) => told.push(activity === null ? null : activity.toolName),
      canUseTool: (toolName) =>
        toolName === 'write' ? { type: 'deny', message: 'Not today.' } : { type: 'allow' },
    });
    expect(told).toEqual(['Working.', 'look', null, 'seen, Not today.']);
    expect(response).toMatchObject({
      content: 'seen, Not today.',
      numTurns: 2,
      toolsUsed: ['look'],
      isError: false,
    });
    expect((await agent.execute('count', one)).content).toBe('2');
    expect((await agent.execute('count', session({ sessionId: 'other' }))).content).toBe('1');
    expect((await agent.execute('fail', one)).isError).toBe(true);
    await agent.shutdown();
  });

  it('calls canUseTool if the gate of a harness asks the user', async () => {
    const agent = toSessionAgent(createHarness(harnessFixture()));
    const asked: string[] = [];
    const response = await agent.execute('use write', session(), {
      canUseTool: (toolName) => {
        asked.push(toolName);
        return { type: 'allow' };
      },
    });
    expect([asked, response.content]).toEqual([['write'], 'written']);
    await agent.shutdown();
  });

  it('gives canUseTool what the gate of the loop knows about a call [P21]', async () => {
    const agent = toSessionAgent((_session, gate) => {
      const known = { mustAsk: 'It sends.', untrusted: 'fetch' };
      return createHarness({ ...harnessFixture(), gate: (call, how) => gate({ ...call, ...known }, how) });
    });
    const contexts: unknown[] = [];
    await agent.execute('use look', session(), {
      canUseTool: (_name, _input, context) => {
        contexts.push(context);
        return 'allow';
      },
    });
    expect(contexts).toMatchObject([{ mustAsk: 'It sends.', untrusted: 'fetch' }]);
    await agent.shutdown();
  });

  it('supports cancel, and the result works as an engine again [S1.2]', async () => {
    const agent = toSessionAgent(() => createHarness(harnessFixture()));
    const hanging = agent.execute('hang', session());
    await agent.cancel('s');
    expect(await hanging).toMatchObject({ isError: true, content: 'The run was cancelled.' });
    const engine = buildEngine(agent);
    expect((await engine.prompt('say Round and round.').result).text).toBe('Round and round.');
    await engine.close();
    await agent.shutdown();
  });
});
