import type { Options } from '@anthropic-ai/claude-agent-sdk';
import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { ExecuteCallbacks, ToolCallContext } from '@cobbler/delegate';
import { agentResponse } from '@cobbler/delegate';
import { ClaudeCodeAgent } from '@cobbler/delegate/claude-code-agent';
import { describe, expect, it } from 'vitest';
import type { Step } from './fake-sdk.ts';
import {
  ends,
  fakeSdk,
  gave,
  gone,
  hooked,
  init,
  overloaded,
  prompted,
  says,
  text,
  use,
} from './fake-sdk.ts';
import { session } from './rig.ts';

const friendly = 'The AI service is temporarily unavailable. Please try again in a moment.';

function agentOver(...scripts: readonly (readonly Step[])[]) {
  const sdk = fakeSdk(...scripts);
  return { sdk, agent: new ClaudeCodeAgent({ sandbox: 'off', sdk, env: {}, retryMs: 1 }) };
}

describe('ClaudeCodeAgent', () => {
  it('reports texts and tools in order and returns a frozen response [S1.4, S1.5, S1.6]', async () => {
    const { agent } = agentOver([
      init(),
      says(text('One.')),
      says(use('t1', 'Bash', { command: 'ls' })),
      gave('t1'),
      says(text('Two.')),
      ends({ num_turns: 2, result: 'Two.' }),
    ]);
    const told: unknown[] = [];
    const one = session();
    const response = await agent.execute('Go.', one, {
      onTextChunk: (chunk) => told.push(chunk),
      onToolActivity: (activity) => told.push(activity),
    });
    expect(told).toEqual(['One.', { toolName: 'Bash', description: 'Bash: ls' }, null, 'Two.']);
    expect(response).toMatchObject({
      content: 'Two.',
      sessionId: 'c-1',
      cost: 0.01,
      numTurns: 2,
      toolsUsed: ['Bash'],
    });
    expect(response.isError).toBe(false);
    expect(Object.isFrozen(response) && Object.isFrozen(response.toolsUsed) && Object.isFrozen(told[1])).toBe(
      true,
    );
    expect(one.claudeSessionId).toBe('c-1');
  });

  it('returns the last text of the model if the result is empty [P1, S1.4]', async () => {
    const { agent } = agentOver([init(), says(text('The answer.')), ends({ result: '' })]);
    expect(await agent.execute('Go.', session())).toMatchObject({ content: 'The answer.', isError: false });
  });

  it('fills in defaults for a response that has only content [S1.4]', () => {
    expect(agentResponse({ content: 'x' })).toEqual({
      content: 'x',
      sessionId: null,
      cost: 0,
      durationMs: 0,
      numTurns: 0,
      toolsUsed: [],
      isError: false,
    });
  });

  it('reads each option from the specified source [S1.7]', async () => {
    const sdk = fakeSdk([init(), ends()]);
    const one = session({ claudeSessionId: 'c-0' });
    const lists = { allowedTools: ['Read'], disallowedTools: ['Bash'] };
    await new ClaudeCodeAgent({
      sandbox: 'off',
      sdk,
      env: {},
      maxTurns: 9,
      systemPrompt: 'Be brief.',
      ...lists,
    }).execute('Go.', one);
    expect(sdk.asked[0]?.options).toMatchObject({
      cwd: one.workingDirectory,
      maxTurns: 9,
      systemPrompt: 'Be brief.',
      ...lists,
      resume: 'c-0',
      permissionMode: 'default',
      settingSources: [],
    });
  });

  it('passes only its own key to the program [P19]', async () => {
    const sdk = fakeSdk([init(), ends()]);
    await new ClaudeCodeAgent({
      sandbox: 'off',
      sdk,
      env: { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' },
    }).execute('Go.', session());
    const { env } = sdk.asked[0]?.options ?? {};
    expect([env?.['ANTHROPIC_API_KEY'], env?.['OPENAI_API_KEY'], env?.['CLAUDE_CODE_MAX_RETRIES']]).toEqual([
      'a',
      undefined,
      '0',
    ]);
  });

  it('resumes a conversation only if it exists [S1.9, S1.16]', async () => {
    const { agent, sdk } = agentOver([init(), ends()], [init(), ends()]);
    const one = session();
    await agent.execute('One.', one);
    await agent.execute('Two.', one);
    expect(sdk.asked.map(({ options }) => options.resume)).toEqual([undefined, 'c-1']);
  });

  it('restarts a lost conversation once [S1.10]', async () => {
    const { agent, sdk } = agentOver([gone], [init('c-2'), ends()]);
    const one = session({ claudeSessionId: 'old' });
    expect(await agent.execute('Go.', one)).toMatchObject({
      content: 'Done.',
      isError: false,
      sessionId: 'c-2',
    });
    expect(sdk.asked.map(({ options }) => options.resume)).toEqual(['old', undefined]);
    expect(one.claudeSessionId).toBe('c-2');
    const fresh = agentOver([gone]);
    expect((await fresh.agent.execute('Go.', session())).isError).toBe(true);
    expect(fresh.sdk.asked).toHaveLength(1);
  });

  it('retries a transient failure once, even after a restart: three attempts in total [S1.11, S1.12]', async () => {
    const { agent, sdk } = agentOver([gone], [init(), overloaded], [init(), ends()]);
    const response = await agent.execute('Go.', session({ claudeSessionId: 'old' }));
    expect([response.content, response.isError, sdk.asked.length]).toEqual(['Done.', false, 3]);
  });

  it('waits 2 s before a retry [S1.12]', async () => {
    const waits: number[] = [];
    const timer: Runtime['timer'] = (ms, ring) => {
      waits.push(ms);
      return systemRuntime.timer(0, ring);
    };
    const sdk = fakeSdk([init(), overloaded], [init(), ends()]);
    const agent = new ClaudeCodeAgent({ sandbox: 'off', sdk, env: {}, runtime: { ...systemRuntime, timer } });
    expect((await agent.execute('Go.', session())).isError).toBe(false);
    expect(waits).toEqual([2000]);
  });

  it.each([
    'API Error: 500 Internal server error',
    'API Error: 529',
    '{"type":"api_error"}',
    'overloaded',
    'rate_limit_error',
  ])('retries %s because of its text [S1.11]', async (result) => {
    const { agent, sdk } = agentOver([ends({ is_error: true, result })], [init(), ends()]);
    expect((await agent.execute('Go.', session())).isError).toBe(false);
    expect(sdk.asked).toHaveLength(2);
  });

  it('returns the friendly message as an error if the failure persists [S1.14]', async () => {
    const { agent, sdk } = agentOver([init(), overloaded], [init(), overloaded], [init(), ends()]);
    expect(await agent.execute('Go.', session())).toMatchObject({ content: friendly, isError: true });
    expect(sdk.asked).toHaveLength(2);
  });

  it.each([
    [{ api_error_status: 401, result: 'authentication_error 500' }],
    [{ api_error_status: 400, result: 'invalid_request_error' }],
    [{ result: 'authentication_error: bad key' }],
  ])('returns %j unchanged without a retry [S1.13]', async (fields) => {
    const { agent, sdk } = agentOver([init(), ends({ is_error: true, ...fields })]);
    expect(await agent.execute('Go.', session())).toMatchObject({ content: fields.result, isError: true });
    expect(sdk.asked).toHaveLength(1);
  });

  it('does not retry after a tool has run [P5]', async () => {
    const { agent, sdk } = agentOver([init(), says(use('t', 'Write')), gave('t'), overloaded]);
    expect(await agent.execute('Go.', session())).toMatchObject({ content: friendly, isError: true });
    expect(sdk.asked).toHaveLength(1);
  });

  it('reports the cost since the previous prompt [P14]', async () => {
    const { agent } = agentOver([init(), ends()], [init(), ends({ total_cost_usd: 0.04 })]);
    const one = session();
    await agent.execute('One.', one);
    expect((await agent.execute('Two.', one)).cost).toBeCloseTo(0.03);
  });

  it('calls canUseTool once for each call, including reads [S1.1, P21]', async () => {
    const asked: string[] = [];
    const verdicts: unknown[] = [];
    const { agent } = agentOver([
      init(),
      async (options) => void verdicts.push(await hooked(options, 't1', 'Read', { file_path: 'a' })),
      async (options) => void verdicts.push(await hooked(options, 't2', 'Write')),
      async (options) => void verdicts.push(await prompted(options, 't2', 'Write')),
      ends(),
    ]);
    await agent.execute('Go.', session(), {
      canUseTool: (toolName) => {
        asked.push(toolName);
        return toolName === 'Read' ? { type: 'allow' } : { type: 'deny', message: 'No.' };
      },
    });
    expect(asked).toEqual(['Read', 'Write']);
    expect(verdicts).toMatchObject([
      { hookSpecificOutput: { permissionDecision: 'allow' } },
      { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'No.' } },
      { behavior: 'deny' },
    ]);
  });

  it('denies a call if canUseTool throws', async () => {
    let verdict: object = {};
    const { agent } = agentOver([
      init(),
      async (options) => {
        verdict = await hooked(options, 't', 'Bash');
      },
      ends(),
    ]);
    await agent.execute('Go.', session(), {
      canUseTool: () => {
        throw new Error('It broke.');
      },
    });
    expect(verdict).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  });

  it('tells canUseTool that the conversation contains untrusted output, also after a restart [P21]', async () => {
    const contexts: Record<string, unknown>[] = [];
    const canUseTool: ExecuteCallbacks['canUseTool'] = (toolName, input, { mustAsk, untrusted }) => {
      contexts.push({ toolName, mustAsk, untrusted });
      return input['url'] === 'refused' ? 'deny' : 'allow';
    };
    const script = (...calls: readonly [string, object?][]) => [
      init(),
      ...calls.map(
        ([name, input], at) =>
          async (options: Options) =>
            void (await hooked(options, `t${at}`, name, input)),
      ),
      ends(),
    ];
    const send: [string, object] = ['Bash', { command: 'curl x' }];
    const fetch: [string, object?] = ['WebFetch'];
    const { agent } = agentOver(script(send, ['WebFetch', { url: 'refused' }], send, fetch, send, ['Read']));
    const one = session();
    await agent.execute('Go.', one, { canUseTool });
    expect(contexts.map(({ untrusted }) => untrusted)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      ...['WebFetch', 'WebFetch'],
    ]);
    const reason = expect.stringMatching(/can send data, .* untrusted output from WebFetch/);
    expect(contexts.map(({ mustAsk }) => mustAsk).slice(-2)).toEqual([reason, undefined]);
    expect(one.untrusted).toBe('WebFetch');

    const { agent: next } = agentOver(script(send));
    await next.execute('Go on.', one, { canUseTool });
    expect(contexts.at(-1)).toEqual({ toolName: 'Bash', mustAsk: reason, untrusted: 'WebFetch' });
  });

  it('keeps the mark for a caller that creates the object of the session again, and marks without a gate [P21]', async () => {
    const marks: unknown[] = [];
    const { agent } = agentOver(
      [init(), async (options) => void (await hooked(options, 't1', 'WebSearch')), ends()],
      [init(), async (options) => void (await hooked(options, 't2', 'Bash')), ends()],
    );
    await agent.execute('Search.', Object.freeze(session()));
    const canUseTool: ExecuteCallbacks['canUseTool'] = (_name, _input, { untrusted }) => {
      marks.push(untrusted);
      return 'allow';
    };
    await agent.execute('Go on.', session(), { canUseTool });
    expect(marks).toEqual(['WebSearch']);
  });

  it('neither marks nor asks about tools that are trusted', async () => {
    const contexts: ToolCallContext[] = [];
    const calls = ['WebSearch', 'Bash'].map(
      (name) => async (o: Options) => void (await hooked(o, name, name)),
    );
    const sdk = fakeSdk([init(), ...calls, ends()]);
    const agent = new ClaudeCodeAgent({ sandbox: 'off', sdk, env: {}, trusted: ['WebSearch'] });
    const canUseTool: ExecuteCallbacks['canUseTool'] = (_name, _input, context) => {
      contexts.push(context);
      return 'allow';
    };
    await agent.execute('Go.', session(), { canUseTool });
    expect(contexts.map(({ untrusted }) => untrusted)).toEqual([undefined, undefined]);
  });

  it('adds the plan instructions in plan mode only [S1.8]', async () => {
    const modes = ['plan', 'code', undefined];
    const { agent, sdk } = agentOver(...modes.map(() => [init(), ends()]));
    for (const mode of modes) await agent.execute('Go.', session(mode === undefined ? {} : { mode }));
    const said = sdk.asked.map(({ options }) => String(options.systemPrompt ?? '').includes('ExitPlanMode'));
    expect(said).toEqual([true, false, false]);
    expect(sdk.asked[0]?.options.permissionMode).toBe('plan');
  });

  it('denies writes in plan mode until the plan is accepted, even if the gate allows them [S1.8]', async () => {
    const verdicts: unknown[] = [];
    const { agent } = agentOver([
      init(),
      async (options) => void verdicts.push(await hooked(options, 't1', 'Write')),
      async (options) => void verdicts.push(await prompted(options, 't1', 'Write')),
      async (options) => void verdicts.push(await prompted(options, 't2', 'ExitPlanMode')),
      async (options) => void verdicts.push(await prompted(options, 't3', 'Write')),
      ends(),
    ]);
    await agent.execute('Go.', session({ mode: 'plan' }), { canUseTool: () => ({ type: 'allow' }) });
    expect(verdicts).toEqual([{}, { behavior: 'deny' }, { behavior: 'allow' }, { behavior: 'allow' }]);
  });

  it('returns the plan as the response if no user can accept it [S1.8]', async () => {
    const { agent } = agentOver([
      init(),
      says(use('t', 'ExitPlanMode', { plan: 'First this, then that.' })),
      async (options) =>
        void expect(await prompted(options, 't', 'ExitPlanMode')).toEqual({ behavior: 'deny' }),
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'No.', is_error: true }] },
      },
      ends({ result: '' }),
    ]);
    expect((await agent.execute('Go.', session({ mode: 'plan' }))).content).toBe('First this, then that.');
  });

  it('interrupts on cancel, denies later calls and ignores a late success [S1.2, P4]', async () => {
    let verdict: object = {};
    const { agent } = agentOver([
      init(),
      async (_options, { interrupted }) => {
        void agent.cancel('s');
        await interrupted;
      },
      async (options) => {
        verdict = await hooked(options, 't', 'Write');
      },
      ends(),
    ]);
    const response = await agent.execute('Go.', session(), { canUseTool: () => ({ type: 'allow' }) });
    expect(response).toMatchObject({ isError: true, content: 'The run was cancelled.', sessionId: 'c-1' });
    expect(verdict).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  });

  it('ignores a cancel without a run, and rejects prompts after shutdown [S1.2, S1.3]', async () => {
    const { agent } = agentOver();
    await agent.cancel('nobody');
    await agent.shutdown();
    await expect(agent.execute('Go.', session())).rejects.toMatchObject({ kind: 'invalid', code: 'closed' });
  });

  it('ends every active prompt on shutdown [S1.3]', async () => {
    const untilInterrupted: Step[] = [init(), (_options, { interrupted }) => interrupted, ends()];
    const { agent } = agentOver(untilInterrupted, untilInterrupted);
    const runs = ['a', 'b'].map((sessionId) => agent.execute('Go.', session({ sessionId })));
    await agent.shutdown();
    expect((await Promise.all(runs)).map(({ isError }) => isError)).toEqual([true, true]);
  });

  it('accepts one prompt per session at a time', async () => {
    const { agent } = agentOver([init(), (_options, { interrupted }) => interrupted, ends()]);
    const one = session();
    const first = agent.execute('One.', one);
    await expect(agent.execute('Two.', one)).rejects.toMatchObject({ code: 'busy' });
    await agent.shutdown();
    expect((await first).isError).toBe(true);
  });

  it('reports an error if the program ends without a result', async () => {
    const { agent } = agentOver([init(), says(text('Half'))]);
    expect(await agent.execute('Go.', session())).toMatchObject({ isError: true });
  });
});
