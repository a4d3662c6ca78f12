import type { AgentEvent } from '../../src/interfaces/agent.ts';
import type { Answer } from '../../src/provider/response/assembler.ts';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { Out } from '../../src/provider/wire/wire.ts';

/** What comes of what a wire says. */
export function told(say: (out: Out) => void): { answer: Answer; events: AgentEvent[] } {
  const events: AgentEvent[] = [];
  const assembly = new Assembly('plain', (event) => events.push(event));
  say(assembly);
  return { answer: assembly.answer(), events };
}
