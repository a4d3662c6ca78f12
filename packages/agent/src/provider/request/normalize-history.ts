import { AgentError, argumentError } from '../../values/errors.ts';
import { hasMediaType, isBase64 } from '../../values/file-part.ts';
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
import { wellFormedJson } from '../../values/unicode.ts';
import { CallNames, plainName } from '../wire/call-names.ts';
import type { ResultPart, Turn, Wire } from '../wire/wire.ts';

/** A tool call without a result. */
export interface UnansweredCall {
  /** The id in the messages. */
  readonly id: string;
  readonly wireId: string;
  readonly toolName: string;
}

/** The provider and the features that a history is normalized for. */
export interface ViewFor {
  /** Name of the provider. Metadata of other providers is omitted. */
  readonly provider: string;
  /** Accepted media types of files. */
  readonly files: readonly string[];
  /** Returns why the service refuses a file of an accepted type. */
  readonly refuses?: Wire['refuses'];
}

/** One turn, and the index of the message after it. */
export interface ViewedTurn {
  readonly turn: Turn;
  /** Index of the first message after the turn. */
  readonly upTo: number;
  /** Calls of this turn whose results belong to the next. */
  readonly open: readonly UnansweredCall[];
}

// Services reject turns without text. The text in parentheses tells the model that the turn is empty on purpose.
const continued: Turn = { side: 'user', parts: [{ type: 'text', text: '(continued)' }] };
const emptySay: UserPart = { type: 'text', text: '(empty)' };
const noAnswer: AssistantPart = { type: 'text', text: '(no answer)' };
const noOutput: ToolResultPart = { type: 'text', text: '(no output)' };

export const noCalls: readonly UnansweredCall[] = [];

/** Turn inserted before a history that does not start with a user message. */
export const openingTurn: ViewedTurn = { turn: continued, upTo: 0, open: noCalls };

/**
 * Converts a history to turns that any service accepts; see {@link Turn}.
 * @throws AgentError `invalid` for a history that no service would accept, naming the call, and for parts that this
 * provider does not support.
 */
export function normalizeHistory(messages: readonly Message[], view: ViewFor): Turn[] {
  try {
    const names = new CallNames();
    const turns: Turn[] = messages[0]?.role === 'assistant' ? [continued] : [];
    let open: readonly UnansweredCall[] = [];
    for (let at = 0; at < messages.length; ) {
      const viewed = turnAt(messages, at, open, names, view);
      turns.push(viewed.turn);
      open = viewed.open;
      at = viewed.upTo;
    }
    if (open[0] !== undefined) throw withoutResult(open[0]);
    return turns;
  } catch (thrown) {
    throw argumentError('normalizeHistory', thrown);
  }
}

/**
 * Returns the turn that starts at message `from`: all consecutive messages of one side. Depends on nothing before
 * `from` except the open calls and the names passed in, so that a growing history is converted turn by turn.
 */
export function turnAt(
  messages: readonly Message[],
  from: number,
  open: readonly UnansweredCall[],
  names: CallNames,
  view: ViewFor,
): ViewedTurn {
  // No turn would end at a hole.
  if (messages[from] === undefined)
    throw invalidHistory(`There is no message at index ${from}. Use an array of messages.`);
  return messages[from].role === 'assistant'
    ? assistantTurn(messages, from, names, view)
    : userTurn(messages, from, open, view);
}

/** Returns the error for a call without a result. */
export function withoutResult(call: UnansweredCall): AgentError {
  return invalidHistory(
    `The call ${JSON.stringify(call.id)} to ${call.toolName} has no result. Add its tool_result message right after the assistant message.`,
  );
}

function userTurn(
  messages: readonly Message[],
  from: number,
  open: readonly UnansweredCall[],
  view: ViewFor,
): ViewedTurn {
  const parts: (ResultPart | UserPart)[] = [];
  const results: ToolResultMessage[] = [];
  let upTo = from;
  let hasMessages = false;
  for (let message = messages[upTo]; message !== undefined; message = messages[upTo]) {
    if (message.role === 'assistant') break;
    if (message.role === 'tool_result') results.push(message);
    else hasMessages = true;
    upTo += 1;
  }
  addResults(parts, results, open, view);
  if (hasMessages) addMessages(parts, messages, from, upTo, view);
  if (parts.length === 0) parts.push(emptySay);
  return { turn: { side: 'user', parts }, upTo, open: noCalls };
}

function addMessages(
  parts: (ResultPart | UserPart)[],
  messages: readonly Message[],
  from: number,
  upTo: number,
  view: ViewFor,
): void {
  for (let at = from; at < upTo; at += 1) {
    const message = messages[at];
    if (message?.role !== 'user') continue;
    // A new message with an unsupported file is rejected; in older messages a note replaces it, so that the
    // conversation can continue.
    if (at === messages.length - 1) refuseFiles(message.content, view);
    for (const part of message.content) addPart(parts, part, view);
  }
}

