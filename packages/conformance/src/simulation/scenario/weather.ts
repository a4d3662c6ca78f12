import type { ScriptAnswer, ScriptFault } from '@cobbler/agent/testing';
import { scriptTesting } from '@cobbler/agent/testing';
import type { PayloadFrame } from './broadcast.ts';
import { framesOf, joinFrames, splitFrames } from './broadcast.ts';
import type { Choices } from './choices.ts';

/** One step of a connection. */
export interface ConnectionStep {
  /** Milliseconds after the previous step. */
  readonly afterMs: number;
  readonly bytes?: Uint8Array;
  /** The end of the body. */
  readonly ending?: 'end' | 'reset';
}

/** The response of the service to one request. */
export interface ServedResponse {
  readonly what: string;
  /**
   * Undefined without response headers, because the connection breaks (`ending`) or the service never
   * responds.
   */
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  readonly ending?: 'reset';
  readonly headMs: number;
  /** The frames of the body; empty if the body is not a model response. */
  readonly frames: readonly PayloadFrame[];
  readonly moves: Iterable<ConnectionStep>;
}

/** The frequency of network faults. */
export type FaultRate = 'fair' | 'mixed' | 'foul';

const chanceOfTrouble: Readonly<Record<FaultRate, number>> = { fair: 0, mixed: 0.12, foul: 0.45 };

/** Decides how the service responds to a request that would get this response. */
export function serve(answer: ScriptAnswer, faultRate: FaultRate, choices: Choices): ServedResponse {
  const headMs = choices.among('head', [
    [6, 5],
    [3, 0],
    [1, 400],
  ]);
  if (choices.whether('trouble', chanceOfTrouble[faultRate])) return troubled(answer, headMs, choices);
  const frames = framesOf(answer, choices);
  return streamed('answers', frames, [...paced(splitFrames(frames, choices), choices), end], headMs);
}

type RequestTrouble =
  | 'unreachable'
  | 'silent'
  | 'status'
  | 'page'
  | 'cut'
  | 'ends without its last frame'
  | 'stops between blocks'
  | 'reset'
  | 'stall'
  | 'pings'
  | 'reports'
  | 'garbage'
  | 'torn'
  | 'drips'
  | 'lingers'
  | 'breaks late';

const troubles: readonly (readonly [number, RequestTrouble])[] = [
  [2, 'status'],
  [2, 'unreachable'],
  [1, 'silent'],
  [1, 'page'],
  [2, 'cut'],
  [2, 'reset'],
  [1, 'stall'],
  [1, 'pings'],
  [2, 'reports'],
  [1, 'garbage'],
  [1, 'torn'],
  [1, 'drips'],
  [1, 'lingers'],
  [1, 'breaks late'],
  [2, 'ends without its last frame'],
  [3, 'stops between blocks'],
];

function troubled(answer: ScriptAnswer, headMs: number, choices: Choices): ServedResponse {
  const trouble = choices.among('kind of trouble', troubles);
  if (trouble === 'unreachable') return { what: 'cannot be reached', ending: 'reset', headMs, ...nothing };
  if (trouble === 'silent') return { what: 'never responds', headMs, ...nothing };
  if (trouble === 'status') return refused(headMs, choices);
  if (trouble === 'page') return page(headMs);
  const whole = framesOf(answer, choices);
  if (trouble === 'drips' || trouble === 'lingers' || trouble === 'breaks late')
    return late(trouble, whole, headMs, choices);
  return spoiled(trouble, whole, headMs, choices);
}

/** Complete responses with a fault. */
function late(
  trouble: 'drips' | 'lingers' | 'breaks late',
  whole: readonly PayloadFrame[],
  headMs: number,
  choices: Choices,
): ServedResponse {
  if (trouble === 'drips') {
    const gap = choices.pick('drip', [500, 5_000, 40_000]);
    const drops = whole.map((frame) => ({ afterMs: gap, bytes: frame.bytes }));
    return streamed(`sends a frame every ${gap} ms`, whole, [...drops, end], headMs);
  }
  const moves = paced(splitFrames(whole, choices), choices);
  if (trouble === 'lingers') return streamed('responds and keeps the connection open', whole, moves, headMs);
  return streamed(
    'responds and breaks the connection',
    whole,
    [...moves, { afterMs: 1, ending: 'reset' }],
    headMs,
  );
}

