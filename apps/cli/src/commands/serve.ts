import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { HarnessOptions } from '@cobbler/agent/harness';
import type { FileConfig } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { CobblerServer, ServerBudgets, SessionSettings } from '@cobbler/server';
import { startServer, TokenStore, tokenFile } from '@cobbler/server';
import { recordChildren } from '../config/backend.ts';
import { blobsFor, contextPolicy } from '../config/context-plan.ts';
import { shortPath, workFolder } from '../config/directory.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { openMcp } from '../config/mcp-servers.ts';
import { pricedAgent } from '../config/priced-agent.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import { readSettings } from '../config/settings.ts';
import { permissionWords } from '../permissions/permission.ts';
import { withAgent } from '../project/agent-folder.ts';
import { agentNames } from '../run/attended.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import type { ServeFlags } from '../server/serve-flags.ts';
import { readServeFlags } from '../server/serve-flags.ts';
import type { ServePlaces, StoreWatch } from '../server/serve-places.ts';
import { beforeDelete, servePlaces } from '../server/serve-places.ts';
import type { ServerHome } from '../server/server-home.ts';
import { noteRunning, readRunning, serverHome } from '../server/server-home.ts';
import type { Audit } from '../session/audit.ts';
import { openAudit, readsOnly, watchRules } from '../session/audit.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';
import { onReachedOf } from './run.ts';
import type { Workplace } from './workplace.ts';
import { openWorkplace } from './workplace.ts';

/** The session of the plain routes. Its tools run one at a time, and the first failure stops the rest. */
const seedSession = 'default';

