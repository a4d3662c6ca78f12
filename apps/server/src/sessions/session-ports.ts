import type { UserPart } from '@cobbler/agent';
import type { TokenStore } from '../auth/token-store.ts';
import type { TokenBudgets } from './token-budgets.ts';

/** A started run and its first event. */
export interface Accepted {
  readonly sessionId: string;
  readonly runId: string;
  readonly seq: number;
}

/** A prompt for a session. */
export type PromptContent = string | readonly UserPart[];

/** What a session needs of its server. */
export interface SessionServices {
  readonly budgets: TokenBudgets;
  readonly tokens: Pick<TokenStore, 'list'>;
  /** The reason why no run can start. */
  readonly refusal?: string;
  /** Returns the number of other sessions that run for a user. */
  readonly runsOf: (user: string) => number;
}
