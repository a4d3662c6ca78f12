import type { Gate, Tool } from '@cobbler/agent';
import { Budget, noUsage } from '@cobbler/agent';
import { createHarness, readVerdict } from '@cobbler/agent/harness';
import { scriptedAgent } from '@cobbler/agent/testing';
import type { GateDoor } from '@cobbler/conformance';
import type { Backend, ExecuteCallbacks, SessionAgent } from '@cobbler/delegate';
import { agentResponse, buildEngine, delegatedHarness, toSessionAgent } from '@cobbler/delegate';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { ClaudeCodeAgent } from '@cobbler/delegate/claude-code-agent';
import { readDecision } from '../src/backend/call-decision.ts';
import { claudeAdapter } from '../src/claude/claude-adapter.ts';
import type { CliAdapter, CliConnection } from '../src/cli/cli-adapter.ts';
import { appServerAdapter } from '../src/codex/app-server.ts';
import type { Step } from './fake-sdk.ts';
import { ends, fakeSdk, hooked, init } from './fake-sdk.ts';

type Decide = Parameters<GateDoor['pass']>[0];
type Ran = Record<string, unknown> | undefined;

const call = { command: 'date', options: { utc: true } } as const;
const given = () => structuredClone(call) as Record<string, unknown>;
const folder = import.meta.dirname;
const session = { sessionId: 's', workingDirectory: folder };

const callbacks = (decide: Decide): ExecuteCallbacks => ({
  canUseTool: ((_name: string, input: Record<string, unknown>) => decide(input)) as NonNullable<
    ExecuteCallbacks['canUseTool']
  >,
});
const gateOf = (decide: Decide) => ((asked) => decide(asked.arguments)) as Gate;

function door(name: string, pass: (decide: Decide) => Promise<Ran>, rest: Partial<GateDoor> = {}): GateDoor {
  return { name, call, takesChanges: true, pass, ...rest };
}

/** Makes the Agent SDK ask about one call, through its hook or its permission prompt. */
async function atSdk(
  decide: Decide,
  ask: (...given: Parameters<Extract<Step, (...args: never) => unknown>>) => Promise<Ran>,
): Promise<Ran> {
  let ran: Ran;
  const sdk = fakeSdk([
    init(),
    async (options, control) => {
      ran = await ask(options, control);
    },
    ends(),
  ]);
  await new ClaudeCodeAgent({ sandbox: 'off', sdk }).execute('Go.', { ...session }, callbacks(decide));
  return ran;
}

interface HookOutput {
  readonly hookSpecificOutput?: { readonly permissionDecision?: string; readonly updatedInput?: Ran };
}

/** A conversation with one of the two programs, played in memory. */
interface Played {
  readonly adapter: CliAdapter;
  /** True if Claude Code asks through its permission prompt instead of its hook. */
  readonly byPrompt?: boolean;
}

/** Returns a backend whose program makes one call, over the real adapter of its protocol. */
function program({ adapter, byPrompt = false }: Played): { readonly backend: Backend; readonly ran: Ran[] } {
  const ran: Ran[] = [];
  const start: Backend['start'] = (request, { onEvent } = {}) => {
    const over = Promise.withResolvers<undefined>();
    const hear = (message: object) => {
      for (const event of talk.handle(JSON.stringify(message))) onEvent?.(event);
    };
    const talk: CliConnection = adapter.connect(request, (line) => {
      const next = played(JSON.parse(line), ran, byPrompt);
      queueMicrotask(() => {
        for (const message of next) hear(message);
        if (next.length > 0 && !isQuestion(next.at(-1))) over.resolve(undefined);
      });
    });
    queueMicrotask(() => {
      for (const message of opening(adapter.name, byPrompt)) hear(message);
    });
    const usage = { usage: noUsage, wasted: noUsage, totals: {}, turns: 1, toolCalls: 1, denials: [] };
    const facts = { exitCode: 0, contextLost: false, attempts: 1, durationMs: 0 };
    return {
      result: over.promise.then(() => ({ status: 'completed', output: 'Done.', ...usage, ...facts })),
      stop: () => over.resolve(undefined),
      decide: (callId, decision) => talk.decide?.(callId, readDecision(decision)),
      steer: () => false,
    };
  };
  const { name, capabilities, tellsCost } = adapter;
  const run: Backend['run'] = (request, context) => start(request, context).result;
  return { ran, backend: { name, capabilities, tellsCost, problem: () => undefined, run, start } };
}

