import type { ProviderTesting, ScriptAnswer, SeededRandom, Step } from '@cobbler/agent/testing';
import { responseSteps } from '@cobbler/agent/testing';

/** One payload of a scripted response, and the step that it belongs to. */
export interface ScriptFrame {
  readonly payload: unknown;
  /** Undefined for payloads that start the response. */
  readonly step?: Step;
}

/** A damaged stream: what happened to it, and the frames that are left. */
export interface Mutation {
  readonly what: string;
  readonly frames: readonly ScriptFrame[];
  /** The frames that were deleted, repeated or swapped. */
  readonly touched: readonly ScriptFrame[];
}

/** Returns the frames of a response in order, with their numbers if they are wanted and the service numbers them. */
export function scriptFrames(
  answer: ScriptAnswer,
  testing: ProviderTesting,
  isNumbered: boolean,
): ScriptFrame[] {
  const rest = responseSteps(answer).flatMap((step) =>
    testing.line(step, answer).map((payload) => ({ payload, step })),
  );
  const frames = [...testing.begin(answer).map((payload) => ({ payload })), ...rest];
  const numbered = isNumbered ? testing.number?.(frames.map(({ payload }) => payload)) : undefined;
  return numbered === undefined ? frames : frames.map((frame, at) => ({ ...frame, payload: numbered[at] }));
}

/**
 * Returns every deletion and repetition of one frame, every swap of two neighbors, and as many swaps of random pairs.
 */
export function mutationsOf(frames: readonly ScriptFrame[], random: SeededRandom): Mutation[] {
  const places = [...frames.keys()];
  const pairs = places.map(() => [
    random.between(0, frames.length - 1),
    random.between(0, frames.length - 1),
  ]);
  return [
    ...places.map((at) => replaceFrame(frames, `frame ${at} deleted`, at, [])),
    ...places.map((at) => replaceFrame(frames, `frame ${at} repeated`, at, [at, at])),
    ...places.slice(1).map((at) => swapped(frames, at - 1, at)),
    ...pairs.flatMap(([left = 0, right = 0]) => (left === right ? [] : [swapped(frames, left, right)])),
  ];
}

function replaceFrame(
  frames: readonly ScriptFrame[],
  what: string,
  at: number,
  by: readonly number[],
): Mutation {
  const put = by.flatMap((index) => frames[index] ?? []);
  return {
    what,
    frames: [...frames.slice(0, at), ...put, ...frames.slice(at + 1)],
    touched: frames.slice(at, at + 1),
  };
}

function swapped(frames: readonly ScriptFrame[], left: number, right: number): Mutation {
  const there = (at: number) => (at === left ? right : at === right ? left : at);
  return {
    what: `frames ${left} and ${right} swapped`,
    frames: frames.map((frame, at) => frames[there(at)] ?? frame),
    touched: [left, right].flatMap((at) => frames[at] ?? []),
  };
}
