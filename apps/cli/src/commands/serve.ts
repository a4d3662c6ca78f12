import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { AgentError } from '@cobbler/agent';
import type { FileConfig } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { CobblerServer, PlaceFacts, ServerBudgets, SessionSettings } from '@cobbler/server';
import { startServer, TokenStore, tokenFile } from '@cobbler/server';
import { recordChildren } from '../config/backend.ts';
import { shortPath } from '../config/directory.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { openMcp } from '../config/mcp-servers.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import { readSettings } from '../config/settings.ts';
import { permissionWords } from '../permissions/permission.ts';
import { withAgent } from '../project/agent-folder.ts';
import { agentNames } from '../run/attended.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { Schedules } from '../server/schedules.ts';
import type { ServeFlags } from '../server/serve-flags.ts';
import { readServeFlags } from '../server/serve-flags.ts';
import { ServeFolders, servedFolders } from '../server/serve-folders.ts';
import type { ServePlaces, StoreWatch } from '../server/serve-places.ts';
import { servePlaces } from '../server/serve-places.ts';
import type { ServerHome } from '../server/server-home.ts';
import { noteRunning, readRunning, serverHome } from '../server/server-home.ts';
import { linkTo } from '../server/server-link.ts';
import { SessionModels } from '../server/session-models.ts';
import type { Audit } from '../session/audit.ts';
import { openAudit, readsOnly } from '../session/audit.ts';
import type { UndoHistory } from '../session/undo-history.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';
import { modelSource, openServedFolder } from '../workplace/served-folder.ts';

/** The session of the plain routes. Its tools run one at a time, and the first failure stops the rest. */
const seedSession = 'default';

/** Runs `cobbler serve`: serves sessions over HTTP until it is stopped. Returns the exit code. */
export async function serve(given: readonly string[], options: RawOptions, io: Io): Promise<number> {
  if (options['demo'] === true) return await serveDemo(options, io);
  const flags = readServeFlags(options);
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const log = (line: string) => io.stderr.write(`${line}\n`);
  const until: ServeLife['until'] = ({ server }) => waitForStop(server, io);
  const work = await withAgent(flags.work, io);
  return await serveUntil(given, { ...flags, work }, { report, log, until }, io);
}

/** A server that is running. */
export interface Serving {
  readonly server: CobblerServer;
  readonly token: string;
  /** Makes later runs use the agent of these options. Rejects without a change if they cannot work. */
  reload(work: RunFlags): Promise<void>;
}

/** How long a server runs, and where its messages go. */
export interface ServeLife {
  readonly report: (line: string) => void;
  readonly log: (line: string) => void;
  /** True for the server of an agent under development, which other commands do not find. */
  readonly isDevelopment?: boolean;
  /** Resolves when the server has stopped. */
  readonly until: (serving: Serving) => Promise<void>;
}

/**
 * Serves as long as `until` takes. Returns the exit code.
 * @param given the directories of the sessions. Default: that of the options.
 */
export async function serveUntil(
  given: readonly string[],
  flags: ServeFlags,
  life: ServeLife,
  io: Io,
): Promise<number> {
  const home = serverHome(io.env);
  const [folder = '', ...others] = servedFolders([flags.work.dir ?? given[0] ?? '.', ...given], io);
  await recordChildren(io.env);
  const settings = await readSettings(io.env, flags.work);
  const { values } = settings.file;
  const models = new SessionModels(await modelSource(flags.work, settings, io));
  const audit = openAudit('serve', values, io, life.report);
  // A runner executes a call in another process than the one that receives a decision.
  const asks = flags.runner === undefined;
  const servers = new Map<string, McpTools>();
  let { work } = flags;
  const open = async (dir: string, undo: UndoHistory) => {
    // Runs may still use the MCP servers of an earlier version of an agent. Changes to their tools are logged.
    const wanted = JSON.stringify([dir, work.agentFolder?.mcp]);
    const mcp = servers.get(wanted) ?? (await openMcp(work, values, dir, life.report, io));
    servers.set(wanted, mcp);
    return await openServedFolder(work, dir, { mcp, audit, models, asks, undo }, io);
  };
  const folders = new ServeFolders({ first: folder, others, tokens: home.tokens, open, models, env: io.env });
  const reload = async (next: RunFlags) => {
    const before = { work, source: models.source };
    work = next;
    try {
      models.source = await modelSource(work, await readSettings(io.env, work), io);
      await folders.renew();
    } catch (error) {
      ({ work, source: models.source } = before);
      throw error;
    }
  };
  try {
    return await serveFrom(folder, flags, { folders, models, audit, values, reload }, { home, life }, io);
  } finally {
    await folders.close();
    await audit.close();
    for (const mcp of servers.values()) await mcp.close();
  }
}