const isQuestion = (message: object | undefined) =>
  message !== undefined && 'method' in message && message.method === 'turn/started';

const codexItem = { id: 'call-1', type: 'commandExecution', command: call.command };

/** Returns the messages of a program until it waits for a decision. */
function opening(name: string, byPrompt: boolean): object[] {
  if (name !== 'claude-code') return [{ id: 2, result: { thread: { id: 't' } } }];
  const use = { type: 'tool_use', id: 'call-1', name: 'Bash', input: given() };
  const input = { tool_name: 'Bash', tool_input: given(), tool_use_id: 'call-1' };
  const request = byPrompt
    ? { subtype: 'can_use_tool', tool_name: 'Bash', input: given(), tool_use_id: 'call-1' }
    : { subtype: 'hook_callback', callback_id: 'each-call', tool_use_id: 'call-1', input };
  return [
    { type: 'system', subtype: 'init', session_id: 's', model: 'm' },
    { type: 'assistant', message: { id: 'm1', role: 'assistant', content: [use] } },
    {
      type: 'stream_event',
      event: { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    },
    { type: 'stream_event', event: { type: 'message_stop' } },
    { type: 'control_request', request_id: 'r1', request },
  ];
}

/** Returns the reply of a program to a message, and records the arguments of an allowed call. */
function played(said: Record<string, unknown>, ran: Ran[], byPrompt: boolean): object[] {
  if (said['type'] === 'control_response') {
    const { response } = said['response'] as {
      response: HookOutput & { behavior?: string; updatedInput?: Ran };
    };
    const { permissionDecision, updatedInput } = response.hookSpecificOutput ?? {};
    const isAllowed = byPrompt ? response.behavior === 'allow' : permissionDecision !== 'deny';
    if (isAllowed) ran.push((byPrompt ? response.updatedInput : updatedInput) ?? given());
    const result = { type: 'tool_result', tool_use_id: 'call-1', content: 'ok' };
    return [{ type: 'user', message: { role: 'user', content: [result] } }, ends()];
  }
  if (said['method'] === 'turn/start') {
    return [
      { id: 3, result: { turn: { id: 'turn-1' } } },
      { method: 'item/started', params: { item: { ...codexItem, status: 'inProgress' } } },
      {
        id: 'a',
        method: 'item/commandExecution/requestApproval',
        params: { itemId: 'call-1', command: call.command, cwd: '/' },
      },
      { method: 'turn/started', params: { turn: { id: 'turn-1' } } },
    ];
  }
  if (said['id'] !== 'a') return [];
  const isAllowed = (said['result'] as { decision: string }).decision === 'accept';
  if (isAllowed) ran.push({ command: call.command });
  const status = isAllowed ? 'completed' : 'declined';
  return [
    {
      method: 'item/completed',
      params: { item: { ...codexItem, status, aggregatedOutput: 'ok', exitCode: 0 } },
    },
    { method: 'thread/tokenUsage/updated', params: { tokenUsage: { total: {}, last: {} } } },
    { method: 'turn/completed', params: { turn: { id: 'turn-1', status: 'completed', error: null } } },
  ];
}

const codexCall = { call: { command: call.command }, takesChanges: false };

const programs: readonly (readonly [string, Played, Partial<GateDoor>])[] = [
  ['Claude Code over stdio', { adapter: claudeAdapter('gate', {}) }, {}],
  [
    'the permission prompt of Claude Code over stdio',
    { adapter: claudeAdapter('gate', {}), byPrompt: true },
    {},
  ],
  ['Codex', { adapter: appServerAdapter('gate', {}) }, codexCall],
];

async function byTool(played: Played, decide: Decide): Promise<Ran> {
  const { backend, ran } = program(played);
  const tool = createAgentTool({
    workspace: folder,
    backends: [backend],
    sessionsFile: null,
    permission: 'gate',
    gate: gateOf(decide),
  });
  const context = { callId: 'c', idempotencyKey: 'k', progress: () => {}, budget: new Budget() };
  const args = { action: 'create', backend: backend.name, prompt: 'Go.' };
  await tool.execute(args, { ...context, signal: new AbortController().signal });
  await tool.close();
  return ran[0];
}

async function byHarness(played: Played, decide: Decide): Promise<Ran> {
  const { backend, ran } = program(played);
  const harness = delegatedHarness({ backend, workingDir: folder, gate: gateOf(decide) });
  await harness.prompt('Go.');
  await harness.close();
  return ran[0];
}

function runner(): { readonly tool: Tool; readonly ran: Ran[] } {
  const ran: Ran[] = [];
  const execute = (args: Record<string, unknown>) => {
    ran.push(structuredClone(args));
    return 'done';
  };
  return { ran, tool: { name: 'run', description: 'Runs.', parameters: { type: 'object' }, execute } };
}

const scripted = () => scriptedAgent([{ calls: [{ name: 'run', arguments: given() }] }, 'Done.']);

async function bySessionAgent(make: (tool: Tool) => SessionAgent, decide: Decide): Promise<Ran> {
  const { tool, ran } = runner();
  const agent = make(tool);
  await agent.execute('Go.', { ...session }, callbacks(decide));
  await agent.shutdown();
  return ran[0];
}

/** The places where a delegated program calls a gate. */
export const delegatedDoors: readonly GateDoor[] = [
  door('the hook of the Agent SDK', (decide) =>
    atSdk(decide, async (options) => {
      const { hookSpecificOutput: output }: HookOutput = await hooked(options, 'call-1', 'Bash', given());
      return output?.permissionDecision === 'deny' ? undefined : (output?.updatedInput ?? given());
    }),
  ),
  door('the prompt of the Agent SDK', (decide) =>
    atSdk(decide, async (options) => {
      const context = { signal: new AbortController().signal, toolUseID: 'call-1' } as never;
      const answer = await options.canUseTool?.('Bash', given(), context);
      return answer?.behavior === 'allow' ? (answer.updatedInput ?? given()) : undefined;
    }),
  ),
  ...programs.map(([name, played, rest]) =>
    door(`${name} behind the tool agent`, (decide) => byTool(played, decide), rest),
  ),
  ...programs.map(([name, played, rest]) =>
    door(`${name} as a conversation`, (decide) => byHarness(played, decide), rest),
  ),
  door('a session agent', (decide) =>
    bySessionAgent(
      (tool) => toSessionAgent((_session, gate) => createHarness({ agent: scripted(), tools: [tool], gate })),
      decide,
    ),
  ),
  door(
    'a session agent over a conversation that asks',
    (decide) =>
      bySessionAgent(
        (tool) =>
          toSessionAgent(createHarness({ agent: scripted(), tools: [tool], gate: () => ({ type: 'ask' }) })),
        decide,
      ),
    // The user approves the call as requested, so its arguments cannot change.
    { takesChanges: false },
  ),
  door('an engine over a session agent', async (decide) => {
    let ran: Ran;
    const agent: SessionAgent = {
      async execute(_prompt, _session, { canUseTool } = {}) {
        const { signal } = new AbortController();
        const verdict = readVerdict(await canUseTool?.('Bash', given(), { signal, callId: 'call-1' }));
        if (verdict.type === 'allow') ran = verdict.arguments ?? given();
        return agentResponse({ content: 'Done.' });
      },
      cancel: async () => {},
      shutdown: async () => {},
    };
    const engine = buildEngine(agent, { gate: gateOf(decide) });
    await engine.prompt('Go.');
    await engine.close();
    return ran;
  }),
];
