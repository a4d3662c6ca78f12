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
  /** The frame in whose bytes an invalid one is inserted, and where, as a fraction of its length. */
  readonly invalidByte?: { readonly frame: number; readonly at: number };
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

/** Returns every repetition of a frame that the service sends once. */
export function repetitionsOf(
  frames: readonly ScriptFrame[],
  isOnce: (payload: unknown) => boolean = () => false,
): Mutation[] {
  return [...frames.keys()]
    .filter((at) => isOnce(frames[at]?.payload))
    .map((at) => replaceFrame(frames, `frame ${at} repeated`, at, [at, at]));
}

function replaceFrame(
  frames: readonly ScriptFrame[],
  what: string,
  at: number,
  by: readonly number[],
  payload?: unknown,
): Mutation {
  const whole = by.flatMap((index) => frames[index] ?? []);
  const put = payload === undefined ? whole : whole.map((frame) => ({ ...frame, payload }));
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

/** A name and a value that no wire knows. */
export const novel = 'zz_novel';

/** Maximum number of changed fields of each kind in one frame; of more fields, as many random ones are changed. */
const maxFields = 12;

/** Names under which another service could send the same data. */
const otherNames: Readonly<Record<string, string>> = {
  arguments: 'parameters',
  parameters: 'arguments',
  input: 'arguments',
  content: 'text',
  text: 'content',
  delta: 'message',
  output: 'items',
};

/** Returns streams in which a field of one frame has another name or type, or an unknown field is added. */
export function fieldMutationsOf(frames: readonly ScriptFrame[], random: SeededRandom): Mutation[] {
  return [...frames.keys()].flatMap((at) => {
    const { payload } = frames[at] ?? {};
    const all = fieldsIn(payload);
    const some = all.length <= maxFields ? all : Array.from({ length: maxFields }, () => random.pick(all));
    const changed = (what: string, path: readonly string[], change: FieldChange) =>
      replaceFrame(
        frames,
        `frame ${at}, ${path.join('.')}: ${what}`,
        at,
        [at],
        changedAt(payload, path, change),
      );
    return [
      ...some.flatMap((path) => [
        changed('renamed', path, renamed(random.chance(0.5))),
        changed('of another type', path, retyped(random)),
      ]),
      ...some.slice(0, 3).map((path) => changed('beside a new field', path, extended(random))),
      {
        ...replaceFrame(frames, `frame ${at} with an invalid byte`, at, [at]),
        invalidByte: { frame: at, at: random.next() },
      },
    ];
  });
}

/** Returns streams with one of these payloads before each frame. */
export function insertionsOf(
  frames: readonly ScriptFrame[],
  payloads: readonly unknown[],
  random: SeededRandom,
): Mutation[] {
  return [...frames.keys()].map((at) => {
    const payload = random.pick(payloads);
    const what = `before frame ${at}: ${JSON.stringify(payload)}`;
    return { what, frames: frames.toSpliced(at, 0, { payload }), touched: [] };
  });
}

/** Changes a field of an object or a list. */
type FieldChange = (parent: Record<string, unknown>, name: string) => void;

/** Gives a field another name. An item of a list cannot have one, and gets another type. */
function renamed(isPlausible: boolean): FieldChange {
  return (parent, name) => {
    if (Array.isArray(parent))
      parent[name as unknown as number] = { [novel]: parent[name as unknown as number] };
    else {
      parent[(isPlausible && otherNames[name]) || `${name}_${novel}`] = parent[name];
      delete parent[name];
    }
  };
}

/** Gives a field a value of another type. */
function retyped(random: SeededRandom): FieldChange {
  return (parent, name) => {
    const others = [7, true, novel, [novel], { [novel]: novel }];
    const kind = (value: unknown) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);
    parent[name] = random.pick(others.filter((other) => kind(other) !== kind(parent[name])));
  };
}

/** Adds a field beside this one. */
function extended(random: SeededRandom): FieldChange {
  return (parent) => {
    const value = random.pick([novel, [novel], { text: novel }, 7]);
    if (Array.isArray(parent)) parent.push(value);
    else parent[novel] = value;
  };
}

/** Returns the paths of all fields. */
function fieldsIn(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...path, name],
    ...fieldsIn(inner, [...path, name]),
  ]);
}

function changedAt(payload: unknown, path: readonly string[], change: FieldChange): unknown {
  const copy: unknown = structuredClone(payload);
  let parent = copy as Record<string, unknown>;
  for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>;
  change(parent, path.at(-1) ?? '');
  return copy;
}