/** Responses that stop before their end, at any frame. */
function spoiled(
  trouble: Exclude<
    RequestTrouble,
    'unreachable' | 'silent' | 'status' | 'page' | 'drips' | 'lingers' | 'breaks late'
  >,
  whole: readonly PayloadFrame[],
  headMs: number,
  choices: Choices,
): ServedResponse {
  if (trouble === 'ends without its last frame') return partial(trouble, withoutEnd(whole), headMs, choices);
  if (trouble === 'stops between blocks')
    return partial(trouble, upToBlockEnd(whole, choices), headMs, choices);
  const last = whole.findLastIndex(({ payload }) => isStep(payload, 'end'));
  const kept = whole.slice(0, choices.between('place of trouble', 0, last));
  const more = {
    cut: [],
    reset: [],
    stall: [],
    pings: [],
    torn: [],
    garbage: ['{"do":"te'],
    reports: scriptTesting.fail({ kind: choices.pick('reported', reported), message: 'The service fails.' }),
  }[trouble];
  const frames = more.length === 0 ? kept : joinFrames([...kept.map(({ payload }) => payload), ...more]);
  const moves: ConnectionStep[] = paced(splitFrames(frames, choices), choices);
  if (trouble === 'torn') moves.push({ afterMs: 1, bytes: encoder.encode('data: {"do":"tex') });
  const what = `${trouble} after ${kept.length} of ${whole.length} frames`;
  if (trouble === 'pings') return streamed(what, frames, pinging(moves), headMs);
  if (trouble !== 'stall') moves.push(trouble === 'reset' ? { afterMs: 1, ending: 'reset' } : end);
  return streamed(what, frames, moves, headMs);
}

/** Responses of valid frames that stop before the last one: nothing in the frames themselves is wrong. */
function partial(
  trouble: string,
  payloads: readonly unknown[],
  headMs: number,
  choices: Choices,
): ServedResponse {
  const frames = joinFrames(payloads);
  const moves: ConnectionStep[] = paced(splitFrames(frames, choices), choices);
  const ending = choices.pick('partial response', ['end', 'reset', 'stall'] as const);
  if (ending !== 'stall') moves.push({ afterMs: 1, ending });
  return streamed(`${trouble} after ${frames.length} frames (${ending})`, frames, moves, headMs);
}

function withoutEnd(whole: readonly PayloadFrame[]): unknown[] {
  return whole.map(({ payload }) => payload).filter((payload) => !isStep(payload, 'end'));
}

/** Returns the frames up to the end of a block: each block is complete, but the response is not. */
function upToBlockEnd(whole: readonly PayloadFrame[], choices: Choices): unknown[] {
  const payloads = withoutEnd(whole);
  const ends = payloads.flatMap((payload, at) => (isStep(payload, 'close') ? [at + 1] : []));
  return payloads.slice(0, choices.pick('last block', ends.length > 0 ? ends : [0]));
}

function isStep(payload: unknown, word: string): boolean {
  return (payload as { do?: unknown }).do === word;
}

const reported: readonly ScriptFault['kind'][] = ['busy', 'rate_limit', 'agent', 'invalid'];

function* pinging(moves: readonly ConnectionStep[]): Iterable<ConnectionStep> {
  yield* moves;
  for (;;) yield { afterMs: 20_000, bytes: encoder.encode(': ping\n\n') };
}

const waits: readonly (Readonly<Record<string, string>> | undefined)[] = [
  undefined,
  { 'retry-after': '2' },
  { 'retry-after': '0' },
  { 'retry-after': '-3' },
  { 'retry-after': 'soon' },
  { 'retry-after': '86400' },
  { 'retry-after-ms': '700' },
  { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' },
];

const statuses = [529, 500, 429, 503, 408, 409, 400, 401, 404, 307] as const;

function refused(headMs: number, choices: Choices): ServedResponse {
  const status = choices.pick('status', statuses);
  const hint = choices.pick('retry-after', waits) ?? {};
  const headers = { 'content-type': 'application/json', ...hint };
  const body = JSON.stringify({ message: `The service answers ${status}.` });
  const moves: ConnectionStep[] = [{ afterMs: 1, bytes: encoder.encode(body) }];
  if (!choices.whether('hangs in the refusal', 0.1)) moves.push(end);
  const what = `rejects it with ${status} ${JSON.stringify(hint)}`;
  return { what, head: { status, headers }, headMs, frames: [], moves };
}

function page(headMs: number): ServedResponse {
  const moves = [{ afterMs: 1, bytes: encoder.encode('<html>Welcome to the airport</html>') }, end];
  return {
    what: 'responds with a web page',
    head: { status: 200, headers: { 'content-type': 'text/html' } },
    headMs,
    frames: [],
    moves,
  };
}

function streamed(
  what: string,
  frames: readonly PayloadFrame[],
  moves: Iterable<ConnectionStep>,
  headMs: number,
): ServedResponse {
  const head = { status: 200, headers: { 'content-type': scriptTesting.contentType } };
  return { what, head, headMs, frames, moves };
}

function paced(chunks: readonly Uint8Array[], choices: Choices): ConnectionStep[] {
  const pace = choices.among('pace', [
    [5, 1],
    [3, 0],
    [1, 60],
  ]);
  return chunks.map((bytes) => ({ afterMs: pace, bytes }));
}

const end: ConnectionStep = { afterMs: 1, ending: 'end' };
const nothing = { frames: [], moves: [] } as const;
const encoder = new TextEncoder();
