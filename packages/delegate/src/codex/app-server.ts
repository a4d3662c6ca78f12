import type { ErrorData } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { BackendRequest, CallDecision, DelegatePermission } from '../backend/backend.ts';
import type { CliAdapter, CliConnection } from '../cli/cli-adapter.ts';
import type { BackendEvent, End } from '../events/backend-event.ts';
import { failureOf } from '../events/failure.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, holdsData, numberOf, objectIn, textOf } from '../events/fields.ts';
import { malformedEnd, TurnEnd, unreadable } from '../events/garbled.ts';
import type { CodexSettings } from './codex-adapter.ts';
import { codexBasics, configArguments } from './codex-adapter.ts';
import { codexName, failedEnd, usageOf } from './codex-line.ts';
import { CodexItems } from './codex-stream.ts';

/**
 * Creates the adapter of Codex as a server on its standard streams, with streamed text, approvals and messages during
 * a task.
 */
export function appServerAdapter(permission: DelegatePermission, settings: CodexSettings): CliAdapter {
  return {
    ...codexBasics(permission, settings),
    capabilities: { tools: false, gate: permission === 'gate', steer: true, fork: false, deltas: true },
    argv: (_request, address) => ['app-server', ...configArguments(settings, address)],
    connect: (request, say) => new AppServerConnection(request, permission, say),
    isStale: () => false,
  };
}

const policies: Readonly<Record<DelegatePermission, { approvalPolicy: string; sandbox: string }>> = {
  'read-only': { approvalPolicy: 'never', sandbox: 'read-only' },
  gate: { approvalPolicy: 'untrusted', sandbox: 'workspace-write' },
  edit: { approvalPolicy: 'never', sandbox: 'workspace-write' },
  bypass: { approvalPolicy: 'never', sandbox: 'danger-full-access' },
};

/** Ids of requests, by which responses are recognized. */
const ids = { hello: 1, thread: 2, turn: 3 } as const;

/** A connection for one thread with one turn, using JSON-RPC in lines. */
class AppServerConnection implements CliConnection {
  readonly opening: string;
  readonly staysOpen: boolean = true;
  readonly #request: BackendRequest;
  readonly #say: (line: string) => void;
  readonly #policy: { approvalPolicy: string; sandbox: string };
  /** Waiting approvals: the request id of each call. */
  readonly #waiting: Map<string, unknown> = new Map();
  /** The arguments of each call as reported, serialized to JSON. */
  readonly #reported: Map<string, string[]> = new Map();
  readonly #items: CodexItems = new CodexItems();
  readonly #end: TurnEnd = new TurnEnd();
  #calls = 10;
  #threadId = '';
  #turnId = '';
  #total: End['totalUsage'];

  constructor(request: BackendRequest, permission: DelegatePermission, say: (line: string) => void) {
    this.#request = request;
    this.#say = say;
    this.#policy = policies[permission];
    const clientInfo = { name: 'cobbler', title: null, version: '0' };
    const hello = { id: ids.hello, method: 'initialize', params: { clientInfo, capabilities: null } };
    const { resumeId, workingDir: cwd, systemPrompt } = request;
    const params = {
      cwd,
      ...this.#policy,
      ...defined({ developerInstructions: systemPrompt }),
      ...(resumeId !== undefined && { threadId: resumeId, excludeTurns: true }),
    };
    const thread = {
      id: ids.thread,
      method: resumeId === undefined ? 'thread/start' : 'thread/resume',
      params,
    };
    this.opening = [hello, { method: 'initialized' }, thread]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join('');
  }

  handle(line: string): readonly BackendEvent[] {
    const message = objectIn(line);
    if (message === undefined) return unreadable(codexName, line);
    const { id, method } = message;
    const params = fieldsOf(message['params']);
    if (typeof method !== 'string' && (method !== undefined || id === undefined) && holdsData(message))
      return [malformedEnd(codexName, 'a message has no method')];
    if (typeof method !== 'string') return this.#answer(message);
    return id === undefined ? this.#notice(method, params) : this.#approvalEvents(id, method, params);
  }

