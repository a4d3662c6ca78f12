import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';

/** The content of one item of a conversation, and its role. */
export interface TurnPart {
  readonly side: 'user' | 'assistant';
  readonly parts: readonly ReadPart[];
}

/** Joins consecutive items of one role into one turn: tool results and the user's content. */
export function turnsOf(items: readonly TurnPart[]): ReadRequest['turns'] {
  const turns: { readonly side: TurnPart['side']; readonly parts: ReadPart[] }[] = [];
  for (const { side, parts } of items) {
    const last = turns.at(-1);
    if (last?.side === side) last.parts.push(...parts);
    else turns.push({ side, parts: [...parts] });
  }
  return turns;
}
