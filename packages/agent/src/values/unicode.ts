import { defined } from './defined.ts';
import { isObject } from './json.ts';
import type { AssistantPart, ToolCallPart, UserPart } from './message.ts';

/** Replaces lone surrogates, which services reject and files cannot contain. */
export function wellFormedText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Values nested deeper are returned unchanged; arguments from a model are never that deep. */
const maxDepth = 200;

/** Ends the search at once: in a value that contains itself, the number of paths doubles at each level. */
const tooDeep = new RangeError('The value is nested too deeply.');

/** Returns a JSON value whose strings and keys are well-formed; the same value if they already are. */
export function wellFormedJson(value: unknown): unknown {
  try {
    // Nearly every value is well-formed, and checking costs a fraction of copying.
    return isWellFormed(value, 0) ? value : repairedJson(value, 0);
  } catch (thrown) {
    if (thrown === tooDeep) return value;
    throw thrown;
  }
}

function repairedJson(value: unknown, depth: number): unknown {
  if (isWellFormed(value, depth)) return value;
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => repairedJson(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value as object).map(([key, item]) => [
      wellFormedText(key),
      repairedJson(item, depth + 1),
    ]),
  );
}

function isWellFormed(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (depth > maxDepth) throw tooDeep;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    if (!key.isWellFormed() || !isWellFormed(fields[key], depth + 1)) return false;
  }
  return true;
}

/** Returns the parts of a user message or tool result without empty text; the same array if nothing changes. */
export function wellFormedParts(parts: readonly UserPart[]): readonly UserPart[] {
  return repairParts(parts, (part) =>
    part.type === 'text' ? textPart(part) : (wellFormedJson(part) as UserPart),
  );
}

/** The parts of responses that are known to be well-formed. */
const wellFormed = new WeakSet<readonly AssistantPart[]>();

/** Freezes the parts of a response, which are frozen and well-formed, and remembers them as such. */
export function rememberAnswer(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  wellFormed.add(parts);
  return Object.freeze(parts);
}

/**
 * Returns the parts of a response in a valid form for a history; the same array if nothing changes. Parts with provider
 * metadata (`seal`) are not changed, because the metadata is valid only for the exact bytes.
 */
export function wellFormedAnswer(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  if (wellFormed.has(parts)) return parts;
  return repairParts(parts, (part) => {
    if (part.type === 'tool_call') return callPart(part);
    const isPlain = part.type === 'text' || (part.type === 'reasoning' && part.seal === undefined);
    return isPlain ? textPart(part) : part;
  });
}

/** Maximum nesting of arguments (promise 11); deeper ones could overflow the stack of a reader. */
const maxArgumentDepth = 64;

function callPart(part: ToolCallPart): ToolCallPart {
  if (isDeeper(part.arguments, maxArgumentDepth)) {
    return callPart({
      ...part,
      arguments: {},
      problem: part.problem ?? 'The arguments are nested too deeply.',
    });
  }
  const { seal } = part;
  // A seal is not changed: it is valid only for the exact bytes.
  if (seal === undefined && isObject(part.arguments) && isWellFormed(part, 0)) return part;
  const { seal: _, ...plain } = part;
  const whole = wellFormedJson(plain) as typeof plain;
  if (isObject(whole.arguments)) {
    return whole === plain ? part : { ...whole, ...defined({ seal }) };
  }
  return {
    ...part,
    ...whole,
    arguments: {},
    problem: whole.problem ?? 'The arguments are not a JSON object.',
  };
}

/** Returns whether containers are nested deeper than `depth`. Recurses no deeper than that. */
function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) if (isDeeper(fields[key], depth - 1)) return true;
  return false;
}

function textPart<Part extends { readonly text: string }>(part: Part): Part | undefined {
  const text = wellFormedText(part.text);
  if (text === '') return undefined;
  return text === part.text ? part : { ...part, text };
}

function repairParts<Part>(
  parts: readonly Part[],
  repair: (part: Part) => Part | undefined,
): readonly Part[] {
  // Nearly every part is in a valid form, and then nothing is copied.
  if (parts.every((part) => repair(part) === part)) return parts;
  return parts.map(repair).filter((part) => part !== undefined);
}