  decide(callId: string, decision: CallDecision): void {
    if (!this.#waiting.has(callId)) return;
    const id = this.#waiting.get(callId);
    this.#waiting.delete(callId);
    const isAsItCame = decision.type === 'allow' && this.#isReported(callId, decision.arguments);
    this.#send({ id, result: { decision: isAsItCame ? 'accept' : 'decline' } });
  }

  steer(text: string): boolean {
    if (this.#turnId === '') return false;
    const params = { threadId: this.#threadId, input: inputOf(text), expectedTurnId: this.#turnId };
    this.#call('turn/steer', params);
    return true;
  }

  interrupt(): void {
    if (this.#turnId !== '') this.#call('turn/interrupt', { threadId: this.#threadId, turnId: this.#turnId });
  }

  /** Returns true if the arguments match those reported, because Codex cannot run a call with different ones. */
  #isReported(callId: string, given: Readonly<Record<string, unknown>> | undefined): boolean {
    const wanted = JSON.stringify(given);
    return given === undefined || (this.#reported.get(callId) ?? []).includes(wanted);
  }

  #answer(message: Fields): readonly BackendEvent[] {
    const error = fieldsOf(message['error']);
    const text = textOf(error['message']);
    if (
      message['error'] !== undefined &&
      message['id'] === ids.thread &&
      this.#request.resumeId !== undefined
    ) {
      const stale = numberOf(error['code']) === -32600 || /no rollout found|not found/i.test(text);
      return [{ ...failedEnd(text), ...(stale && { stale: true }) }];
    }
    if (message['error'] !== undefined) return Number(message['id']) < 10 ? [failedEnd(text)] : [];
    const result = fieldsOf(message['result']);
    if (message['id'] === ids.turn) this.#turnId = textOf(fieldsOf(result['turn'])['id']);
    if (message['id'] !== ids.thread) return [];
    this.#threadId = textOf(fieldsOf(result['thread'])['id']);
    const params = { threadId: this.#threadId, input: inputOf(this.#request.prompt) };
    this.#send({ id: ids.turn, method: 'turn/start', params });
    const model = textOf(result['model']);
    return [{ type: 'session', id: this.#threadId, ...(model !== '' && { model }) }];
  }

  #notice(method: string, params: Fields): readonly BackendEvent[] {
    if (this.#end.isNextTurn(method === 'turn/started')) return [];
    const problem = this.#end.problem(method.startsWith('item/'));
    if (problem !== undefined) return [malformedEnd(codexName, problem)];
    switch (method) {
      case 'turn/started':
        this.#turnId = textOf(fieldsOf(params['turn'])['id']);
        return [];
      case 'item/agentMessage/delta':
        return this.#chunk('text', params);
      case 'item/reasoning/summaryTextDelta':
        return this.#chunk('reasoning', params);
      case 'item/started':
        return this.#tell(this.#items.read(fieldsOf(params['item']), false));
      case 'item/completed':
        return this.#items.read(fieldsOf(params['item']), true);
      case 'thread/tokenUsage/updated':
        return this.#usageEvents(fieldsOf(params['tokenUsage']));
      case 'error':
        return [{ type: 'notice', text: textOf(fieldsOf(params['error'])['message']) }];
      case 'turn/completed':
        this.#end.isOver = true;
        return [this.#turnEnd(fieldsOf(params['turn']))];
      default:
        return [];
    }
  }

  #chunk(of: 'text' | 'reasoning', params: Fields): readonly BackendEvent[] {
    const text = textOf(params['delta']);
    if (typeof params['delta'] !== 'string' || typeof params['itemId'] !== 'string')
      return [malformedEnd(codexName, 'a chunk cannot be read')];
    const problem = this.#items.chunk(textOf(params['itemId']), text);
    return problem === undefined ? [{ type: 'delta', of, text }] : [malformedEnd(codexName, problem)];
  }

  #usageEvents(usage: Fields): readonly BackendEvent[] {
    this.#total = usageOf(fieldsOf(usage['total']));
    // Resuming a thread reports its earlier usage.
    if (this.#turnId === '') return [];
    return [{ type: 'answered', usage: usageOf(fieldsOf(usage['last'])) }];
  }

  #approvalEvents(id: unknown, method: string, params: Fields): readonly BackendEvent[] {
    const callId = textOf(params['itemId']);
    const toolName = {
      'item/commandExecution/requestApproval': 'command_execution',
      'item/fileChange/requestApproval': 'file_change',
    }[method];
    if (toolName === undefined || this.#policy.approvalPolicy === 'never') {
      const error = { code: -32601, message: 'No user can be asked.' };
      this.#send(toolName === undefined ? { id, error } : { id, result: { decision: 'decline' } });
      return [];
    }
    this.#waiting.set(callId, id);
    const { command, cwd, reason } = params;
    const given = Object.entries({ command, cwd, reason }).filter(([, value]) => typeof value === 'string');
    return this.#tell([{ type: 'asked', callId, toolName, arguments: Object.fromEntries(given) }]);
  }

  #tell(events: readonly BackendEvent[]): readonly BackendEvent[] {
    for (const one of events) {
      if (one.type === 'asked') this.#note(one.callId, one.arguments);
      if (one.type === 'part' && one.part.type === 'tool_call') this.#note(one.part.id, one.part.arguments);
    }
    return events;
  }

  #note(callId: string, given: Readonly<Record<string, unknown>>): void {
    this.#reported.set(callId, [...(this.#reported.get(callId) ?? []), JSON.stringify(given)]);
  }

  #turnEnd(turn: Fields): End {
    return { ...this.#endOf(turn), ...defined({ totalUsage: this.#total }) };
  }

  #endOf({ status, error: given }: Fields): End {
    if (status === 'completed') {
      const isTorn = this.#threadId === '' || this.#turnId === '';
      const problem = isTorn ? 'the start of its turn is missing' : this.#items.missingAtEnd();
      return problem === undefined ? { type: 'end', ok: true } : malformedEnd(codexName, problem);
    }
    if (status === 'interrupted') {
      const message = 'Codex was interrupted.';
      const error: ErrorData = { kind: 'aborted', code: 'cancelled', message, provider: codexName };
      return { type: 'end', ok: false, error };
    }
    const error = fieldsOf(given);
    const message = textOf(error['message']);
    return { ...failedEnd(message), ...classOf(error['codexErrorInfo'], message) };
  }

  #call(method: string, params: object): void {
    this.#calls += 1;
    this.#send({ id: this.#calls, method, params });
  }

  #send(message: object): void {
    this.#say(JSON.stringify(message));
  }
}

