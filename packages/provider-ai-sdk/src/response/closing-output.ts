import { fieldsOf, textIn } from '../values/fields.ts';

/** A call as the last event of an answer has it. */
export interface ClosingCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** The content that the last event of the Responses API repeats; the SDK reads only its usage. */
export interface ClosingOutput {
  readonly text: string;
  readonly calls: readonly ClosingCall[];
}

/** Undefined for every other event. */
export function closingOutput(event: unknown): ClosingOutput | undefined {
  const { type, response } = fieldsOf(event);
  if (type !== 'response.completed' && type !== 'response.incomplete') return undefined;
  const items = listIn(fieldsOf(response)['output']).map(fieldsOf);
  const parts = items.flatMap((item) => (item['type'] === 'message' ? listIn(item['content']) : []));
  const texts = parts.map(fieldsOf).map((part) => textIn(part['text']) ?? textIn(part['refusal']) ?? '');
  const calls = items.flatMap((item) => {
    const [id, name, input] = ['call_id', 'name', 'arguments'].map((key) => textIn(item[key]) ?? '');
    return item['type'] === 'function_call' && id && name ? [{ id, name, input: input ?? '' }] : [];
  });
  return { text: texts.join(''), calls };
}

/** True if the texts are equal, ignoring white space. */
export function isSame(left: string, right: string): boolean {
  return left.replace(/\s+/g, '') === right.replace(/\s+/g, '');
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
