import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  AgentContext,
  ContentBlock,
  PromptResponse,
  RequestPermissionRequest,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { RequestError } from '@agentclientprotocol/sdk';
import type { ApprovalDecision, Event, Run, RunEvent, RunResult, UserPart } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { ignore } from '@cobbler/agent/events';
import type { Harness } from '@cobbler/agent/harness';
import { assertNever, defined } from '@cobbler/agent/values';
import { isFile } from '../chat/input/references.ts';
import type { LocalHost } from '../chat/local-host.ts';
import { partOf, readAttachment } from '../config/attachment.ts';
import { ruledCall } from '../permissions/permission-rule.ts';
import { expandLine } from '../project/definitions.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { failureOf } from '../view/failure.ts';
import { approvalContent, choiceOf, permissionOptions } from './approval.ts';
import type { UpdateView } from './session-updates.ts';
import { SessionUpdates } from './session-updates.ts';
import { callFacts, callId } from './tool-view.ts';

/** Options of a conversation with an editor. */
export interface AcpSessionParts {
  readonly host: LocalHost;
  /** The editor. */
  readonly client: AgentContext;
  /** A stored session to continue. Default: a new one. */
  readonly sessionId?: string;
  /** Writes a line to the editor's log. */
  readonly report: (line: string) => void;
}

/**
 * One conversation with an editor. It sends prompts to the harness and converts the harness's events to updates for
 * the editor. It contains no loop of its own.
 */
export class AcpSession {
  readonly #parts: AcpSessionParts;
  readonly #harness: Harness;
  /** The approval requests that are open in the editor, by approval id. */
  readonly #questions = new Map<string, AbortController>();
  readonly #updates = new SessionUpdates();
  #run: Run | undefined;
  /** Resolves when all updates so far have been sent to the editor. */
  #sent: Promise<unknown> = Promise.resolve();

