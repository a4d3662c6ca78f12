import { createHmac } from 'node:crypto';
import type { RunStatus } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { FileConfig } from '@cobbler/agent/node';
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

/** The functions that deliver a notification; tests replace them. */
export interface NotifyPorts {
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

const ports: NotifyPorts = {
  post: postJson,
  supervise: superviseProcess,
  pause: (ms) => new Promise((resolve) => void systemRuntime.timer(ms, resolve)),
};

/** Sends a notification to the webhook and the command of the configuration. Returns what failed, in words. */
export async function notifyUser(
  setting: FileConfig['notify'],
  notification: Notification,
  env: Environment,
  { post, pause, supervise }: NotifyPorts = ports,
): Promise<readonly string[]> {
  if (typeof setting !== 'object') return [];
  const body = JSON.stringify(notification);
  const { webhook: url, secret, command: [program, ...args] = [] } = setting;
  const problems: (string | undefined)[] = [];
  const digest = secret && createHmac('sha256', secret).update(body).digest('hex');
  const headers = digest === undefined ? {} : { 'x-cobbler-signature': `sha256=${digest}` };
  for (let attempt = 0; url !== undefined && attempt < attempts; attempt += 1) {
    if (attempt > 0) await pause(backoff({ baseMs: 1000 }, attempt - 1));
    problems[0] = await post({ url, body, headers, timeoutMs: requestMs });
    if (problems[0] === undefined) break;
  }
  if (program !== undefined) {
    const { cause, code, error } = await supervise({
      ...{ argv: [program, ...args], cwd: cobblerHome(env) ?? '/', env: childEnvironment(env), input: body },
      ...{ timeoutMs: commandMs, maxOutputBytes: 1000 },
    }).ended;
    const end =
      error?.message.replace(/\.$/, '') ?? (cause === 'exit' ? `exit code ${code ?? 'none'}` : cause);
    if (cause !== 'exit' || code !== 0) problems.push(`${program}: ${end}`);
  }
  return problems.flatMap((problem) =>
    problem === undefined ? [] : [`The notification was not delivered: ${problem}.`],
  );
}
