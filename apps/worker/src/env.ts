import type { D1, Vectorize, WorkersAi, WorkflowBinding } from '@cobbler/assistant/cloudflare';

/** The bindings of `wrangler.jsonc`, and the secrets. Strings are missing if they were not deployed. */
export interface Env {
  readonly DB: D1;
  readonly TURNS: WorkflowBinding;
  /** With `VECTORIZE`, memory is searched by meaning; otherwise by keyword. */
  readonly AI?: WorkersAi;
  readonly VECTORIZE?: Vectorize;
  readonly TELEGRAM_BOT_TOKEN?: string;
  readonly TELEGRAM_WEBHOOK_SECRET?: string;
  readonly TELEGRAM_ALLOWED_USERS?: string;
  /** The address of the Bot API, if it is not that of Telegram. */
  readonly TELEGRAM_API_ROOT?: string;
  readonly ANTHROPIC_API_KEY?: string;
  readonly ANTHROPIC_MODEL?: string;
  readonly ANTHROPIC_BASE_URL?: string;
  readonly TIME_ZONE?: string;
  readonly WEBHOOK_URL?: string;
  /** The budget of each user, as JSON, such as `{"per":"day","limits":{"usd":0.5}}`. */
  readonly USER_BUDGET?: string;
  /** The private Ed25519 key of the audit log: PKCS #8 in base64. Without it, there is no log. */
  readonly AUDIT_KEY?: string;
  /** Opens `GET /audit`. Without it, nobody can read the log there. */
  readonly AUDIT_TOKEN?: string;
}
