import { isObject } from './json.ts';
import type { AssistantPart, ToolCallPart, UserPart } from './message.ts';

/** Half of a surrogate pair is no character: services refuse it and files cannot hold it. */
export function wellFormedText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Deeper values are left as they are; arguments from a model never are so deep. */
const maxDepth = 200;

/** A JSON value whose strings and keys are well formed; the same value when they already are. */
export function wellFormedJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return wellFormedText(value);
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => wellFormedJson(item, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const entry: [string, unknown] = [wellFormedText(key), wellFormedJson(item, depth + 1)];
    if (entry[0] !== key || entry[1] !== item) changed = true;
    return entry;
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** What a person said or a tool gave, without empty text; the same array when nothing had to be mended. */
export function wellFormedParts(parts: readonly UserPart[]): readonly UserPart[] {
  return mended(parts, (part) =>
    part.type === 'text' ? textPart(part) : (wellFormedJson(part) as UserPart),
  );
}

/**
 * An answer as it may stand in a history; the same array when nothing had to be mended. What is sealed is
 * left alone, because a seal holds for the exact bytes.
 */
export function wellFormedAnswer(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  return mended(parts, (part) => {
    if (part.type === 'tool_call') return callPart(part);
    if (part.type === 'text' || (part.type === 'reasoning' && part.seal === undefined)) return textPart(part);
    return part;
  });
}

/** What a provider may give at most (promise 11); deeper arguments could overflow the stack of whoever reads them. */
const maxArgumentDepth = 64;

function callPart(part: ToolCallPart): ToolCallPart {
  if (isDeeper(part.arguments, maxArgumentDepth)) {
    return callPart({
      ...part,
      arguments: {},
      problem: part.problem ?? 'The arguments are nested too deeply.',
    });
  }
  const { seal, ...plain } = part;
  const whole = wellFormedJson(plain) as typeof plain;
  if (isObject(whole.arguments))
    return whole === plain ? part : { ...whole, ...(seal !== undefined && { seal }) };
  return {
    ...part,
    ...whole,
    arguments: {},
    problem: whole.problem ?? 'The arguments are not a JSON object.',
  };
}

/** Goes level by level instead of recursing, so that no nesting is too deep for it. */
function isDeeper(root: unknown, most: number): boolean {
  let level: object[] = isContainer(root) ? [root] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > most) return true;
    const below: object[] = [];
    for (const value of level) {
      for (const item of Object.values(value)) if (isContainer(item)) below.push(item);
    }
    level = below;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function textPart<Part extends { readonly text: string }>(part: Part): Part | undefined {
  const text = wellFormedText(part.text);
  if (text === '') return undefined;
  return text === part.text ? part : { ...part, text };
}

function mended<Part>(parts: readonly Part[], mend: (part: Part) => Part | undefined): readonly Part[] {
  const whole = parts.map(mend).filter((part) => part !== undefined);
  return whole.length === parts.length && whole.every((part, index) => part === parts[index]) ? parts : whole;
}