/** Adds the results in the order of the calls. If ids repeat, the first result belongs to the first call. */
function addResults(
  parts: (ResultPart | UserPart)[],
  results: ToolResultMessage[],
  open: readonly UnansweredCall[],
  view: ViewFor,
): void {
  // The results before this index are added. Usually they are in the order of the calls.
  let next = 0;
  let unanswered: UnansweredCall | undefined;
  for (let index = 0; index < open.length; index += 1) {
    const call = open[index] as UnansweredCall;
    let place = next;
    while (place < results.length && results[place]?.toolCallId !== call.id) place += 1;
    const result = results[place];
    if (result === undefined) {
      unanswered ??= call;
      continue;
    }
    parts.push(resultPart(result, call, view));
    if (place > next) results.splice(place, 1);
    else next += 1;
  }
  const orphan = results[next];
  if (orphan !== undefined) {
    throw invalidHistory(
      `The result for ${JSON.stringify(orphan.toolCallId)} has no call in the assistant message before it. Remove the result, or put it right after its call.`,
    );
  }
  if (unanswered !== undefined) throw withoutResult(unanswered);
}

function resultPart(result: ToolResultMessage, call: UnansweredCall, view: ViewFor): ResultPart {
  const content: ToolResultPart[] = [];
  for (let index = 0; index < result.content.length; index += 1)
    addPart(content, result.content[index] as ToolResultPart, view);
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

/** Rejects files that the service would refuse. @throws AgentError `invalid` for such a file. */
function refuseFiles(parts: readonly UserPart[], view: ViewFor): void {
  for (const part of parts) {
    const refused = part.type === 'text' ? undefined : fileRefusal(part, view);
    if (refused !== undefined) throw unsupported(refused, view);
  }
}

/** Returns why the service does not accept this file, as text that follows "does not accept"; undefined if it accepts it. */
export function fileRefusal(file: FilePart, view: Omit<ViewFor, 'provider'>): string | undefined {
  const { mediaType, data } = file;
  if (view.files.length === 0) return 'files';
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) return 'files without a media type such as image/png';
  if (!hasMediaType(view.files, mediaType))
    return `files of type ${mediaType}, only ${view.files.join(', ')}`;
  if (!isBase64(data)) return 'files whose data is not base64';
  return view.refuses?.(file);
}

/** Returns a note that replaces an unsupported file, because every later request with the file would be refused too. */
export function leftOut({ mediaType }: FilePart): TextPart {
  const kind = /^[\w.+-]{1,50}\/[\w.+-]{1,80}$/.test(mediaType) ? ` of type ${mediaType}` : '';
  return { type: 'text', text: `(A file${kind} was omitted: this model does not accept it.)` };
}

function assistantTurn(
  messages: readonly Message[],
  from: number,
  names: CallNames,
  view: ViewFor,
): ViewedTurn {
  const parts: AssistantPart[] = [];
  const open: UnansweredCall[] = [];
  let upTo = from;
  for (let message = messages[upTo]; message?.role === 'assistant'; message = messages[upTo]) {
    const { content } = message;
    for (let index = 0; index < content.length; index += 1) {
      const part = content[index] as AssistantPart;
      if (part.type === 'tool_call') parts.push(callPart(part, open, names, view));
      else if (part.type === 'text') {
        if (hasWords(part.text)) parts.push(wellFormed(part));
      } else if (part.seal?.provider === view.provider) parts.push(part);
    }
    upTo += 1;
  }
  // Services reject an assistant turn that is empty or ends with reasoning.
  if (parts.length === 0 || parts[parts.length - 1]?.type === 'reasoning') parts.push(noAnswer);
  const isLast = upTo === messages.length;
  return { turn: { side: 'assistant', parts, ...(isLast && { continues: true }) }, upTo, open };
}

function callPart(part: ToolCallPart, open: UnansweredCall[], names: CallNames, view: ViewFor): ToolCallPart {
  const { seal, problem } = part;
  const id = names.give(plainName(part.id, 'call'));
  const toolName = plainName(part.toolName, 'unnamed');
  const args = problem === undefined ? (wellFormedJson(part.arguments) as Record<string, unknown>) : {};
  open.push({ id: part.id, wireId: id, toolName });
  return seal?.provider === view.provider
    ? { type: 'tool_call', id, toolName, arguments: args, seal }
    : { type: 'tool_call', id, toolName, arguments: args };
}

/** Returns false for text that is only whitespace, which services reject like empty text. */
function hasWords(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first > 32 && first < 127) || /\S/.test(text);
}

/** Replaces lone surrogates. Returns the same part if nothing changes. */
function wellFormed<Part extends { readonly text: string }>(part: Part): Part {
  return part.text.isWellFormed() ? part : { ...part, text: part.text.toWellFormed() };
}

function unsupported(what: string, view: ViewFor): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'unsupported',
    provider: view.provider,
    message: `This ${view.provider} model does not accept ${what}. Remove the rejected files from the prompt, or use another model.`,
  });
}

function invalidHistory(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'history', message });
}
