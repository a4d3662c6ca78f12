import type { StopReason } from '@cobbler/agent';
import type { Fault, FaultKind, ResponseSink } from '@cobbler/agent/provider';
import { dropUnread, isObject } from '@cobbler/agent/provider';

type Fields = Readonly<Record<string, unknown>>;

/** Stop reasons of the service. Calls end with `STOP`. Source: `FinishReason` of @google/genai 3.3.0. */
export const stops: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ['STOP', 'complete'],
  ['MAX_TOKENS', 'max_tokens'],
  // The limit of one request, where the service could continue in another.
  ['CONTINUATION', 'max_tokens'],
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'ESCALATION'].map(
    (reason): [string, StopReason] => [reason, 'refusal'],
  ),
]);

/** Stop reasons that are failures. */
const failures: ReadonlyMap<string, FaultKind> = new Map<string, FaultKind>([
  ['MALFORMED_FUNCTION_CALL', 'broken'],
  ['UNEXPECTED_TOOL_CALL', 'broken'],
  ['TOO_MANY_TOOL_CALLS', 'broken'],
  ['MALFORMED_RESPONSE', 'broken'],
  ['MISSING_THOUGHT_SIGNATURE', 'invalid'],
  ['PUP_LIMITED_DISABLED', 'auth'],
]);

/** Error codes of the service: ai.google.dev/gemini-api/docs/troubleshooting and google.rpc.Code. */
export const faults: ReadonlyMap<unknown, FaultKind> = new Map<unknown, FaultKind>([
  ['UNAVAILABLE', 'busy'],
  ['RESOURCE_EXHAUSTED', 'rate_limit'],
  ['INTERNAL', 'agent'],
  ['UNKNOWN', 'agent'],
  ['DEADLINE_EXCEEDED', 'agent'],
  ['INVALID_ARGUMENT', 'invalid'],
  ['FAILED_PRECONDITION', 'invalid'],
  ['UNAUTHENTICATED', 'auth'],
  ['PERMISSION_DENIED', 'auth'],
  ['NOT_FOUND', 'not_found'],
]);

const about = 'it describes the response and contains no part of it';

/** Data of the service that may be dropped, with the reasons. */
export const ignored: Readonly<Record<string, string>> = {
  // A chunk is read field by field; its other fields name the response.
  response: about,
  'response.modelStatus': about,
  'candidate.safetyRatings': about,
  'candidate.citationMetadata': about,
  'candidate.finishMessage': about,
  'candidate.continuationToken': 'a response that reaches the limit of one request is not continued',
};

/** The fields of a response that are read or name it. */
const fields = ['candidates', 'usageMetadata', 'promptFeedback', 'modelVersion', 'responseId', 'createTime'];

/** The fields of a part that are read. A part with any other, such as an image, makes the response invalid. */
const partFields: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'functionCall']);

/** The calls of each response, to detect one that arrives twice. */
const calls: WeakMap<ResponseSink, Set<string>> = new WeakMap();

/** Reads one chunk of a response. The chunk with the finish reason is the last one. */
export function readEvent(payload: unknown, out: ResponseSink): void {
  if (!isObject(payload)) return;
  if (payload['error'] !== undefined) return out.fail(faultOf(payload['error']));
  if (!fields.some((name) => Object.hasOwn(payload, name))) return;
  out.ignore('response');
  dropUnread('response', payload, fields, out);
  const { candidates, usageMetadata, promptFeedback, modelVersion } = payload;
  if (typeof modelVersion === 'string') out.model(modelVersion);
  if (isObject(usageMetadata)) readUsage(usageMetadata, out);
  const [candidate, another] = objectsIn(candidates, 'candidates', out);
  if (another !== undefined) out.ignore('a second candidate');
  if (candidate !== undefined) readCandidate(candidate, out);
  const blocked = isObject(promptFeedback) ? promptFeedback['blockReason'] : undefined;
  if (typeof blocked === 'string') out.end('refusal', blocked);
}

