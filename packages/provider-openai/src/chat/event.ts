import type { StopReason } from '@cobbler/agent';
import type { Out } from '@cobbler/agent/provider';
import { errorObject, streamFault } from '../fault.ts';
import type { Fields } from '../fields.ts';
import { filledIn, isFields, objectsIn, textIn } from '../fields.ts';
import { usageOf } from '../usage.ts';
import { StreamedCalls } from './calls.ts';

/** What has to be remembered of an answer while it streams. */
interface Answer {
  readonly calls: StreamedCalls;
  named: boolean;
  refused: boolean;
  /** The finish reason has come: nothing is added to the answer any more. */
  finished: boolean;
}

/** An answer lives as long as its `out`, of which the kit makes one per answer: the wire itself keeps nothing. */
const answers: WeakMap<Out, Answer> = new WeakMap();

function answerOf(out: Out): Answer {
  let answer = answers.get(out);
  if (answer === undefined) {
    answer = { calls: new StreamedCalls(), named: false, refused: false, finished: false };
    answers.set(out, answer);
  }
  return answer;
}

/**
 * One chunk of a streamed completion. The finish reason ends the answer, since it tells that all of it was
 * sent; the usage comes after it, and some servers leave out the `[DONE]` behind that. A stream without a
 * finish reason was cut, whatever it says at its end.
 */
export function chatEvent(payload: unknown, out: Out): void {
  if (payload === '[DONE]') return;
  if (typeof payload === 'string')
    return out.fail({ kind: 'broken', message: 'The stream held a line that is not JSON.' });
  if (!isFields(payload)) return;
  if (payload['error'] !== undefined && payload['error'] !== null) return failWith(payload['error'], out);
  const answer = answerOf(out);
  if (!answer.named && filledIn(payload, 'model') !== undefined) {
    answer.named = true;
    out.model(textIn(payload, 'model'));
  }
  if (isFields(payload['usage'])) {
    out.usage(usageOf(payload['usage'], { input: 'prompt_tokens', output: 'completion_tokens' }));
  }
  const [choice] = objectsIn(payload, 'choices');
  if (choice === undefined || answer.finished) return;
  if (isFields(choice['delta'])) takeDelta(choice['delta'], answer, out);
  const reason = filledIn(choice, 'finish_reason');
  if (reason === undefined) return;
  answer.finished = true;
  answer.calls.end(out);
  out.end(stopOf(reason, answer), reason);
}

/**
 * Nothing says that the reasoning or the text is over; what follows says it for them. Should it go on after
 * all, the kit begins another block.
 */
function takeDelta(delta: Fields, answer: Answer, out: Out): void {
  // Compatible servers show reasoning under one of these names, some under both with the same text.
  const reasoning = filledIn(delta, 'reasoning_content') ?? filledIn(delta, 'reasoning');
  if (reasoning !== undefined) out.reasoning('reasoning', reasoning);
  const refusal = filledIn(delta, 'refusal');
  if (refusal !== undefined) answer.refused = true;
  const text = filledIn(delta, 'content') ?? refusal;
  if (text !== undefined) {
    out.close('reasoning');
    out.text('text', text);
  }
  for (const piece of objectsIn(delta, 'tool_calls')) {
    if (answer.calls.size === 0) {
      out.close('reasoning');
      out.close('text');
    }
    answer.calls.add(piece, out);
  }
}

/**
 * Many servers say `stop` where OpenAI says `tool_calls`: what counts is that there are calls. Calls announced
 * and not made are the kit's to judge.
 */
function stopOf(reason: string, answer: Answer): StopReason {
  if (reason === 'length') return 'max_tokens';
  if (reason === 'content_filter' || answer.refused) return 'refusal';
  if (reason !== 'stop' && reason !== 'tool_calls') return 'unknown';
  return answer.calls.size > 0 || reason === 'tool_calls' ? 'tool_use' : 'complete';
}

function failWith(error: unknown, out: Out): void {
  const { kind, message, retryAfterMs } = streamFault(errorObject(error));
  out.fail({ kind, message, retryAfterMs });
}
