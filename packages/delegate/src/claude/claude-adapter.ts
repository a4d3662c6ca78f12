import type { Readers } from '@cobbler/agent/input';
import { listOf, oneOf, text } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { BackendRequest, CallDecision, DelegatePermission } from '../backend/backend.ts';
import { decisionSeconds } from '../backend/call-decision.ts';
import type { CliAdapter, CliConnection } from '../cli/cli-adapter.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { fieldsOf, objectIn, textOf } from '../events/fields.ts';
import { claudeEnvironment, claudeName } from './claude-environment.ts';
import { ClaudeStream } from './claude-stream.ts';

/** Settings of Claude Code as a backend. */
export interface ClaudeSettings {
  /** A model of Claude Code, or one of its aliases. Default: Claude Code's own default. */
  readonly model?: string;
  /** Settings of the machine to read: `user`, `project`, `local`. Default: none. */
  readonly settingSources?: readonly ('user' | 'project' | 'local')[];
}

/** The readers of {@link ClaudeSettings}. */
export const claudeReaders: Readers<ClaudeSettings> = {
  model: text,
  settingSources: listOf(oneOf('user', 'project', 'local')),
};

const modes: Readonly<Record<DelegatePermission, readonly string[]>> = {
  'read-only': ['--permission-mode', 'dontAsk', '--disallowedTools', 'Edit,Write,NotebookEdit'],
  gate: ['--permission-mode', 'default', '--permission-prompt-tool', 'stdio'],
  edit: ['--permission-mode', 'acceptEdits'],
  bypass: ['--dangerously-skip-permissions'],
};

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Creates the adapter of Claude Code in its print mode, with JSON lines in both directions. */
export function claudeAdapter(permission: DelegatePermission, settings: ClaudeSettings): CliAdapter {
  const isGated = permission === 'gate';
  return {
    name: claudeName,
    program: 'claude',
    permission,
    capabilities: { tools: false, gate: isGated, steer: false, fork: false, deltas: true },
    tellsCost: true,
    ...claudeEnvironment,
    isSessionId: (id) => uuid.test(id),
    argv: (request) => argv(permission, settings, request),
    connect: (request, say) => (isGated ? new GatedConnection(request, say) : plainConnection(request)),
    isStale: (stderr) => /No conversation found/i.test(stderr),
  };
}

function argv(permission: DelegatePermission, settings: ClaudeSettings, request: BackendRequest): string[] {
  const { resumeId, systemPrompt, maxTurns, maxUsd } = request;
  const given = (flag: string, value: string | number | undefined) =>
    value === undefined ? [] : [flag, String(value)];
  return [
    '-p',
    ...['--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
    ...(permission === 'gate' ? ['--input-format', 'stream-json'] : []),
    ...modes[permission],
    ...['--setting-sources', (settings.settingSources ?? []).join(','), '--strict-mcp-config'],
    ...given('--model', settings.model),
    ...given('--resume', resumeId),
    // Without it, an appended prompt has no effect in a continued conversation.
    ...(systemPrompt === undefined
      ? []
      : ['--append-system-prompt', systemPrompt, '--system-prompt-snapshot', 'off']),
    ...given('--max-turns', maxTurns),
    ...given('--max-budget-usd', maxUsd),
  ];
}

function plainConnection({ prompt }: BackendRequest): CliConnection {
  const stream = new ClaudeStream();
  return { opening: unslashed(prompt), staysOpen: false, handle: (line) => stream.line(line) };
}

/**
 * Prevents a prompt that starts with a slash from running as a command of Claude Code, which its model would never
 * see.
 */
function unslashed(prompt: string): string {
  return prompt.trimStart().startsWith('/') ? `The task:\n${prompt}` : prompt;
}

/**
 * A connection with approvals. Claude Code asks on its standard output before each call and waits for a decision on
 * its standard input. A hook asks about every call, including reads; the permission prompt asks about calls that
 * Claude Code's own rules would deny.
 */
class GatedConnection implements CliConnection {
  readonly opening: string;
  readonly staysOpen: boolean = true;
  readonly #say: (line: string) => void;
  /** Functions that respond to the program about each waiting call. */
  readonly #waiting: Map<string, (decision: CallDecision) => void> = new Map();
  /** Decided calls. Their permission prompt gets the same decision. */
  readonly #decided: Map<string, CallDecision> = new Map();
  readonly #stream: ClaudeStream = new ClaudeStream();

  constructor({ prompt }: BackendRequest, say: (line: string) => void) {
    this.#say = say;
    const hooks = { PreToolUse: [{ matcher: null, hookCallbackIds: [hookId], timeout: decisionSeconds }] };
    const hello = { type: 'control_request', request_id: 'hello', request: { subtype: 'initialize', hooks } };
    const message = { role: 'user', content: [{ type: 'text', text: unslashed(prompt) }] };
    const userMessage = { type: 'user', session_id: '', parent_tool_use_id: null, message };
    this.opening = `${JSON.stringify(hello)}\n${JSON.stringify(userMessage)}\n`;
  }

  handle(line: string): readonly BackendEvent[] {
    const object = objectIn(line);
    if (object?.['type'] !== 'control_request') return this.#stream.line(line);
    const { subtype, tool_name: toolName, tool_use_id: id, input: given } = fieldsOf(object['request']);
    const input = fieldsOf(given);
    const respond = (response: object) => {
      const body = { subtype: 'success', request_id: textOf(object['request_id']), response };
      this.#say(JSON.stringify({ type: 'control_response', response: body }));
    };
    if (subtype === 'hook_callback') {
      const callId = textOf(id) || textOf(input['tool_use_id']);
      this.#waiting.set(callId, (decision) => respond(hookAnswer(decision)));
      return [approvalRequest(callId, input['tool_name'], input['tool_input'])];
    }
    if (subtype !== 'can_use_tool') {
      respond({});
      return [];
    }
    const callId = textOf(id);
    const answer = (decision: CallDecision) => respond(promptAnswer(decision, input));
    const decided = this.#decided.get(callId);
    if (decided === undefined) this.#waiting.set(callId, answer);
    else answer(decided);
    return decided === undefined ? [approvalRequest(callId, toolName, input)] : [];
  }

  decide(callId: string, decision: CallDecision): void {
    const answer = this.#waiting.get(callId);
    if (answer === undefined) return;
    this.#waiting.delete(callId);
    this.#decided.set(callId, decision);
    answer(decision);
  }
}

const hookId = 'each-call';

function approvalRequest(callId: string, toolName: unknown, input: unknown): BackendEvent {
  return { type: 'asked', callId, toolName: textOf(toolName), arguments: { ...fieldsOf(input) } };
}

function hookAnswer(decision: CallDecision): object {
  const hookEventName = 'PreToolUse';
  if (decision.type === 'deny') {
    const denied = { permissionDecision: 'deny', permissionDecisionReason: decision.message };
    return { hookSpecificOutput: { hookEventName, ...denied } };
  }
  const { arguments: changed } = decision;
  const allowed = { permissionDecision: 'allow', ...defined({ updatedInput: changed }) };
  return { hookSpecificOutput: { hookEventName, ...allowed } };
}

function promptAnswer(decision: CallDecision, input: object): object {
  if (decision.type === 'deny') return { behavior: 'deny', message: decision.message };
  return { behavior: 'allow', updatedInput: decision.arguments ?? input };
}
