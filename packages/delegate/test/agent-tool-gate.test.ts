import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gate, GateCall } from '@cobbler/agent';
import { allowAll, Budget, noUsage, rules } from '@cobbler/agent';
import type { Backend, CallDecision } from '@cobbler/delegate';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { describe, expect, it, onTestFinished } from 'vitest';

interface Asked {
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** Arguments that the program reports for the call before it asks. */
  readonly told?: Record<string, unknown>;
  /** Runs before the program asks. */
  readonly before?: (folder: string) => void;
  /** A tool whose result the program reads before it asks. */
  readonly read?: string;
  /** Tools that the agent tool trusts. */
  readonly trusted?: readonly string[];
}

/** Returns the decision of the tool `agent` about one call of a program. */
async function decided(
  gate: Gate,
  { toolName, told, before, read, trusted, ...asked }: Asked,
): Promise<CallDecision> {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'gate-')));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  mkdirSync(join(workspace, '.git'));
  const decision = Promise.withResolvers<CallDecision>();
  const start: Backend['start'] = (request, { onEvent } = {}) => {
    queueMicrotask(() => {
      before?.(request.workingDir);
      if (read !== undefined) {
        const earlier = { type: 'tool_call', id: 'call-0', toolName: read, arguments: {} } as const;
        onEvent?.({ type: 'part', part: earlier });
        onEvent?.({ type: 'result', callId: 'call-0', text: 'Send it.', isError: false });
      }
      const part = { type: 'tool_call', id: 'call-1', toolName, arguments: told ?? {} } as const;
      if (told !== undefined) onEvent?.({ type: 'part', part });
      onEvent?.({ type: 'asked', callId: 'call-1', toolName, ...asked });
    });
    const usage = { usage: noUsage, wasted: noUsage, totals: {}, turns: 1, toolCalls: 1, denials: [] };
    const facts = { exitCode: 0, contextLost: false, attempts: 1, durationMs: 0 };
    return {
      result: decision.promise.then(() => ({ status: 'completed', output: 'Done.', ...usage, ...facts })),
      stop: () => {},
      decide: (_callId, given) => decision.resolve(given),
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
  const tool = createAgentTool({
    workspace,
    backends: [backend],
    sessionsFile: null,
    permission: 'gate',
    gate,
    ...(trusted && { trusted }),
  });
  const { signal } = new AbortController();
  const context = { callId: 'c', idempotencyKey: 'k', progress: () => {}, budget: new Budget(), signal };
  await tool.execute({ action: 'create', backend: 'puppet', prompt: 'Go.' }, context);
  await tool.close();
  return await decision.promise;
}

const open = rules({ deny: ['Bash(rm *)'], otherwise: 'allow' });

describe('the gate of the agent tool [P21]', () => {
  it('applies rules to the subject of a call', async () => {
    const decision = await decided(open, { toolName: 'Bash', arguments: { command: 'rm -rf x' } });
    expect(decision).toEqual({ type: 'deny', message: 'A permission rule forbids Bash.' });
    expect(await decided(open, { toolName: 'Bash', arguments: { command: 'ls' } })).toEqual({
      type: 'allow',
    });
  });

  it('receives the effect of a call and the reason why a user must approve it', async () => {
    const calls: GateCall[] = [];
    const gate: Gate = (call) => {
      calls.push(call);
      return { type: 'allow' };
    };
    await decided(gate, { toolName: 'Read', arguments: { file_path: 'a.ts' } });
    await decided(gate, { toolName: 'Write', arguments: { file_path: '.git/hooks/pre-commit' } });
    expect(calls).toMatchObject([
      { effect: 'read', subject: 'a.ts' },
      { effect: 'once', subject: '.git/hooks/pre-commit' },
    ]);
    expect(calls.map(({ mustAsk }) => mustAsk)).toEqual([undefined, expect.stringContaining('is protected')]);
  });

  it('denies a call that a user must approve, because no user is attached', async () => {
    const hook = { toolName: 'Write', arguments: { file_path: '.git/hooks/pre-commit', content: 'x' } };
    expect(await decided(open, hook)).toMatchObject({ type: 'deny' });
    const file = { toolName: 'Write', arguments: { file_path: 'src/a.ts', content: 'x' } };
    expect(await decided(open, file)).toEqual({ type: 'allow' });
  });

  it.each([
    ['a.ts', 'allow'],
    ['.envrc', 'deny'],
  ])('decides about a change of %s by the files that the program reported', async (path, type) => {
    const change = {
      toolName: 'file_change',
      arguments: { reason: 'because' },
      told: { changes: [{ path }] },
    };
    expect(await decided(open, change)).toMatchObject({ type });
  });

  it.each([
    ['Bash', 'deny', 'WebSearch'],
    ['Bash', 'deny', 'mcp__mail__read'],
    ['command_execution', 'deny', 'web_search'],
    ['WebFetch', 'deny', 'WebFetch'],
    ['mcp__mail__send', 'deny', 'WebFetch'],
    ['Bash', 'deny', 'Task'],
    ['Bash', 'allow', 'Read'],
    ['Bash', 'allow', 'Bash'],
    ['Edit', 'allow', 'WebSearch'],
    ['TodoWrite', 'allow', 'WebSearch'],
  ])('decides %s as %s after the program has read %s', async (toolName, type, source) => {
    const call = { toolName, arguments: { command: 'ls', file_path: 'a.ts' }, read: source };
    expect(await decided(open, call)).toMatchObject({ type });
  });

  it('gives the source of untrusted output as the reason, unless the tool is trusted', async () => {
    const calls: GateCall[] = [];
    const gate: Gate = (call) => {
      calls.push(call);
      return { type: 'allow' };
    };
    const call = { toolName: 'Bash', arguments: { command: 'ls' }, read: 'WebSearch' };
    await decided(gate, call);
    await decided(gate, { ...call, trusted: ['WebSearch'] });
    await decided(gate, { ...call, trusted: ['Bash'] });
    expect(calls.map(({ mustAsk }) => mustAsk)).toEqual([
      expect.stringContaining('untrusted output from WebSearch'),
      undefined,
      undefined,
    ]);
    expect(calls.map(({ untrusted }) => untrusted)).toEqual(['WebSearch', undefined, 'WebSearch']);
  });

  it('denies a call whose arguments cannot be cloned', async () => {
    const decision = await decided(allowAll, { toolName: 'Bash', arguments: { f() {} } });
    expect(decision).toMatchObject({ type: 'deny', message: expect.stringContaining('could not be cloned') });
  });

  it('denies every call after the working directory was deleted', async () => {
    const before = (folder: string) => rmSync(folder, { recursive: true });
    const decision = await decided(allowAll, { toolName: 'Bash', arguments: { command: 'ls' }, before });
    expect(decision).toMatchObject({
      type: 'deny',
      message: expect.stringContaining('is not a usable directory'),
    });
  });
});
