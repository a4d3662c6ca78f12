import { z } from 'zod';
import { Problem } from '../requests/problem.ts';

/** An unvalidated item of an input. */
interface InputItem {
  readonly type?: string | undefined;
  readonly role?: string | undefined;
  readonly content?:
    | string
    | readonly { readonly type: string; readonly text?: string | undefined }[]
    | undefined;
}

const item: z.ZodType<InputItem> = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
    .optional(),
});

/** The supported part of a request to OpenAI's Responses API. */
export interface ResponsesBody {
  readonly model: string;
  readonly input: string | readonly InputItem[];
  readonly stream?: boolean | null | undefined;
  readonly previous_response_id?: string | null | undefined;
  readonly [more: string]: unknown;
}

export const responsesBody: z.ZodType<ResponsesBody> = z
  .looseObject({
    model: z.string(),
    input: z.union([z.string(), z.array(item).min(1).max(1_000)]),
    stream: z.boolean().nullish(),
    previous_response_id: z.string().max(200).nullish(),
  })
  .meta({ id: 'ResponsesRequest' });

/**
 * Returns the prompt of a request.
 * @throws Problem 400 for unsupported fields: ignoring them would mislead the client.
 */
export function promptOf(body: ResponsesBody): string {
  refuseOthers(body);
  const { input } = body;
  const text = typeof input === 'string' ? input : input.map(textOf).join('\n\n');
  if (text.trim() === '') throw unsupportedField('input', 'The input is empty.');
  return text;
}

/** The location of a response: the run that starts with this event of a session. */
export interface ResponseLocation {
  readonly sessionId: string;
  readonly seq: number;
}

export function responseId({ sessionId, seq }: ResponseLocation): string {
  return `resp_${seq}_${sessionId}`;
}

/** Parses the id of a response; a session id stands for its last response. */
export function parseResponseId(id: string): Partial<ResponseLocation> & Pick<ResponseLocation, 'sessionId'> {
  const [, seq, sessionId] = /^resp_(\d{1,15})_(.+)$/.exec(id) ?? [];
  return seq === undefined || sessionId === undefined ? { sessionId: id } : { sessionId, seq: Number(seq) };
}

/** Unsupported fields, each with a check for values that have no effect. */
const unsupportedFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  instructions: (value) => value === '',
  tools: (value) => Array.isArray(value) && value.length === 0,
  background: (value) => value === false,
  conversation: () => false,
  prompt: () => false,
  store: (value) => value === true,
  text: (value) => {
    const format = (value as { format?: { type?: unknown } } | undefined)?.format;
    return format === undefined || format.type === 'text';
  },
};

function refuseOthers(body: ResponsesBody): void {
  for (const [name, asksNothing] of Object.entries(unsupportedFields)) {
    const value = body[name];
    if (value === undefined || value === null || asksNothing(value)) continue;
    throw unsupportedField(
      name,
      `"${name}" is not supported: the server sets the model and the instructions, and stores the conversations.`,
    );
  }
}

function textOf({ type = 'message', role, content }: InputItem): string {
  if (type !== 'message' || role !== 'user' || content === undefined) {
    throw unsupportedField(
      'input',
      'Only user messages are accepted. To continue a conversation, set previous_response_id to the id of its last response.',
    );
  }
  if (typeof content === 'string') return content;
  const other = content.find((one) => one.type !== 'input_text' || one.text === undefined);
  if (other !== undefined) throw unsupportedField('input', `Only text is accepted, not ${other.type}.`);
  return content.map((one) => one.text).join('');
}

function unsupportedField(param: string, detail: string): Problem {
  return new Problem(400, 'unsupported_parameter', detail, { extra: { param } });
}
