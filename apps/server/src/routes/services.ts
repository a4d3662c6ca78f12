import type { SessionStore } from '@cobbler/agent';
import type { ShareLevel } from '@cobbler/agent/store';
import type { TokenStore } from '../auth/token-store.ts';
import type { Cookies } from '../requests/cookie.ts';
import type { ServerLimits } from '../requests/limits.ts';
import type { ApprovalService } from '../sessions/approval-service.ts';
import type { ServerModels } from '../sessions/session-models.ts';
import type { SessionService } from '../sessions/session-service.ts';
import type { TokenBudgets } from '../sessions/token-budgets.ts';
import type { Streams } from '../streams/streams.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Meters } from '../telemetry/meters.ts';

/** A changed share of a session. */
export interface ShareChange {
  readonly session: string;
  /** The user with whom it is shared. */
  readonly name: string;
  /** What the user may do now. Absent if the share has ended. */
  readonly may?: ShareLevel;
  /** The user who changed it. */
  readonly by: string;
}

/** Where the agent of a server works, in words for users. */
export interface PlaceFacts {
  /** The name of its directory. */
  readonly folder: string;
  /** What it may do without asking. */
  readonly permission: string;
}

/** The services that routes use. */
export interface Services {
  readonly sessionService: SessionService;
  readonly store: SessionStore;
  readonly approvals: ApprovalService;
  readonly tokens: TokenStore;
  readonly tokenBudgets: TokenBudgets;
  readonly cookies: Cookies;
  readonly streams: Streams;
  readonly meters: Meters;
  readonly logger: Logger;
  readonly limits: ServerLimits;
  readonly models?: ServerModels;
  readonly place?: () => PlaceFacts;
  /** Called when a session was shared with a user, or no longer. */
  readonly onShare?: (change: ShareChange) => void;
  /** Returns the model names by which clients of other protocols can select the agent. */
  readonly agentNames: () => readonly string[];
  /** Returns the reason if the server is not ready; otherwise undefined. */
  readonly readiness: () => Promise<string | undefined>;
}
