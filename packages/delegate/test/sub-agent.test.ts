import { tmpdir } from 'node:os';
import type { Event, ExecutorOptions, RunEvent, Tool } from '@cobbler/agent';
import { Budget, defineTool, Executor, memoryStore } from '@cobbler/agent';
import type { ScriptStep } from '@cobbler/agent/testing';
import { scriptedAgent } from '@cobbler/agent/testing';
import type { Backend } from '@cobbler/delegate';
import { createAgentTool, subAgent } from '@cobbler/delegate/agent-tool';
import { describe, expect, it } from 'vitest';

const parameters = { type: 'object' };
const ran: string[] = [];

function toolNamed(name: string, rest: Partial<Tool> = {}): Tool {
  const execute = () => ran.push(name) && `output of ${name}`;
  return defineTool({ name, description: '', parameters, execute, ...rest });
}

/** Returns an agent tool with one sub-agent, whose model says this. */
function toolWith(steps: readonly ScriptStep[], options: Partial<ExecutorOptions> = {}, asks = true) {
  const store = memoryStore();
  const model = scriptedAgent([...steps]);
  const make = () => new Executor({ agent: model, store, attended: true, ...options });
  const backends = [subAgent({ name: 'helper', executor: make })];
  return createAgentTool({ workspace: tmpdir(), backends, sessionsFile: null, asks });
}

interface Ran {
  readonly tool: Tool;
  readonly args?: readonly object[];
  readonly onEvent?: (event: RunEvent) => void;
  readonly limits?: ExecutorOptions['limits'];
}

/** Returns a run whose model makes these calls of the agent tool, one per response. */
function runOf({ tool, args = [{ action: 'create', backend: 'helper', prompt: 'Go.' }], ...rest }: Ran) {
  const steps = args.map((given) => ({ calls: [{ name: 'agent', arguments: { ...given } }] }));
  const { limits = {}, onEvent } = rest;
  const executor = new Executor({ agent: scriptedAgent([...steps, 'Done.']), tools: [tool], limits });
  return executor.run('Delegate.', { ...(onEvent && { onEvent }) });
}

const call = (name: string): ScriptStep => ({ calls: [{ name, arguments: { path: 'a' } }] });
const report = (event: RunEvent | undefined) =>
  event?.type === 'tool_result' && event.content[0]?.type === 'text'
    ? JSON.parse(event.content[0].text)
    : undefined;

async function ended(run: ReturnType<typeof runOf>, events: readonly RunEvent[]) {
  const result = await run.result;
  return { result, report: report(events.find(({ type }) => type === 'tool_result')) };
}

