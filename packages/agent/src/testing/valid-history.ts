import { isObject } from '../values/json.ts';
import type { AssistantMessage, Message, ToolResultMessage } from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import { ContractFailure } from './assertion.ts';

/**
 * Fails unless every provider accepts the conversation: each call has exactly one result, directly after its response
 * and in the order of the calls; no message and no text is empty; no text, key or argument contains a lone surrogate;
 * roles and parts are known.
 * @throws ContractFailure naming the first invalid message.
 */
export function assertValidHistory(messages: readonly Message[]): void {
  let at = 0;
  while (at < messages.length) {
    const message = messages[at];
    if (message === undefined) throw flaw(at, 'is missing');
    checkMessage(message, at);
    if (message.role === 'tool_result')
      throw flaw(at, `is a result for ${show(message.toolCallId)}, which is not the id of a call`);
    at += 1;
    if (message.role === 'assistant') at = checkResults(messages, at, message);
  }
}

/** Checks the results after a response and returns the index after them. */
function checkResults(messages: readonly Message[], from: number, answer: AssistantMessage): number {
  let at = from;
  for (const call of callsOf(answer)) {
    const result = messages[at];
    if (result?.role !== 'tool_result') throw flaw(at, `should be the result of call ${show(call.id)}`);
    if (result.toolCallId !== call.id) {
      throw flaw(at, `is the result of ${show(result.toolCallId)} instead of ${show(call.id)}`);
    }
    checkMessage(result, at);
    checkResult(result, at);
    at += 1;
  }
  return at;
}

function checkResult(result: ToolResultMessage, at: number): void {
  if (result.notRun === true && result.isError !== true) throw flaw(at, 'was not run and is not an error');
}

function checkMessage(message: Message, at: number): void {
  if (!['user', 'assistant', 'tool_result'].includes(message.role)) throw flaw(at, 'has an unknown role');
  if (!Array.isArray(message.content) || message.content.length === 0) throw flaw(at, 'is empty');
  for (const part of message.content) {
    const allowed = message.role === 'assistant' ? answerParts : userParts;
    if (!allowed.has(part.type)) throw flaw(at, `contains a part of type ${show(part.type)}`);
    if (part.type === 'text' && part.text === '') throw flaw(at, 'contains empty text');
    if (part.type === 'tool_call' && (typeof part.arguments !== 'object' || part.arguments === null)) {
      throw flaw(at, 'contains a call whose arguments are not an object');
    }
  }
  if (hasHalfPair(message)) throw flaw(at, 'contains a lone surrogate');
}

const answerParts: ReadonlySet<string> = new Set(['text', 'reasoning', 'opaque', 'tool_call']);
const userParts: ReadonlySet<string> = new Set(['text', 'file']);

/** Finds a lone surrogate anywhere, because JSON writes it as an escape. Seals may contain one. */
function hasHalfPair(message: Message): boolean {
  const text = JSON.stringify(message, (_key, value) =>
    isObject(value) && 'seal' in value ? undefined : value,
  );
  return /\\ud[89a-f][0-9a-f]{2}/.test(text.replaceAll('\\\\', ''));
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function flaw(at: number, what: string): ContractFailure {
  return new ContractFailure(`message ${at} of the history ${what}`);
}
