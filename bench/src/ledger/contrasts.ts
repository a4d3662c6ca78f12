import type { SubjectName } from './subjects.ts';

/** A different policy for the same requests, to show the results without one part of ours. */
export interface Contrast {
  readonly name: string;
  readonly subject: SubjectName;
  /** The workload that shows the difference. */
  readonly work: string;
  /** Changes a body before the service reads it. */
  readonly edit: (body: Record<string, unknown>) => void;
  /**
   * The minimum cost of the workload with this policy: a simulation that does not show the difference proves nothing.
   */
  readonly least: number;
}

type Block = Record<string, unknown>;

/** The contrasts that show why each part of the policy is necessary. */
export const contrasts: readonly Contrast[] = [
  {
    name: 'twelve calls a turn, one moving mark',
    subject: 'claude',
    work: 'twelve calls in each of 20 turns',
    edit: keepLastMark,
    least: 1,
  },
  {
    name: '400 s a turn, still five minutes',
    subject: 'claude',
    work: '50 turns, each 400 s after the one before',
    edit: (body) => {
      for (const block of marked(body)) block['cache_control'] = { type: 'ephemeral' };
    },
    least: 1,
  },
  {
    name: '50 turns, no marks',
    subject: 'claude',
    work: 'a loop of 50 turns',
    edit: (body) => {
      for (const block of marked(body)) delete block['cache_control'];
    },
    least: 1,
  },
  {
    name: '50 turns, no key',
    subject: 'openai responses',
    work: 'a loop of 50 turns',
    edit: (body) => {
      delete body['prompt_cache_key'];
    },
    least: 1,
  },
];

function keepLastMark(body: Record<string, unknown>): void {
  const inMessages = blocksOf(body['messages']).filter((block) => block['cache_control'] !== undefined);
  for (const block of inMessages.slice(0, -1)) delete block['cache_control'];
}

function marked(body: Record<string, unknown>): Block[] {
  const all = [...list(body['tools']), ...list(body['system']), ...blocksOf(body['messages'])];
  return all.filter((block) => block['cache_control'] !== undefined);
}

function blocksOf(messages: unknown): Block[] {
  return list(messages).flatMap(({ content }) => list(content));
}

function list(value: unknown): Block[] {
  return Array.isArray(value) ? value : [];
}
