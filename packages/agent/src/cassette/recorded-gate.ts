import type { Gate, Verdict } from '../interfaces/gate.ts';
import { askForVerdict, readVerdict } from '../interfaces/verdict.ts';
import { taped } from './effect.ts';
import { plain } from './plain.ts';
import type { Deck } from './ports.ts';

/** A gate whose verdicts are taped. On a replay it is not asked. */
export function tapedGate(deck: Deck, gate: Gate): Gate {
  return async (call, context) => {
    const { id, toolName, subject } = call;
    const name = deck.ask('verdict', { tool: toolName, call: id, subject, session: context.session });
    return await taped<Verdict>(deck, name, {
      awaited: () => !context.signal.aborted,
      // What is taped is what was read, so that a replay decides the same.
      run: () => askForVerdict(() => gate(call, context)),
      write: (verdict) => ({ verdict: plain(verdict) }),
      read: ({ verdict }) => readVerdict(verdict),
    });
  };
}