describe('a sub-agent as a backend of the agent tool', () => {
  it.each([
    ['allow', ['inner']],
    ['deny', []],
  ] as const)(
    'asks the user of the run about its calls, and names itself: %s',
    async (decision, expected) => {
      ran.length = 0;
      const events: RunEvent[] = [];
      const gate = () => 'ask' as const;
      const tool = toolWith([call('inner'), 'Fine.'], { gate, tools: [toolNamed('inner')] });
      const run = runOf({
        tool,
        onEvent: (event) => {
          events.push(event);
          if (event.type === 'approval_requested')
            queueMicrotask(() => run.decide(event.approvalId, { decision }));
        },
      });
      const { result, report } = await ended(run, events);
      expect([result.status, ran, report.result]).toEqual(['complete', expected, 'Fine.']);
      expect(events.find(({ type }) => type === 'approval_requested')).toMatchObject({
        ...{ toolName: 'inner', arguments: { path: 'a' }, summary: 'for helper' },
      });
    },
  );

  it('records its responses and calls as steps of the call, and marks those that failed', async () => {
    const fails = toolNamed('inner', {
      execute: () => {
        throw new Error('No.');
      },
    });
    const tool = toolWith([call('inner'), 'Fine.\nAll of it.'], { tools: [fails] });
    const events: RunEvent[] = [];
    await runOf({ tool, onEvent: (event) => events.push(event) }).result;
    expect(events.filter(({ type }) => type === 'step')).toMatchObject([
      { toolName: 'agent', called: 'inner', text: 'a' },
      { called: 'inner', text: 'a', isError: true },
      { text: 'Fine.\nAll of it.' },
    ]);
  });

  it('takes what the model sets for the session: the maximum number of responses, and instructions', async () => {
    const events: RunEvent[] = [];
    const more = { max_turns: 1, system_prompt: 'Be brief.' };
    const tool = toolWith([call('inner'), 'Fine.'], { tools: [toolNamed('inner')] });
    const run = runOf({
      ...{ tool, args: [{ action: 'create', backend: 'helper', prompt: 'Go.', ...more }] },
      onEvent: (event) => events.push(event),
    });
    expect((await ended(run, events)).report.status).not.toBe('completed');
    const prompts: unknown[] = [];
    const agent = scriptedAgent([
      ({ messages }) => {
        prompts.push(messages[0]?.content);
        return 'Fine.';
      },
    ]);
    await runOf({
      tool: toolWith([], { agent }),
      args: [{ action: 'create', backend: 'helper', prompt: 'Go.', ...more }],
    }).result;
    expect(prompts).toEqual([[{ type: 'text', text: 'Be brief.\n\nGo.' }]]);
  });

  it('denies a call if the question about it fails', async () => {
    ran.length = 0;
    const tool = toolWith([call('inner'), 'Fine.'], {
      gate: () => 'ask' as const,
      tools: [toolNamed('inner')],
    });
    const ask = () => Promise.reject(new Error('no line'));
    const context = { ask, budget: new Budget({}), signal: new AbortController().signal, progress: () => {} };
    const given = { action: 'create', backend: 'helper', prompt: 'Go.' };
    expect(JSON.stringify(await tool.execute(given, context as never))).toContain('Fine.');
    expect(ran).toEqual([]);
  });

  it('denies what would need a user if none can be asked', async () => {
    ran.length = 0;
    const events: RunEvent[] = [];
    const inner = { gate: () => 'ask' as const, tools: [toolNamed('inner')] };
    const run = runOf({
      tool: toolWith([call('inner'), 'Fine.'], inner, false),
      onEvent: (e) => events.push(e),
    });
    expect((await ended(run, events)).report.result).toBe('Fine.');
    expect([ran, events.filter(({ type }) => type === 'approval_requested')]).toEqual([[], []]);
  });

  it('is charged request by request, inside the limits of the run', async () => {
    const events: RunEvent[] = [];
    const usage = { inputTokens: 3000, outputTokens: 100 };
    const steps = Array.from({ length: 9 }, () => ({ ...(call('inner') as object), usage }));
    const tool = toolWith(steps, {
      tools: [toolNamed('inner', { effect: 'read' })],
      limits: { repeats: 99 },
    });
    const run = runOf({ tool, limits: { tokens: 20_000 }, onEvent: (event) => events.push(event) });
    const { result, report } = await ended(run, events);
    expect(events.filter(({ type }) => type === 'spent').length).toBeGreaterThan(1);
    expect(report).toMatchObject({ status: 'failed', result: expect.stringContaining('limit') });
    const { totalInputTokens, totalOutputTokens } = result.metrics;
    expect(totalInputTokens + totalOutputTokens).toBeLessThanOrEqual(20_000);
  });

  it('ends with the run that is cancelled', async () => {
    let aborted = false;
    const slow = toolNamed('slow', {
      execute: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        run.cancel();
        return new Promise(() => {});
      },
    });
    const run = runOf({ tool: toolWith([call('slow'), 'Late.'], { tools: [slow] }) });
    expect((await run.result).status).toBe('cancelled');
    expect(aborted).toBe(true);
  });

  it('marks its result if it has read what other people wrote, and continues a conversation', async () => {
    const events: Event[] = [];
    const tool = toolWith(['Clean.', call('web'), 'From the web.', ({ messages }) => `${messages.length}`], {
      tools: [toolNamed('web', { effect: 'read', untrusted: true })],
    });
    const send = { action: 'send', session_id: 'as-1', prompt: 'And?' };
    const create = { action: 'create', backend: 'helper', prompt: 'Go.' };
    const outputs: unknown[] = [];
    const watched: Tool = {
      ...tool,
      untrusted: false,
      execute: async (args, context) => {
        const output = await tool.execute(args, context);
        outputs.push((output as { untrusted?: boolean }).untrusted);
        return output;
      },
    };
    const run = runOf({ tool: watched, args: [create, send, send], onEvent: (e) => events.push(e as Event) });
    await run.result;
    expect(outputs).toEqual([undefined, true, true]);
    const [, , last] = events.filter(({ type }) => type === 'tool_result');
    // Three prompts, a call with its result, and two responses.
    expect(report(last)).toMatchObject({ result: '7' });
  });

  it('reports why it could not start', async () => {
    const events: RunEvent[] = [];
    const executor = () => Promise.reject(new Error('There is no such model.'));
    const backends = [subAgent({ name: 'helper', executor })];
    const tool = createAgentTool({ workspace: tmpdir(), backends, sessionsFile: null });
    const { report } = await ended(runOf({ tool, onEvent: (event) => events.push(event) }), events);
    expect(report).toMatchObject({ status: 'failed', result: 'There is no such model.' });
  });
});

describe('a program of the agent tool', () => {
  it.each([
    ['allow', { type: 'allow' }],
    ['deny', { type: 'deny', message: 'A person denied this call.' }],
  ] as const)('asks the user of the run about its calls: %s', async (decision, expected) => {
    const decided: unknown[] = [];
    const start: Backend['start'] = (_, { onEvent } = {}) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const input = { command: 'make' };
      queueMicrotask(() => onEvent?.({ type: 'asked', callId: 'c1', toolName: 'Bash', arguments: input }));
      const usage = { inputTokens: 0, outputTokens: 0 };
      const facts = { exitCode: 0, contextLost: false, attempts: 1, durationMs: 0, denials: [], totals: {} };
      return {
        result: promise.then(() => {
          return { status: 'completed', output: '', usage, wasted: usage, turns: 1, toolCalls: 1, ...facts };
        }),
        stop: () => {},
        decide: (_id, given) => {
          decided.push(given);
          resolve();
        },
        steer: () => false,
      };
    };
    const backend: Backend = {
      name: 'puppet',
      capabilities: { tools: false, gate: true, steer: false, fork: false, deltas: false },
      tellsCost: true,
      problem: () => undefined,
      run: (request, context) => start(request, context).result,
      start,
    };
    const gated = { permission: 'gate', gate: () => 'ask' as const, sessionsFile: null, asks: true } as const;
    const tool = createAgentTool({ workspace: tmpdir(), backends: [backend], ...gated });
    const run = runOf({
      tool,
      args: [{ action: 'create', backend: 'puppet', prompt: 'Go.' }],
      onEvent: (event) => {
        if (event.type !== 'approval_requested') return;
        expect(event).toMatchObject({ toolName: 'Bash', subject: 'make', summary: 'for puppet' });
        queueMicrotask(() => run.decide(event.approvalId, { decision }));
      },
    });
    await run.result;
    expect(decided).toEqual([expected]);
  });
});
