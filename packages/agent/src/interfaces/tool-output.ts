import type { Reader } from '../values/input.ts';
import { any, read, record } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { ToolResultPart } from '../values/message.ts';

const outputBrand = Symbol.for('cobbler.ToolOutput');

/** A result with more than text: parts for the model, and information for users that the model does not see. */
export interface ToolOutput {
  readonly content: string | readonly ToolResultPart[];
  /** True if the call failed; the model sees this. */
  readonly isError?: boolean;
  /** A short phrase for users, such as `exit 1`. */
  readonly summary?: string;
  /** A unified diff of the changes, for users. */
  readonly diff?: string;
  /** True if the content may contain text that other people wrote, as with `untrusted` of a tool. */
  readonly untrusted?: boolean;
}

/** Marks a value as {@link ToolOutput}, so that no ordinary object is mistaken for one. */
export function toolOutput(output: ToolOutput): ToolOutput {
  return Object.defineProperty({ ...read(output, readOutput, 'output') }, outputBrand, { value: true });
}

/** Reads an output. What its fields contain is checked later, because a mistake of a tool must not end the run. */
export const readOutput: Reader<ToolOutput> = record<ToolOutput>({
  content: any,
  isError: any,
  summary: any,
  diff: any,
  untrusted: any,
});

/** Returns whether {@link toolOutput} created the value, also across copies of this package. */
export function isToolOutput(value: unknown): value is ToolOutput {
  return isObject(value) && outputBrand in value;
}
