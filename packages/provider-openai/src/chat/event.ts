import type { StopReason } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import { errorObject, streamFault } from '../fault.ts';
import type { Fields } from '../fields.ts';
import { isFields, objectsIn, textIn, withDefaults } from '../fields.ts';
import { usageOf } from '../usage.ts';
import { StreamedCalls } from './calls.ts';

/** State of a response while it streams. */
interface ChatStreamState {
  readonly calls: StreamedCalls;
  /** The text and the reasoning so far, for servers that send the whole once more. */
  text: string;
  reasoning: string;
  named: boolean;
  refused: boolean;
  /** The finish reason has arrived: nothing is added to the response anymore. */
  finished: boolean;
}

/** An answer lives as long as its `out`, of which the kit makes one per answer: the wire itself keeps nothing. */
const answers: WeakMap<ResponseSink, ChatStreamState> = new WeakMap();

function answerOf(out: ResponseSink): ChatStreamState {
  let answer = answers.get(out);
  if (answer === undefined) {
    answer = {
      calls: new StreamedCalls(),
      text: '',
      reasoning: '',
      named: false,
      refused: false,
      finished: false,
    };
    answers.set(out, answer);
  }
  return answer;
}

/**
 * One chunk of a streamed completion. The finish reason ends the answer, since it tells that all of it was
 * sent; the usage comes after it, and some servers leave out the `[DONE]` behind that. A stream without a
 * finish reason was cut, whatever it says at its end.
 */
export function chatEvent(payload: unknown, out: ResponseSink): void {
  if (payload === '[DONE]') return;
  if (typeof payload === 'string')
    return out.fail({ kind: 'broken', message: 'The stream contained a line that is not JSON.' });
  if (!isFields(payload)) return;
  if (payload['error'] !== undefined && payload['error'] !== null) return failWith(payload['error'], out);
  const answer = answerOf(out);
  if (!answer.named && withDefaults(payload, 'model') !== undefined) {
    answer.named = true;
    out.model(textIn(payload, 'model'));
  }
  if (isFields(payload['usage'])) {
    out.usage(usageOf(payload['usage'], { input: 'prompt_tokens', output: 'completion_tokens' }));
  }
  const [choice] = objectsIn(payload, 'choices');
  if (choice === undefined || answer.finished) return;
  if (isFields(choice['delta'])) takeDelta(choice['delta'], answer, out);
  if (isFields(choice['message'])) takeMessage(choice['message'], answer, out);
  const reason = withDefaults(choice, 'finish_reason');
  if (reason === undefined) return;
  answer.finished = true;
  answer.calls.end(out);
  out.end(stopOf(reason, answer), reason);
}

/** No event ends reasoning or text; the next event does. If it continues after all, the kit starts another block. */
function takeDelta(delta: Fields, answer: ChatStreamState, out: ResponseSink): void {
  const said = readSaid(delta, out);
  if (said.reasoning !== '') {
    answer.reasoning += said.reasoning;
    out.reasoning('reasoning', said.reasoning);
  }
  if (said.refused) answer.refused = true;
  if (said.text !== '') {
    answer.text += said.text;
    out.close('reasoning');
    out.text('text', said.text);
  }
  for (const piece of callsIn(delta)) {
    if (answer.calls.size === 0) {
      out.close('reasoning');
      out.close('text');
    }
    answer.calls.add(piece, out);
  }
}

/** Some servers send the whole message, alone or after its deltas. Content missing from the deltas is added now. */
function takeMessage(message: Fields, answer: ChatStreamState, out: ResponseSink): void {
  const { text, reasoning, refused } = readSaid(message, out);
  const calls = callsIn(message);
  const isSame = bare(text) === bare(answer.text);
  const rest = isSame || !text.startsWith(answer.text) ? '' : text.slice(answer.text.length);
  const areSame = calls.length === answer.calls.size;
  const isGarbled =
    (text !== '' && !isSame && rest === '') || (calls.length > 0 && !areSame && answer.calls.size > 0);
  if (isGarbled) return fail(out, 'the streamed and the complete message differ');
  takeDelta(
    {
      ...(answer.reasoning === '' && { reasoning }),
      ...(refused ? { refusal: rest } : { content: rest }),
      ...(!areSame && { tool_calls: calls }),
    },
    answer,
    out,
  );
}

/** Calls as every server has them today, and the one call of the API before. */
function callsIn(delta: Fields): readonly Fields[] {
  const given = delta['function_call'];
  const legacy = isFields(given) ? [{ index: 0, function: given }] : [];
  return [...objectsIn(delta, 'tool_calls'), ...legacy];
}

/**
 * Many servers say `stop` where OpenAI says `tool_calls`: what counts is that there are calls. Calls announced
 * and not made are the kit's to judge.
 */
function stopOf(reason: string, answer: ChatStreamState): StopReason {
  if (reason === 'length') return 'max_tokens';
  if (reason === 'content_filter' || answer.refused) return 'refusal';
  if (!ends.has(reason) || (reason === 'function_call' && answer.calls.size === 0)) return 'unknown';
  return answer.calls.size > 0 || reason !== 'stop' ? 'tool_use' : 'complete';
}

/** Words for an answer that ended well; `function_call` is that of the API before `tool_calls`. */
const ends: ReadonlySet<string> = new Set(['stop', 'tool_calls', 'function_call']);

function bare(text: string): string {
  return text.replace(/\s+/g, '');
}

function failWith(error: unknown, out: ResponseSink): void {
  const { kind, message, retryAfterMs } = streamFault(errorObject(error));
  out.fail({ kind, message, retryAfterMs });
}

/** The text of a delta or a message. */
interface MessageText {
  text: string;
  reasoning: string;
  /** Some of the text is a refusal. */
  refused: boolean;
}

/**
 * Reads the words of a delta or a message. Content is a text, or with some servers a list of parts; a part that cannot
 * be read makes the answer garbled, so that no answer is silently shorter than what was sent.
 */
function readSaid(from: Fields, out: ResponseSink): MessageText {
  // Compatible servers show reasoning under one of these names, some under both with the same text.
  const reasoning = withDefaults(from, 'reasoning_content') ?? textIn(from, 'reasoning');
  const said: MessageText = { text: '', reasoning, refused: false };
  const { content } = from;
  if (typeof content === 'string') said.text = content;
  else if (Array.isArray(content)) for (const part of content) takePart(part, said, out);
  else if (isFields(content)) takePart(content, said, out);
  const refusal = withDefaults(from, 'refusal');
  if (refusal !== undefined) takeRefusal(refusal, said);
  return said;
}

/** The answer cannot be trusted. */
function fail(out: ResponseSink, why: string): void {
  out.fail({ kind: 'broken', message: `The response cannot be parsed: ${why}.` });
}

function takePart(part: unknown, said: MessageText, out: ResponseSink): void {
  if (typeof part === 'string') said.text += part;
  else if (!isFields(part)) return;
  else if (part['type'] === 'refusal') takeRefusal(textIn(part, 'refusal'), said);
  else if (part['type'] === 'thinking') said.reasoning += thinkingIn(part['thinking']);
  else if (typeof part['text'] === 'string') said.text += part['text'];
  // Mistral names its sources so, beside the text.
  else if (part['type'] !== 'reference')
    fail(out, `it contains a part of type ${JSON.stringify(part['type'])}, which is not supported`);
}

function takeRefusal(text: string, said: MessageText): void {
  said.refused = true;
  said.text += text;
}

function thinkingIn(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking)
    ? thinking.map((part) => (isFields(part) ? textIn(part, 'text') : '')).join('')
    : '';
}