function inputOf(text: string): readonly object[] {
  return [{ type: 'text', text, text_elements: [] }];
}

const classes: Readonly<Record<string, Pick<ErrorData, 'kind' | 'retryable' | 'code'>>> = {
  contextWindowExceeded: { kind: 'invalid', code: 'context_full' },
  sessionBudgetExceeded: { kind: 'limit', code: 'tokens' },
  usageLimitExceeded: { kind: 'rate_limit', code: 'rate_limited' },
  rateLimitExceeded: { kind: 'rate_limit', code: 'rate_limited', retryable: true },
  serverOverloaded: { kind: 'rate_limit', code: 'rate_limited', retryable: true },
  internalServerError: { kind: 'agent', code: 'service_failed', retryable: true },
  unauthorized: { kind: 'auth', code: 'key_refused' },
  badRequest: { kind: 'invalid', code: 'request_refused' },
  modelNotFound: { kind: 'invalid', code: 'not_served' },
};

/** Returns the error for Codex's class of a failure. For an unknown class, the message determines the error. */
function classOf(info: unknown, message: string): { error?: ErrorData } {
  const provider = codexName;
  if (typeof info === 'string') {
    const known = classes[info];
    return known === undefined ? {} : { error: { ...known, message, provider } };
  }
  const [detail] = Object.values(fieldsOf(info));
  const status = numberOf(fieldsOf(detail)['httpStatusCode']);
  return status === undefined ? {} : { error: failureOf({ message, status }, provider) };
}
