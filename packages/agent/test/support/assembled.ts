import type { AgentEvent, ModelResponse } from '../../src/interfaces/agent.ts';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { ResponseHead } from '../../src/provider/response/complete-response.ts';
import type { ResponseSink } from '../../src/provider/wire/wire.ts';
import { noUsage } from '../../src/values/usage.ts';

/** What the first attempt adds to its response. */
export const firstAttempt: ResponseHead = { model: 'model-1', attempts: 1, wasted: noUsage };

/** Returns the response and the events that result from the calls of a wire. */
export function told(say: (out: ResponseSink) => void): { answer: ModelResponse; events: AgentEvent[] } {
  const events: AgentEvent[] = [];
  const assembly = new Assembly({ provider: 'plain' }, (event) => events.push(event));
  say(assembly);
  return { answer: assembly.response(firstAttempt), events };
}
