import { createHmac } from 'node:crypto';
import type { RunStatus } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { FileConfig, NotifyConfig } from '@cobbler/agent/node';
import { childEnvironment, cobblerHome, superviseProcess } from '@cobbler/agent/node';
import { backoff, defined } from '@cobbler/agent/values';
import type { CliSessions } from '../session/session-home.ts';
import type { Environment } from '../terminal/io.ts';
import { Ledger } from '../view/ledger.ts';
import { postJson } from './post-json.ts';

/** The end of a run, or its wait for a user, as a webhook or a command receives it. */
export interface Notification {
  readonly type: 'run';
  /** The same if this end is reported again. */
  readonly id: string;
  readonly session: string;
  readonly status: RunStatus;
  readonly title: string;
  readonly folder?: string;
  readonly usd?: number;
  /** The start of the last response. */
  readonly text: string;
  readonly error?: string;
  /** The tools whose calls wait for a user's decision. */
  readonly waitsFor?: readonly string[];
  /** When the run ended, in ISO 8601. */
  readonly time: string;
}

/** What a notification needs of the outside; tests replace it. */
export interface NotifyPorts {
  readonly env: Environment;
  readonly post: typeof postJson;
  readonly supervise: typeof superviseProcess;
  readonly pause: (ms: number) => Promise<void>;
}

const maxText = 2000;
const attempts = 3;

/** Maximum time of one request, and of the command, in milliseconds. */
const [requestMs, commandMs] = [5000, 15_000];

/** Returns the notification about the last run of a session; undefined if it has not ended. */
export async function notificationOf(
  { store, notes }: CliSessions,
  id: string,
): Promise<Notification | undefined> {
  const info = await store.info(id);
  const events = await store.read(id);
  const end = events.at(-1);
  if (info === undefined || end?.type !== 'finished') return undefined;
  const ledger = new Ledger();
  for (const event of events) ledger.handle(event);
  const waitsFor = [...ledger.openApprovals.values()].map(({ toolName }) => toolName);
  return {
    type: 'run',
    id: end.id,
    session: id,
    status: end.status,
    title: info.title,
    text: ledger.lastAnswer.slice(0, maxText).toWellFormed(),
    time: end.time,
    ...defined({ folder: notes.read(id)?.folder, usd: info.usd, error: end.error?.message }),
    ...(end.status === 'waiting' && { waitsFor }),
  };
}

/** Returns the functions of this process. */
export function notifyPorts(env: Environment): NotifyPorts {
  const pause = (ms: number) => new Promise<void>((resolve) => void systemRuntime.timer(ms, resolve));
  return { env, post: postJson, supervise: superviseProcess, pause };
}

/** Sends a notification to the webhook and the command of the configuration. Returns what failed, in words. */
export async function notifyUser(
  setting: FileConfig['notify'],
  notification: Notification,
  ports: NotifyPorts,
): Promise<readonly string[]> {
  if (typeof setting !== 'object') return [];
  const body = JSON.stringify(notification);
  const problems = await Promise.all([callWebhook(setting, body, ports), runCommand(setting, body, ports)]);
  return problems.flatMap((problem) =>
    problem === undefined ? [] : [`The notification was not delivered: ${problem}.`],
  );
}

async function callWebhook(
  { webhook: url, secret }: NotifyConfig,
  body: string,
  { post, pause }: NotifyPorts,
): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const digest = secret && createHmac('sha256', secret).update(body).digest('hex');
  const headers = digest === undefined ? {} : { 'x-cobbler-signature': `sha256=${digest}` };
  let problem: string | undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await pause(backoff({ baseMs: 1000 }, attempt - 1));
    problem = await post({ url, body, headers, timeoutMs: requestMs });
    if (problem === undefined) return undefined;
  }
  return problem;
}

async function runCommand(
  { command: [program, ...args] = [] }: NotifyConfig,
  input: string,
  { env, supervise }: NotifyPorts,
): Promise<string | undefined> {
  if (program === undefined) return undefined;
  const end = await supervise({
    ...{ argv: [program, ...args], cwd: cobblerHome(env) ?? '/', env: childEnvironment(env), input },
    ...{ timeoutMs: commandMs, maxOutputBytes: 1000 },
  }).ended;
  if (end.cause === 'exit' && end.code === 0) return undefined;
  const reason = end.error?.message.replace(/\.$/, '') ?? `exit code ${end.code ?? 'none'}`;
  return `${program}: ${end.cause === 'timeout' ? `no end after ${commandMs / 1000} s` : reason}`;
}