async function serveDemo({ demo: _, ...options }: RawOptions, io: Io): Promise<number> {
  const { demoEnvironment } = await import('../demo/stage.ts');
  const { folder, env, close } = await demoEnvironment(io);
  try {
    io.stderr.write('A scripted model on a small project: type "fix the failing test". Nothing is saved.\n');
    return await serve([], { ...options, dir: folder }, { ...io, env });
  } finally {
    await close();
  }
}

interface ServedParts {
  readonly folders: ServeFolders;
  readonly models: SessionModels;
  readonly audit: Audit;
  readonly values: FileConfig;
  readonly reload: (work: RunFlags) => Promise<void>;
}

async function serveFrom(
  folder: string,
  flags: ServeFlags,
  { folders, models, audit, values, reload }: ServedParts,
  { home, life }: { readonly home: ServerHome; readonly life: ServeLife },
  io: Io,
): Promise<number> {
  const { settings, permission } = await folders.start();
  const tokens = new TokenStore(tokenFile(home.tokens));
  tokens.onAdd(({ id, name, scopes }) =>
    audit.note({ kind: 'token', change: 'created', token: id, name, scopes }),
  );
  tokens.onRemove((id) => audit.note({ kind: 'token', change: 'removed', token: id }));
  const token = flags.rotatesToken ? tokens.rotate() : tokens.own();
  const watch: StoreWatch = (store) =>
    audit.watch(
      folders.watch(store),
      readsOnly(() => folders.tools()),
    );
  const places = await servePlaces(flags, home.store, io, watch);
  const { budget: chosen } = flags.work;
  const budgets = new Budgets({
    env: io.env,
    values,
    report: life.report,
    ...defined({ chosen, url: places.url }),
  });
  try {
    const serverBudgets = await openBudgets(budgets, folder, values);
    const budget = serverBudgets?.name && (await serverBudgets.client.budget(serverBudgets.name));
    const serving = {
      places,
      tokens,
      folders,
      models,
      place: () => ({ folder: basename(folder), permission: permissionWords[permission.mode] }),
      home,
      ...defined({ budgets: serverBudgets, budget: budget || undefined }),
    };
    const server = await startServing(flags, serving, life, audit, io);
    const { isDevelopment = false } = life;
    const forget = isDevelopment
      ? () => undefined
      : noteRunning(home.running, { pid: process.pid, url: server.url });
    const { model } = settings.agent;
    announce({ isDevelopment, server, token, flags, folder, file: places.name, model, home }, io);
    const link = linkTo(server.url, () => tokens.own());
    const schedules = new Schedules({ link, home, store: places.name, report: life.report, clock: io.clock });
    schedules.use(flags.work.agentFolder);
    const reloaded = async (work: RunFlags) => {
      await reload(work);
      server.renewSettings();
      schedules.use(work.agentFolder);
    };
    await life.until({ server, token, reload: reloaded });
    schedules.close();
    forget();
    return 0;
  } finally {
    await budgets.close();
    await places.close();
  }
}

/** Opens the budgets if the sessions have one, or tokens can have one. */
async function openBudgets(
  budgets: Budgets,
  folder: string,
  values: FileConfig,
): Promise<ServerBudgets | undefined> {
  const name = await budgets.nameIn(folder);
  if (name === undefined && values.budgets === undefined) return undefined;
  return { ...(await budgets.open()), ...defined({ name }) };
}

