import { AgentError } from '../../values/errors.ts';
import { hasMediaType } from '../../values/file-part.ts';
import type {
  AssistantPart,
  FilePart,
  Message,
  TextPart,
  ToolCallPart,
  ToolResultMessage,
  ToolResultPart,
  UserPart,
} from '../../values/message.ts';
import { wellFormedJson, wellFormedText } from '../../values/unicode.ts';
import { CallNames, plainName } from '../wire/call-names.ts';
import type { ResultPart, Turn, Wire } from '../wire/wire.ts';

/** A call that waits for its result. */
export interface UnansweredCall {
  /** The id in the messages. */
  readonly id: string;
  /** The id on the wire. */
  readonly wireId: string;
  readonly toolName: string;
}

/** For whom a view is made. */
export interface ViewFor {
  /** Seals of others are left out. */
  readonly provider: string;
  /** Media types of files that are accepted. */
  readonly files: readonly string[];
  /** Which of those files its service would refuse all the same. */
  readonly refuses?: Wire['refuses'];
}

/** One turn and where the next one begins. */
export interface ViewedTurn {
  readonly turn: Turn;
  /** Index of the first message after the turn. */
  readonly upTo: number;
  /** Calls of this turn, to be answered by the next. */
  readonly open: readonly UnansweredCall[];
}

// Services refuse turns without text; words in brackets tell the model that nothing was left out by mistake.
const continued: Turn = { side: 'user', parts: [{ type: 'text', text: '(continued)' }] };
const emptySay: UserPart = { type: 'text', text: '(empty)' };
const noAnswer: AssistantPart = { type: 'text', text: '(no answer)' };
const noOutput: ToolResultPart = { type: 'text', text: '(no output)' };

/** A conversation begins with the user; one that does not gets this turn in front. */
export const openingTurn: ViewedTurn = { turn: continued, upTo: 0, open: [] };

/**
 * A history as turns that any service accepts: see {@link Turn}.
 * @throws AgentError `invalid` for a history that no service would accept, naming the call, and for parts
 * that this provider cannot take.
 */
export function normalizeHistory(messages: readonly Message[], view: ViewFor): Turn[] {
  const names = new CallNames();
  const turns: Turn[] = messages[0]?.role === 'assistant' ? [continued] : [];
  let open: readonly UnansweredCall[] = [];
  for (let at = 0; at < messages.length; ) {
    const viewed = turnAt(messages, at, open, names, view);
    turns.push(viewed.turn);
    open = viewed.open;
    at = viewed.upTo;
  }
  checkAnswered(open);
  return turns;
}

/**
 * The turn that begins at message `from`: all neighbouring messages of one side. Looks at nothing before
 * `from` but the open calls and the names given, so that a growing history is viewed piece by piece.
 */
export function turnAt(
  messages: readonly Message[],
  from: number,
  open: readonly UnansweredCall[],
  names: CallNames,
  view: ViewFor,
): ViewedTurn {
  const upTo = endOfSide(messages, from);
  const said = messages.slice(from, upTo);
  return messages[from]?.role === 'assistant'
    ? assistantTurn(said, upTo, names, view)
    : { turn: { side: 'user', parts: userParts(said, open, messages.at(-1), view) }, upTo, open: [] };
}

/** @throws AgentError `invalid` when the history ends with a call without a result. */
export function checkAnswered(open: readonly UnansweredCall[]): void {
  const [call] = open;
  if (call === undefined) return;
  throw invalidHistory(
    `The call ${JSON.stringify(call.id)} of ${call.toolName} has no result. Add its tool_result message right after the assistant message.`,
  );
}

/** Which side a message is on. */
export function sideOf(message: Message): Turn['side'] {
  return message.role === 'assistant' ? 'assistant' : 'user';
}

function endOfSide(messages: readonly Message[], from: number): number {
  let end = from;
  let side: Turn['side'] | undefined;
  for (let message = messages[end]; message !== undefined; message = messages[end]) {
    side ??= sideOf(message);
    if (sideOf(message) !== side) break;
    end += 1;
  }
  return end;
}

function userParts(
  said: readonly Message[],
  open: readonly UnansweredCall[],
  last: Message | undefined,
  view: ViewFor,
): (ResultPart | UserPart)[] {
  const results = said.filter((message) => message.role === 'tool_result');
  const parts: (ResultPart | UserPart)[] = answers(results, open, view);
  for (const message of said) {
    if (message.role !== 'user') continue;
    // Who says something now is told what cannot be sent; once the conversation has gone on, it must go on.
    if (message === last) refuseFiles(message.content, view);
    for (const part of message.content) addPart(parts, part, view);
  }
  if (parts.length === 0) parts.push(emptySay);
  return parts;
}