function readCandidate(candidate: Fields, out: ResponseSink): void {
  dropUnread('candidate', candidate, ['content', 'finishReason'], out);
  const { content, finishReason, finishMessage = 'it gave no details.' } = candidate;
  for (const { parts, role: _, ...others } of objectsIn(content && [content], 'content', out)) {
    dropUnread('content', others, [], out);
    for (const part of objectsIn(parts, 'parts', out)) readPart(part, out);
  }
  if (typeof finishReason !== 'string') return;
  const kind = failures.get(finishReason);
  if (kind === undefined) out.end(stops.get(finishReason), finishReason);
  else out.fail({ kind, message: `Gemini stopped with ${finishReason}: ${finishMessage}` });
}

/** Parts have no numbers: a text continues the one before it, unless something else came between. */
function readPart(part: Fields, out: ResponseSink): void {
  for (const name of Object.keys(part)) if (!partFields.has(name)) out.ignore(`part.${name}`);
  const { text = '', thought = false, thoughtSignature: signature = '', functionCall } = part;
  if (typeof thought !== 'boolean') out.ignore('part.thought');
  if (typeof signature !== 'string') return out.ignore('part.thoughtSignature');
  if (functionCall !== undefined) return readCall(functionCall, signature, out);
  out.close(thought ? 'text' : 'thought');
  if (thought) out.reasoning('thought', text as string);
  else {
    // A text with a signature must not be joined with one that has none.
    if (signature !== '') out.close('text');
    out.text('text', text as string);
  }
  if (signature === '') return;
  if (thought) out.seal('thought', { thoughtSignature: signature });
  else out.seal('signature', { thoughtSignature: signature, ...(text !== '' && { of: 'text' }) });
  for (const name of ['text', 'thought', 'signature']) out.close(name);
}

/** Reads a call, which is always complete. It has no id on some models. */
function readCall(call: unknown, signature: string, out: ResponseSink): void {
  if (!isObject(call)) return out.ignore('part.functionCall');
  dropUnread('functionCall', call, ['id', 'name', 'args'], out);
  const { id, name, args } = call;
  const input = typeof args === 'string' ? args : JSON.stringify(args ?? {});
  const seen = calls.get(out) ?? new Set();
  calls.set(out, seen);
  const whole = JSON.stringify([id, name, input]);
  if (id && seen.has(whole))
    out.fail({ kind: 'broken', message: 'The response is invalid: a call arrived twice.' });
  seen.add(whole);
  out.close('text');
  out.close('thought');
  out.call('call', (id ?? '') as string, name as string);
  out.input('call', input);
  if (signature !== '') out.seal('call', { thoughtSignature: signature });
  out.close('call');
}

/** Returns the objects of a list. Anything else in its place would be lost. */
function objectsIn(value: unknown, kind: string, out: ResponseSink): readonly Fields[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every(isObject)) return value;
  out.ignore(kind);
  return [];
}

/** Reads the counts so far. The input includes what was read from the cache. */
function readUsage(usage: Fields, out: ResponseSink): void {
  const count = (name: string) => (Number.isFinite(usage[name]) ? (usage[name] as number) : 0);
  out.usage({
    inputTokens: count('promptTokenCount') + count('toolUsePromptTokenCount'),
    outputTokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
    cacheReadTokens: count('cachedContentTokenCount'),
    reasoningTokens: count('thoughtsTokenCount'),
  });
}

/** Reads the error of a failed request. Some servers put it in a list. Throws for any other body. */
export function readFault(body: string): Fault {
  return faultOf([JSON.parse(body)].flat()[0].error);
}

/** Reads an error. Those of a conversation that is too long and of a key have no code of their own. */
function faultOf(error: unknown): Fault {
  const { status, message, details } = error as { status: unknown; message: string; details?: Fields[] };
  const has = (name: string) =>
    Array.isArray(details) && details.find((detail) => isObject(detail) && name in detail);
  const isTooLong = /input token count.*exceeds/i.test(message);
  const isKey = (has('reason') || undefined)?.['reason'] === 'API_KEY_INVALID';
  const delay = (has('retryDelay') || undefined)?.['retryDelay'];
  return {
    message,
    kind: isTooLong ? 'too_long' : isKey ? 'auth' : faults.get(status),
    // Seconds, such as "58.9s".
    retryAfterMs: Number.parseFloat(String(delay)) * 1000,
  };
}