interface ServeParts {
  readonly places: ServePlaces;
  readonly tokens: TokenStore;
  readonly budgets?: ServerBudgets;
  readonly budget?: NonNullable<SessionSettings['budget']>;
  readonly folders: ServeFolders;
  readonly models: SessionModels;
  readonly place: () => PlaceFacts;
  readonly home: ServerHome;
}

async function startServing(
  flags: ServeFlags,
  parts: ServeParts,
  life: ServeLife,
  audit: Audit,
  io: Io,
): Promise<CobblerServer> {
  const { places, tokens, folders, models, place, home, budgets, budget } = parts;
  const { host, port, allowedHosts } = flags;
  const settingsOf = (sessionId: string): SessionSettings => {
    const { settings, tools } = folders.of(sessionId);
    const { agent, pricing } = models.modelOf(sessionId);
    const own = { ...settings, agent, pricing, ...defined({ budget }), tools: tools() };
    return sessionId === seedSession ? own : { toolErrors: 'continue', toolScheduling: 'parallel', ...own };
  };
  const elsewhere = await places.open(settingsOf);
  try {
    return await startServer({
      store: places.store,
      tokens,
      settings: settingsOf,
      ...defined({ elsewhere, budgets }),
      // Another process executes the runs of a runner, in its only directory and with its model.
      ...(elsewhere === undefined && { models, places: folders, resumes: (id) => folders.isOwn(id) }),
      place,
      host,
      port,
      allowedHosts,
      onShare: ({ may, ...share }) =>
        audit.note({
          kind: 'share',
          change: may === undefined ? 'removed' : 'added',
          ...share,
          ...defined({ may }),
        }),
      version: ownVersion(),
      level: flags.level ?? (io.stderr.tty ? 'warn' : 'info'),
      log: life.log,
    });
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'port_in_use') throw error;
    const other = readRunning(home.running);
    const isOurs = other !== undefined && new URL(other.url).port === String(port);
    const who = isOurs ? `process ${other.pid}, a cobbler server` : 'another process';
    throw UsageError.withCode(
      'port_in_use',
      `Cannot listen on port ${port}: it is in use by ${who}.`,
      'Choose another: --port NUMBER, or --port 0 for any free port.',
    );
  }
}

interface ServerStartup extends Required<Pick<ServeLife, 'isDevelopment'>> {
  readonly server: CobblerServer;
  readonly token: string;
  readonly flags: ServeFlags;
  readonly folder: string;
  readonly file: string;
  readonly model: string;
  readonly home: ServerHome;
}

/** Prints the address to standard output. The token is in its fragment, which no server and no log ever sees. */
function announce(startup: ServerStartup, io: Io): void {
  const { isDevelopment, server, token, flags, folder, file, model, home } = startup;
  io.stdout.write(`${server.url}/#token=${token}\n`);
  const facts = [
    isDevelopment ? 'cobbler dev' : 'cobbler serve',
    ...agentNames(flags.work),
    model,
    shortPath(folder, io.env),
    permissionWords[flags.work.mode],
  ];
  const lines = [facts.join(' · '), `sessions in ${shortPath(file, io.env)} · Ctrl-C stops`];
  if (file === home.store && existsSync(home.earlier))
    lines.push(`sessions of an earlier version: cobbler serve --store ${shortPath(home.earlier, io.env)}`);
  const isAny = ['0.0.0.0', '::'].includes(flags.host);
  if (isAny && flags.allowedHosts.length === 0) {
    lines.push('other machines can reach this server only by a host name added with --allowed-host NAME');
  }
  io.stderr.write(`${lines.join('\n')}\n`);
}

/** Stops the server on a signal after its runs have ended; a second signal ends it immediately. */
export function waitForStop(server: CobblerServer, io: Io): Promise<void> {
  return new Promise((resolve, reject) => {
    let signals = 0;
    const forget = io.onInterrupt(() => {
      signals += 1;
      if (signals > 1) io.exit(130);
      server.close().finally(forget).then(resolve, reject);
    });
  });
}