  constructor(parts: AcpSessionParts) {
    const { host, sessionId, report } = parts;
    this.#parts = parts;
    this.#harness = host.open(sessionId, {
      handler: { onEvent: (event) => this.#handle(event) },
      onLost: report,
      onBack: () => undefined,
      onNotice: report,
      onTrouble: report,
    });
  }

  get id(): string {
    return this.#harness.sessionId;
  }

  /** Tells the editor which commands a prompt can begin with. */
  announce(): void {
    const availableCommands = this.#parts.host.local.commands.map(
      ({ name, description, argumentHint: hint }) => ({
        name,
        description,
        ...(hint !== undefined && { input: { hint } }),
      }),
    );
    this.#send({ sessionUpdate: 'available_commands_update', availableCommands });
  }

  /** Sends the editor the events from before it opened the session. */
  async replay(past: readonly Event[]): Promise<void> {
    for (const event of past) this.#tell(event, true);
    await this.#sent;
  }

  /**
   * Sends a prompt and waits for the run to end.
   * @throws RequestError if the run failed, UsageError for a file that cannot be sent.
   */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const { host } = this.#parts;
    const [first, ...rest] = blocks;
    const expanded =
      first?.type === 'text'
        ? [{ ...first, text: await expandLine(first.text, host.local.commands) }, ...rest]
        : blocks;
    const parts = promptParts(expanded, host.folder);
    const runId = systemRuntime.id();
    // A prompt rejected because another run is active must not take over that run's edits.
    if (this.#run === undefined) host.undo.begin(this.id, runId);
    const run = this.#harness.prompt(parts, { runId, signal });
    this.#run ??= run;
    const result = await run.result;
    if (this.#run === run) this.#run = undefined;
    await this.#sent;
    return { stopReason: this.#stopReason(result) };
  }

  cancel(): void {
    this.#harness.cancel();
  }

  async close(): Promise<void> {
    await this.#harness.close();
    await this.#parts.host.close();
  }

  #stopReason(result: RunResult): PromptResponse['stopReason'] {
    switch (result.status) {
      case 'max_tokens':
      case 'refusal':
      case 'cancelled':
        return result.status;
      case 'limit':
      case 'timeout':
        return 'max_turn_requests';
      case 'failed': {
        const { what, advice } = failureOf(result.error, { ...this.#parts.host.failure, verbose: false });
        throw new RequestError(-32603, [what, ...advice].join('\n'));
      }
      case 'complete':
      case 'waiting':
        return 'end_turn';
      default:
        return assertNever(result);
    }
  }

  #handle(event: RunEvent): void {
    this.#tell(event, false);
    switch (event.type) {
      case 'approval_requested':
        return void this.#ask(event);
      case 'approval_decided':
        return this.#questions.get(event.approvalId)?.abort();
      case 'finished':
        for (const question of this.#questions.values()) question.abort();
        return;
      default:
        return ignore<'input' | 'response' | 'call' | 'note' | 'stream' | 'activity'>(event);
    }
  }

  #tell(event: RunEvent, replays: boolean): void {
    for (const update of this.#updates.next(event, { ...this.#view(), replays })) this.#send(update);
  }

  #send(update: SessionUpdate): void {
    const { client } = this.#parts;
    // A lost editor is detected by its connection, not here.
    this.#sent = client.notify('session/update', { sessionId: this.id, update }).catch(() => undefined);
  }

  #view(): UpdateView {
    const { folder, known, model } = this.#parts.host;
    return {
      folder,
      tools: known,
      ...defined({ contextTokens: model.contextTokens }),
    };
  }

  async #ask(request: ApprovalRequestedEvent): Promise<void> {
    const question = new AbortController();
    this.#questions.set(request.approvalId, question);
    try {
      const answer = await this.#answer(request, question.signal);
      if (answer === undefined) this.#harness.cancel();
      else this.#run?.decide(request.approvalId, answer);
    } finally {
      this.#questions.delete(request.approvalId);
    }
  }

  /** Returns the editor's decision; undefined if it cancelled the question. If it cannot ask, the call is denied. */
  async #answer(request: ApprovalRequestedEvent, signal: AbortSignal): Promise<ApprovalDecision | undefined> {
    const { host, client } = this.#parts;
    const { content, isWhole } = approvalContent(request, host.folder, this.id);
    const rules = host.local.permission.offers(ruledCall(request));
    const options = permissionOptions(rules, isWhole, request.limit);
    const toolCall = {
      toolCallId: callId(request),
      status: 'pending' as const,
      ...callFacts(request, this.#view()),
      content,
    };
    try {
      const asking: RequestPermissionRequest = { sessionId: this.id, toolCall, options };
      const sending = { cancellationSignal: signal, stopWaitingOnCancel: true };
      const { outcome } = await client.request('session/request_permission', asking, sending);
      const choice = choiceOf(outcome, options);
      if (choice.type === 'cancel') return undefined;
      if (choice.type === 'deny') return { decision: 'deny' };
      if (choice.rule !== undefined) this.#keep(choice.rule);
      return { decision: 'allow' };
    } catch (error) {
      if (!signal.aborted)
        this.#parts.report(`The editor could not ask for approval: ${AgentError.from(error).message}`);
      return { decision: 'deny', message: 'The user could not be asked for approval.' };
    }
  }

  #keep(rule: string): void {
    const { host, report } = this.#parts;
    host.local.permission.allow(rule);
    host.local
      .keepRule(rule)
      .catch((error) =>
        report(
          `The rule ${rule} applies to this session only, because it could not be saved. ${AgentError.from(error).message}`,
        ),
      );
  }
}

/**
 * Converts an editor's prompt to parts: the text with file names, then the files.
 * @throws UsageError for audio, and for a file that cannot be read or sent.
 */
export function promptParts(blocks: readonly ContentBlock[], folder: string): UserPart[] {
  let words = '';
  const more: UserPart[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words += block.text;
        break;
      case 'image':
        more.push({ type: 'file', mediaType: block.mimeType, data: block.data });
        break;
      case 'resource_link': {
        const path = filePath(block.uri);
        words += path === undefined ? `[${block.name}](${block.uri})` : `@${nameIn(folder, path)}`;
        if (path !== undefined && isFile(path)) more.push(readAttachment(nameIn(folder, path), folder));
        break;
      }
      case 'resource': {
        const { resource } = block;
        const name = nameIn(folder, filePath(resource.uri) ?? resource.uri);
        words += `@${name}`;
        more.push(
          partOf(
            'text' in resource ? Buffer.from(resource.text) : Buffer.from(resource.blob, 'base64'),
            name,
          ),
        );
        break;
      }
      default:
        throw new UsageError('Audio cannot be sent to the model.', 'Send a transcript as text.');
    }
  }
  return words === '' ? more : [{ type: 'text', text: words }, ...more];
}

function filePath(uri: string): string | undefined {
  try {
    const url = new URL(uri);
    return url.protocol === 'file:' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the name that the model uses for a file in the directory. */
function nameIn(folder: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const name = relative(folder, path);
  return name === '' || name.startsWith('..') ? path : name;
}
