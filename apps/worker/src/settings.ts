import { AgentError } from '@cobbler/agent';
import type { Amounts, BudgetDefinition } from '@cobbler/agent/budgets';
import { amount, listOf, oneOf, read, record, text } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import { isTimeZone } from '@cobbler/assistant';
import { secretPattern } from '@cobbler/assistant/telegram';
import type { Env } from './env.ts';

/** The settings from the environment. */
export interface WorkerSettings {
  readonly token: string;
  readonly secret: string;
  readonly allowed: ReadonlySet<string>;
  readonly timeZone: string;
  readonly userBudget?: UserBudget;
  readonly auditKey?: string;
  readonly auditToken?: string;
}

type UserBudget = Pick<BudgetDefinition, 'per' | 'timeZone' | 'limits' | 'alerts'>;

const readBudget = record<UserBudget>(
  {
    per: oneOf('total', 'hour', 'day', 'month'),
    timeZone: text,
    limits: record<Partial<Amounts>>({ usd: amount, tokens: amount, requests: amount }),
    alerts: listOf(amount),
  },
  ['limits'],
);

/**
 * Reads the settings from the environment.
 * @throws AgentError `invalid`, code `settings`, that names the missing setting and how to set it.
 */
export function settingsOf(env: Env): WorkerSettings {
  const token = secretIn(env, 'TELEGRAM_BOT_TOKEN');
  const secret = secretIn(env, 'TELEGRAM_WEBHOOK_SECRET');
  secretIn(env, 'ANTHROPIC_API_KEY');
  if (!secretPattern.test(secret))
    throw invalidSetting(
      'TELEGRAM_WEBHOOK_SECRET must consist of 1 to 256 characters: letters, digits, "_" and "-".',
    );
  const allowed = peopleIn(env);
  const optional = { userBudget: budgetIn(env), auditKey: auditKeyIn(env), auditToken: auditTokenIn(env) };
  return { token, secret, allowed, timeZone: timeZoneIn(env), ...defined(optional) };
}

function secretIn(
  env: Env,
  name: 'TELEGRAM_BOT_TOKEN' | 'TELEGRAM_WEBHOOK_SECRET' | 'ANTHROPIC_API_KEY',
): string {
  const value = env[name]?.trim() ?? '';
  if (value === '')
    throw invalidSetting(`${name} is missing. Set it: wrangler secret put ${name} --env production`);
  return value;
}

function peopleIn({ TELEGRAM_ALLOWED_USERS: list = '' }: Env): ReadonlySet<string> {
  const people = list.split(/[\s,;]+/).filter((id) => id !== '');
  const odd = people.find((id) => !/^\d{1,20}$/.test(id));
  if (odd !== undefined)
    throw invalidSetting(
      `TELEGRAM_ALLOWED_USERS contains ${JSON.stringify(odd)}, which is not a user id. Use numeric ids, because usernames can change owners; @userinfobot shows your id.`,
    );
  return new Set(people);
}

function timeZoneIn({ TIME_ZONE: zone = '' }: Env): string {
  if (zone === '') return 'UTC';
  if (!isTimeZone(zone))
    throw invalidSetting(
      `TIME_ZONE is ${JSON.stringify(zone)}, which is not a time zone. Use a name such as Europe/Berlin.`,
    );
  return zone;
}

function budgetIn({ USER_BUDGET: given = '' }: Env): UserBudget | undefined {
  if (given.trim() === '') return undefined;
  try {
    return read(JSON.parse(given), readBudget, 'USER_BUDGET');
  } catch (thrown) {
    const example = '{"per":"day","limits":{"usd":0.5}}';
    throw invalidSetting(
      `USER_BUDGET is invalid: ${AgentError.from(thrown).message} For example: ${example}`,
    );
  }
}

/** The 48 bytes of an Ed25519 key in PKCS #8. */
function auditKeyIn({ AUDIT_KEY: key = '' }: Env): string | undefined {
  const given = key.replace(/\s/g, '');
  if (given === '' || /^MC4CAQAwBQYDK2VwBCIEI[A-Za-z\d+/]{43}$/.test(given)) return given || undefined;
  const advice = 'Create one: openssl genpkey -algorithm ed25519 -outform DER | base64';
  throw invalidSetting(`AUDIT_KEY is not a private Ed25519 key in base64. ${advice}`);
}

function auditTokenIn({ AUDIT_TOKEN: token = '' }: Env): string | undefined {
  if (token === '' || /^[\w-]{32,256}$/.test(token)) return token || undefined;
  throw invalidSetting(
    'AUDIT_TOKEN must consist of 32 to 256 characters: letters, digits, "_" and "-". Create one: openssl rand -hex 32',
  );
}

function invalidSetting(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'settings', message });
}
