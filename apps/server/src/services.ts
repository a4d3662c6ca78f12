import type { SessionStore } from '@cobbler/agent';
import type { ApprovalDesk } from './approval-desk.ts';
import type { Cookies } from './cookie.ts';
import type { Desk } from './desk.ts';
import type { Journal } from './journal.ts';
import type { ServerLimits } from './limits.ts';
import type { Meters } from './meters.ts';
import type { Streams } from './streams.ts';
import type { TokenBook } from './token-book.ts';

/** What the routes of a server work with. */
export interface Services {
  readonly desk: Desk;
  readonly store: SessionStore;
  readonly approvals: ApprovalDesk;
  readonly tokens: TokenBook;
  readonly cookies: Cookies;
  readonly streams: Streams;
  readonly meters: Meters;
  readonly journal: Journal;
  readonly limits: ServerLimits;
  /** Names by which clients of other protocols may ask for the agent. */
  readonly agentNames: () => readonly string[];
  /** Whether requests can be served now, or why not. */
  readonly readiness: () => Promise<string | undefined>;
}
