import { AgentError } from '@cobbler/agent';
import { openRuns } from '@cobbler/agent/sqlite-runner';
import { defined } from '@cobbler/agent/values';
import type { AuditEntry, OutboxEntry } from '@cobbler/assistant';
import { auditOf, sqlEvents, sqlOutbox } from '@cobbler/assistant';
import { getMe } from '@cobbler/assistant/telegram';
import { assistantTools } from '../config/choose-tools.ts';
import { shortPath } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { visible } from '../terminal/escape.ts';
import { formatCount, formatUsd, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { optionValue } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AssistantHome } from './assistant-home.ts';
import { lockHome } from './assistant-home.ts';
import { pricesOf } from './choose-agent.ts';
import { openChats } from './open-assistant.ts';
import { allowedUsers, telegramAccess } from './telegram-access.ts';

const states = ['planned', 'sending', 'maybe_sent', 'given_up'] as const;

/** Runs `cobbler assistant status`: shows the bot, its webhook and its unfinished turns. */
export async function showStatus(home: AssistantHome, apiRoot: string | undefined, io: Io): Promise<number> {
  const sql = openChats(home);
  try {
    const unlock = lockHome(home);
    unlock?.();
    const outbox = sqlOutbox(sql);
    const counts: string[] = [];
    for (const state of states) {
      const { length } = await outbox.list({ state, limit: 1000 });
      if (length > 0) counts.push(`${formatCount(length)} ${state.replace('_', ' ')}`);
    }
    const runs = openRuns(home.runs);
    const turns = runs.filter(({ key }) => key?.startsWith('chat:'));
    const rows: [string, string][] = [
      ...(await botRows(apiRoot, io)),
      ['allowed', people(allowedUsers(io.env).size)],
      ['assistant', unlock === undefined ? 'running' : 'not running'],
      ['turns', `${formatCount(turns.length)} unfinished of ${plural(runs.length, 'run')}`],
      ['outbox', counts.length === 0 ? 'no undelivered messages' : counts.join(', ')],
      ['home', shortPath(home.folder, io.env)],
    ];
    io.stdout.write(`${rows.map(([name, value]) => `${name.padEnd(11)}${visible(value)}`).join('\n')}\n`);
    return 0;
  } finally {
    sql.close();
  }
}

function people(count: number): string {
  if (count === 0) return 'none: TELEGRAM_ALLOWED_USERS is empty';
  return count === 1 ? '1 user' : `${formatCount(count)} users`;
}

async function botRows(apiRoot: string | undefined, io: Io): Promise<[string, string][]> {
  try {
    const { api } = telegramAccess(io.env, apiRoot);
    const { id, name } = await getMe(api);
    const { url = '', pending_update_count: pending } = await api.raw.getWebhookInfo();
    const webhook = url === '' ? 'none: uses polling' : url;
    return [
      ['bot', `@${name} (${id})`],
      ['webhook', webhook],
      ['waiting', `${plural(pending, 'update')} pending at Telegram`],
    ];
  } catch (error) {
    return [['bot', error instanceof UsageError ? error.message : AgentError.from(error).message]];
  }
}

/** Runs `cobbler assistant audit`: shows model requests and tool calls, without message text. */
export async function showAudit(home: AssistantHome, options: RawOptions, io: Io): Promise<number> {
  const sql = openChats(home);
  try {
    const chatId = typeof options['chat'] === 'string' ? options['chat'] : undefined;
    const age = optionValue(options['since'], '--since', parseRecent, 'For example: 2d, 12h or 30m');
    const since = age === undefined ? undefined : Date.now() - age;
    const entries = auditOf(sqlEvents(sql), {
      pricing: await pricesOf(io.env),
      tools: assistantTools({ root: home.folder, environment: io.env, sandbox: 'off' }),
      ...defined({ chatId, since }),
    });
    let count = 0;
    for await (const entry of entries) {
      count += 1;
      io.stdout.write(`${options['json'] === true ? JSON.stringify(entry) : auditLine(entry)}\n`);
    }
    if (count === 0)
      io.stderr.write('There are no entries: nothing has happened, or the entries have expired.\n');
    return 0;
  } finally {
    sql.close();
  }
}

/** Reads an age such as `2d` as milliseconds. */
function parseRecent(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+)(m|h|d)$/.exec(text.trim()) ?? [];
  const ms = { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  return ms === undefined ? undefined : Number(amount) * ms;
}

function auditLine(entry: AuditEntry): string {
  const head = `${entry.time.slice(0, 19)}Z  ${entry.chatId}  ${entry.kind.padEnd(5)}`;
  if (entry.kind === 'model') {
    const { model = '', inputTokens, outputTokens, usd, status, error } = entry;
    const tokens =
      inputTokens === undefined
        ? ''
        : `${formatCount(inputTokens)} in, ${formatCount(outputTokens ?? 0)} out`;
    const cost = usd === undefined ? '' : formatUsd(usd);
    return visible([head, status, error ?? '', model, tokens, cost].filter(Boolean).join('  '));
  }
  const { tool, effect = '', status, decision, decidedBy } = entry;
  const decided =
    decision === undefined ? '' : `${decision}${decidedBy === undefined ? '' : ` by ${decidedBy}`}`;
  return visible([head, status, tool, effect, decided].filter(Boolean).join('  '));
}

/** Runs `cobbler assistant outbox`: lists the message chunks that wait, failed or may have been sent. */
export async function showOutbox(home: AssistantHome, options: RawOptions, io: Io): Promise<number> {
  const sql = openChats(home);
  try {
    const outbox = sqlOutbox(sql);
    const found: OutboxEntry[] = [];
    for (const state of states) found.push(...(await outbox.list({ state, limit: 1000 })));
    for (const entry of found)
      io.stdout.write(`${options['json'] === true ? JSON.stringify(entry) : outboxLine(entry)}\n`);
    if (found.length === 0) io.stderr.write('All messages were sent.\n');
    return 0;
  } finally {
    sql.close();
  }
}

function outboxLine({ state, chatId, key, attempts, error, piece }: OutboxEntry): string {
  const words = piece.text.replaceAll(/\s+/g, ' ').slice(0, 50);
  const facts = [state.replace('_', ' '), `chat ${chatId}`, key, plural(attempts, 'attempt')];
  return visible([...facts, JSON.stringify(words), error?.message ?? ''].filter(Boolean).join('  '));
}