/** Runs `cobbler serve`: serves sessions over HTTP until it is stopped. Returns the exit code. */
export async function serve(options: RawOptions, io: Io): Promise<number> {
  if (options['demo'] === true) return await serveDemo(options, io);
  const flags = readServeFlags(options);
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const log = (line: string) => io.stderr.write(`${line}\n`);
  const until: ServeLife['until'] = ({ server }) => waitForStop(server, io);
  return await serveUntil({ ...flags, work: await withAgent(flags.work, io) }, { report, log, until }, io);
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

/** Serves as long as `until` takes. Returns the exit code. */
export async function serveUntil(flags: ServeFlags, life: ServeLife, io: Io): Promise<number> {
  const home = serverHome(io.env);
  const folder = workFolder(flags.work.dir, io);
  await recordChildren(io.env);
  const { values } = (await readSettings(io.env, flags.work)).file;
  const audit = openAudit('serve', values, io, life.report);
  const servers: McpTools[] = [];
  let open: string | undefined;
  // Changes to the tools of the MCP servers are logged. Runs may still use the servers of an earlier version of an agent.
  const mcpFor = async (work: RunFlags) => {
    const wanted = JSON.stringify(work.agentFolder?.mcp);
    if (servers.length === 0 || wanted !== open)
      servers.push(await openMcp(work, values, folder, life.report, io));
    open = wanted;
    return servers.at(-1) as McpTools;
  };
  try {
    return await serveFrom(folder, flags, { mcpFor, audit }, { home, life }, io);
  } finally {
    await audit.close();
    for (const mcp of servers) await mcp.close();
  }
}

async function serveDemo({ demo: _, ...options }: RawOptions, io: Io): Promise<number> {
  const { demoEnvironment } = await import('../demo/stage.ts');
  const { folder, env, close } = await demoEnvironment(io);
  try {
    io.stderr.write('A scripted model on a small project: type "fix the failing test". Nothing is saved.\n');
    return await serve({ ...options, dir: folder }, { ...io, env });
  } finally {
    await close();
  }
}

interface SharedParts {
  /** Returns the MCP servers for these options. */
  readonly mcpFor: (work: RunFlags) => Promise<McpTools>;
  readonly audit: Audit;
}

async function serveFrom(
  folder: string,
  flags: ServeFlags,
  shared: SharedParts,
  { home, life }: { readonly home: ServerHome; readonly life: ServeLife },
  io: Io,
): Promise<number> {
  const { audit } = shared;
  const versions = [await sessionSettings(flags, folder, shared, io)];
  const current = () => versions.at(-1) as SettingsVersion;
  const { values } = current();
  const tokens = new TokenStore(tokenFile(home.tokens));
  tokens.onAdd(({ id, name, scopes }) =>
    audit.note({ kind: 'token', change: 'created', token: id, name, scopes }),
  );
  tokens.onRemove((id) => audit.note({ kind: 'token', change: 'removed', token: id }));
  const token = flags.rotatesToken ? tokens.rotate() : tokens.own();
  const forgetSession = async (id: string) => {
    for (const { forget } of versions) await forget(id);
  };
  const watch: StoreWatch = (store) =>
    audit.watch(
      beforeDelete(store, forgetSession),
      readsOnly(() => current().tools()),
    );
  const places = await servePlaces(flags, home.store, io, watch);
  const { budget: chosen } = flags.work;
  const { report } = life;
  const budgets = new Budgets({ env: io.env, values, report, ...defined({ chosen, url: places.url }) });
  try {
    const serverBudgets = await openBudgets(budgets, folder, values);
    const budget = serverBudgets?.name && (await serverBudgets.client.budget(serverBudgets.name));
    const settings = () => ({ ...current().settings, ...defined({ budget: budget || undefined }) });
    const tools = () => current().tools();
    const serving = { places, tokens, settings, tools, home, ...defined({ budgets: serverBudgets }) };
    const server = await startServing(flags, serving, life, audit, io);
    const { isDevelopment = false } = life;
    const forget = isDevelopment
      ? () => undefined
      : noteRunning(home.running, { pid: process.pid, url: server.url });
    announce(
      { isDevelopment, server, token, flags, folder, file: places.name, model: settings().agent.model },
      io,
    );
    const reload = async (work: RunFlags) => {
      versions.push(await sessionSettings({ ...flags, work }, folder, shared, io));
      server.renewSettings();
    };
    await life.until({ server, token, reload });
    forget();
    return 0;
  } finally {
    for (const { close } of versions) await close();
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

type ServeHarnessOptions = Omit<HarnessOptions, 'store' | 'sessionId' | 'handler' | 'tools'>;

/** The settings of every session, which no request can set. The tools are those available when a session opens. */
interface SettingsVersion extends Pick<Workplace, 'forget' | 'close'> {
  readonly settings: ServeHarnessOptions;
  readonly tools: () => readonly Tool[];
  readonly values: FileConfig;
}

async function sessionSettings(
  { work, runner }: ServeFlags,
  folder: string,
  { mcpFor, audit }: SharedParts,
  io: Io,
): Promise<SettingsVersion> {
  const settings = await readSettings(io.env, work);
  const { agent, pricing } = await pricedAgent(settings, work);
  const model = () => ({ agent, pricing });
  // A runner executes a call in another process than the one that receives a decision.
  const asks = runner === undefined;
  const parts = { mcp: await mcpFor(work), audit, model, asks };
  const workplace = await openWorkplace(work, folder, settings, parts, io);
  const { tools, context, system, limits, permission, sandbox, forget, close } = workplace;
  audit.note({ kind: 'sandbox', sandbox });
  watchRules(audit, permission);
  const common = {
    agent,
    system,
    limits,
    pricing,
    allowUnpriced: work.allowUnpriced,
    onReached: onReachedOf(work, settings),
    context: contextPolicy(context, blobsFor(io.env)),
    // Users can always decide later through the API.
    gate: permission.gate,
  };
  return { settings: common, tools, values: settings.file.values, forget, close };
}

interface ServeParts {
  readonly places: ServePlaces;
  readonly tokens: TokenStore;
  readonly budgets?: ServerBudgets;
  readonly settings: () => ServeHarnessOptions;
  readonly tools: () => readonly Tool[];
  readonly home: ServerHome;
}

async function startServing(
  flags: ServeFlags,
  parts: ServeParts,
  life: ServeLife,
  audit: Audit,
  io: Io,
): Promise<CobblerServer> {
  const { places, tokens, settings, tools, home, budgets } = parts;
  const { host, port, allowedHosts } = flags;
  const settingsOf = (sessionId: string): SessionSettings =>
    sessionId === seedSession
      ? { ...settings(), tools: tools() }
      : { toolErrors: 'continue', toolScheduling: 'parallel', ...settings(), tools: tools() };
  const elsewhere = await places.open(settingsOf);
  try {
    return await startServer({
      store: places.store,
      tokens,
      settings: settingsOf,
      ...defined({ elsewhere, budgets }),
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
}

/** Prints the address to standard output. The token is in its fragment, which no server and no log ever sees. */
function announce({ isDevelopment, server, token, flags, folder, file, model }: ServerStartup, io: Io): void {
  io.stdout.write(`${server.url}/#token=${token}\n`);
  const facts = [
    isDevelopment ? 'cobbler dev' : 'cobbler serve',
    ...agentNames(flags.work),
    model,
    shortPath(folder, io.env),
    permissionWords[flags.work.mode],
  ];
  const lines = [facts.join(' · '), `sessions in ${shortPath(file, io.env)} · Ctrl-C stops`];
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
