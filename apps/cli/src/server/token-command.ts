import type { NewToken, Scope, TokenInfo } from '@cobbler/server';
import { scopes as allScopes } from '@cobbler/server';
import type { RawOptions } from '../config/run-flags.ts';
import { jsonLine } from '../terminal/escape.ts';
import { parseAge, parseCount } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { optionValue } from '../terminal/option-value.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { ServerLink } from './server-link.ts';
import { linkToServer, refusalError } from './server-link.ts';

const actions = ['create', 'list', 'revoke'];
const advice = 'See: cobbler help token';

/** Runs `cobbler token`: creates, lists and revokes the tokens of a running server. Returns the exit code. */
export async function token(operands: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const [action = '', given] = operands;
  if (!actions.includes(action) || (given === undefined) !== (action === 'list'))
    throw new UsageError(
      `Use token create NAME, token list or token revoke ID.${didYouMean(action, actions)}`,
      advice,
    );
  const link = linkToServer(io.env, options['url']);
  if (action === 'create') await create(link, given ?? '', options, io);
  else if (action === 'list') await list(link, options['json'] === true, io);
  else await ask(link, 'DELETE', `/v1/tokens/${encodeURIComponent(given ?? '')}`);
  return 0;
}

/** Prints only the secret to standard output, so that a script can store it. */
async function create(link: ServerLink, name: string, options: RawOptions, io: Io): Promise<void> {
  const scopes = optionValue(
    options['scope'] ?? 'read,prompt,approve',
    '--scope',
    parseScopes,
    `Use a comma-separated list of: ${allScopes.join(', ')}`,
  );
  const expiresInMs = optionValue(options['expires'], '--expires', parseAge, 'For example: --expires 30d');
  const requestsPerMinute = optionValue(options['rate'], '--rate', parseRate, 'For example: --rate 30/min');
  const runningSessions = optionValue(
    options['sessions'],
    '--sessions',
    parseCount,
    'For example: --sessions 2',
  );
  const limits = { expiresInMs, budget: options['budget'], requestsPerMinute, runningSessions };
  const made = await ask<NewToken>(link, 'POST', '/v1/tokens', { name, scopes, ...limits });
  io.stdout.write(`${made.token}\n`);
  io.stderr.write(`${lineOf(made)}\nThis secret is not shown again.\n`);
}

async function list(link: ServerLink, isJson: boolean, io: Io): Promise<void> {
  const { items } = await ask<{ readonly items: readonly TokenInfo[] }>(link, 'GET', '/v1/tokens');
  if (isJson) io.stdout.write(jsonLine(items));
  else for (const info of items) io.stdout.write(`${lineOf(info)}\n`);
}

function lineOf({ id, name, scopes, ...limits }: TokenInfo): string {
  const { budget, requestsPerMinute: rate, runningSessions, expiresAt } = limits;
  const rest = [
    scopes.join(','),
    ...(budget === undefined ? [] : [`budget ${budget}`]),
    ...(rate === undefined ? [] : [`rate ${rate}/min`]),
    ...(runningSessions === undefined ? [] : [`sessions ${runningSessions}`]),
    ...(expiresAt === undefined ? [] : [`until ${expiresAt}`]),
  ];
  return oneLine(`${id}  ${name}  ${rest.join('  ')}`);
}

async function ask<Json>(link: ServerLink, method: string, path: string, body?: unknown): Promise<Json> {
  const { status, json } = await link(method, path, body);
  if (status >= 300) throw refusalError(status, json, 'To list the tokens, run cobbler token list.');
  return json as Json;
}

function parseRate(text: string): number | undefined {
  return parseCount(/^(.*)\/min$/.exec(text)?.[1] ?? '');
}

function parseScopes(text: string): readonly Scope[] | undefined {
  const words = text.split(',').map((word) => word.trim());
  const found = allScopes.filter((scope) => words.includes(scope));
  return words.every((word) => found.some((scope) => scope === word)) ? found : undefined;
}
