import type { SessionStore } from '@cobbler/agent';
import type { TokenStore } from '../auth/token-store.ts';
import type { Cookies } from '../requests/cookie.ts';
import type { ServerLimits } from '../requests/limits.ts';
import type { ApprovalService } from '../sessions/approval-service.ts';
import type { SessionService } from '../sessions/session-service.ts';
import type { TokenBudgets } from '../sessions/token-budgets.ts';
import type { Streams } from '../streams/streams.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Meters } from '../telemetry/meters.ts';

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
  /** Returns the model names by which clients of other protocols can select the agent. */
  readonly agentNames: () => readonly string[];
  /** Returns the reason if the server is not ready; otherwise undefined. */
  readonly readiness: () => Promise<string | undefined>;
}
