import type { AgentEvent } from '../../src/interfaces/agent.ts';
import type { AssembledResponse } from '../../src/provider/response/assembler.ts';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { ResponseSink } from '../../src/provider/wire/wire.ts';

/** Returns the response and the events that result from the calls of a wire. */
export function told(say: (out: ResponseSink) => void): { answer: AssembledResponse; events: AgentEvent[] } {
  const events: AgentEvent[] = [];
  const assembly = new Assembly({ provider: 'plain' }, (event) => events.push(event));
  say(assembly);
  return { answer: assembly.answer(), events };
}
