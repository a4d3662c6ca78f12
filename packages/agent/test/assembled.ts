import type { AgentEvent } from '../src/agent.ts';
import type { Answer } from '../src/provider/assembly.ts';
import { Assembly } from '../src/provider/assembly.ts';
import type { Out } from '../src/provider/wire.ts';

/** What comes of what a wire says. */
export function told(say: (out: Out) => void): { answer: Answer; events: AgentEvent[] } {
  const events: AgentEvent[] = [];
  const assembly = new Assembly('plain', (event) => events.push(event));
  say(assembly);
  return { answer: assembly.answer(), events };
}