/** The results in the order of the calls. Where ids repeat, the first result belongs to the first call. */
function answers(
  results: readonly ToolResultMessage[],
  open: readonly UnansweredCall[],
  view: ViewFor,
): ResultPart[] {
  const left = [...results];
  const unanswered: UnansweredCall[] = [];
  const parts: ResultPart[] = [];
  for (const call of open) {
    const place = left.findIndex((result) => result.toolCallId === call.id);
    const [result] = place < 0 ? [] : left.splice(place, 1);
    if (result === undefined) unanswered.push(call);
    else parts.push(resultPart(result, call, view));
  }
  const [orphan] = left;
  if (orphan !== undefined) {
    throw invalidHistory(
      `The result for ${JSON.stringify(orphan.toolCallId)} has no call in the assistant message before it. Remove it, or put it right after its call.`,
    );
  }
  checkAnswered(unanswered);
  return parts;
}

function resultPart(result: ToolResultMessage, call: UnansweredCall, view: ViewFor): ResultPart {
  const content: ToolResultPart[] = [];
  for (const part of result.content) addPart(content, part, view);
  if (content.length === 0) content.push(noOutput);
  return {
    type: 'tool_result',
    callId: call.wireId,
    toolName: call.toolName,
    content,
    isError: result.isError ?? false,
  };
}

function addPart(parts: (ResultPart | UserPart)[] | ToolResultPart[], part: UserPart, view: ViewFor): void {
  if (part.type !== 'text') parts.push(fileRefusal(part, view) === undefined ? part : leftOut(part));
  else if (hasWords(part.text)) parts.push(wellFormed(part));
}

/** @throws AgentError `invalid` for a file that the service would refuse. */
function refuseFiles(parts: readonly UserPart[], view: ViewFor): void {
  for (const part of parts) {
    const refused = part.type === 'text' ? undefined : fileRefusal(part, view);
    if (refused !== undefined) throw unsupported(refused, view);
  }
}

/** Returns what the service does not accept if it does not accept this file, in words that follow "does not accept". */
export function fileRefusal(file: FilePart, view: Omit<ViewFor, 'provider'>): string | undefined {
  const { mediaType, data } = file;
  if (view.files.length === 0) return 'files';
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) return 'files without a media type such as image/png';
  if (!hasMediaType(view.files, mediaType))
    return `files of type ${mediaType}, only ${view.files.join(', ')}`;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return 'files whose data are not base64';
  return view.refuses?.(file);
}

/** Replaces a file that no request can contain: every later request with it would be refused too. */
export function leftOut({ mediaType }: FilePart): TextPart {
  const kind = /^[\w.+-]{1,50}\/[\w.+-]{1,80}$/.test(mediaType) ? ` of type ${mediaType}` : '';
  return { type: 'text', text: `(A file${kind} was omitted: this model does not accept it.)` };
}

function assistantTurn(said: readonly Message[], upTo: number, names: CallNames, view: ViewFor): ViewedTurn {
  const parts: AssistantPart[] = [];
  const open: UnansweredCall[] = [];
  for (const message of said) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) {
      if (part.type === 'tool_call') parts.push(callPart(part, open, names, view));
      else if (part.type === 'text') {
        if (hasWords(part.text)) parts.push(wellFormed(part));
      } else if (part.seal?.provider === view.provider) parts.push(part);
    }
  }
  // Reasoning must lead to something: services refuse a turn that is empty or ends in it.
  const last = parts.at(-1);
  if (last === undefined || last.type === 'reasoning') parts.push(noAnswer);
  return { turn: { side: 'assistant', parts }, upTo, open };
}

function callPart(part: ToolCallPart, open: UnansweredCall[], names: CallNames, view: ViewFor): ToolCallPart {
  const wireId = names.give(plainName(part.id, 'call'));
  const toolName = plainName(part.toolName, 'unnamed');
  open.push({ id: part.id, wireId, toolName });
  return {
    type: 'tool_call',
    id: wireId,
    toolName,
    arguments: part.problem === undefined ? (wellFormedJson(part.arguments) as Record<string, unknown>) : {},
    ...(part.seal?.provider === view.provider && { seal: part.seal }),
  };
}

/** Text of blanks alone is refused like empty text. */
function hasWords(text: string): boolean {
  return /\S/.test(text);
}

/** The same part when there is nothing to mend. */
function wellFormed<Part extends { readonly text: string }>(part: Part): Part {
  const text = wellFormedText(part.text);
  return text === part.text ? part : { ...part, text };
}

function unsupported(what: string, view: ViewFor): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'unsupported',
    provider: view.provider,
    message: `This model of ${view.provider} does not accept ${what}. Remove them from the prompt, or use another model.`,
  });
}

function invalidHistory(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'history', message });
}
