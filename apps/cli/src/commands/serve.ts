import { basename } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { HarnessOptions } from '@cobbler/agent/harness';
import type { FileConfig } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { CobblerServer, PlaceFacts, ServerBudgets, SessionSettings } from '@cobbler/server';
import { startServer, TokenStore, tokenFile } from '@cobbler/server';
import { recordChildren } from '../config/backend.ts';
import { blobsFor, contextPolicy } from '../config/context-plan.ts';
import { shortPath, workFolder } from '../config/directory.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { openMcp } from '../config/mcp-servers.ts';
import { pricedAgent } from '../config/priced-agent.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import type { Settings } from '../config/settings.ts';
import { readSettings } from '../config/settings.ts';
import { permissionWords } from '../permissions/permission.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import type { ServeFlags } from '../server/serve-flags.ts';
import { readServeFlags } from '../server/serve-flags.ts';
import type { ServePlaces, StoreWatch } from '../server/serve-places.ts';
import { beforeDelete, servePlaces } from '../server/serve-places.ts';
import type { ServerHome } from '../server/server-home.ts';
import { noteRunning, readRunning, serverHome } from '../server/server-home.ts';
import { SessionModels } from '../server/session-models.ts';
import type { Audit } from '../session/audit.ts';
import { openAudit, readsOnly, watchRules } from '../session/audit.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';
import { modelsOf } from './local-conversations.ts';
import { onReachedOf } from './run.ts';
import type { Workplace } from './workplace.ts';
import { openWorkplace } from './workplace.ts';

/** The session of the plain routes. Its tools run one at a time, and the first failure stops the rest. */
const seedSession = 'default';

/** Runs `cobbler serve`: serves sessions over HTTP until it is stopped. Returns the exit code. */
export async function serve(options: RawOptions, io: Io): Promise<number> {
  if (options['demo'] === true) return await serveDemo(options, io);
  const flags = readServeFlags(options);
  const home = serverHome(io.env);
  const folder = workFolder(flags.work.dir, io);
  await recordChildren(io.env);
  const { values } = (await readSettings(io.env, flags.work)).file;
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  // Changes to the tools of the MCP servers are logged.
  const mcp = await openMcp(flags.work, values, folder, report, io);
  const audit = openAudit('serve', values, io, report);
  try {
    return await serveFrom(folder, flags, { mcp, audit }, home, io);
  } finally {
    await audit.close();
    await mcp.close();
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

async function serveFrom(
  folder: string,
  flags: ServeFlags,
  { mcp, audit }: { readonly mcp: McpTools; readonly audit: Audit },
  home: ServerHome,
  io: Io,
): Promise<number> {
  const all = await sessionSettings(flags, folder, { mcp, audit }, io);
  const { settings, models, tools, values, sandbox, permission, forget: forgetSession, close } = all;
  audit.note({ kind: 'sandbox', sandbox });
  watchRules(audit, permission);
  const tokens = new TokenStore(tokenFile(home.tokens));
  tokens.onAdd(({ id, name, scopes }) =>
    audit.note({ kind: 'token', change: 'created', token: id, name, scopes }),
  );
  tokens.onRemove((id) => audit.note({ kind: 'token', change: 'removed', token: id }));
  const token = flags.rotatesToken ? tokens.rotate() : tokens.own();
  const watch: StoreWatch = (store) => audit.watch(beforeDelete(store, forgetSession), readsOnly(tools));
  const places = await servePlaces(flags, home.store, io, watch);
  const { budget: chosen } = flags.work;
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const budgets = new Budgets({ env: io.env, values, report, ...defined({ chosen, url: places.url }) });
  try {
    const serverBudgets = await openBudgets(budgets, folder, values);
    const budget = serverBudgets?.name && (await serverBudgets.client.budget(serverBudgets.name));
    const budgeted = { ...settings, ...defined({ budget: budget || undefined }) };
    const serving = {
      places,
      tokens,
      settings: budgeted,
      models,
      place: () => ({ folder: basename(folder), permission: permissionWords[permission.mode] }),
      tools,
      home,
      ...defined({ budgets: serverBudgets }),
    };
    const server = await startServing(flags, serving, audit, io);
    const forget = noteRunning(home.running, { pid: process.pid, url: server.url });
    announce({ server, token, flags, folder, file: places.name, model: settings.agent.model }, io);
    await waitForStop(server, io);
    forget();
    return 0;
  } finally {
    await close();
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

/** Returns the settings of every session, which no request can set. The tools are those available when a session opens. */
async function sessionSettings(
  { work, runner }: ServeFlags,
  folder: string,
  parts: { readonly mcp: McpTools; readonly audit: Audit },
  io: Io,
): Promise<{
  settings: ServeHarnessOptions;
  models: SessionModels;
  tools: () => readonly Tool[];
  values: FileConfig;
  sandbox: Workplace['sandbox'];
  permission: Workplace['permission'];
  forget: Workplace['forget'];
  close: Workplace['close'];
}> {
  const settings = await readSettings(io.env, work);
  const models = await openModels(work, settings, io);
  const model = (session: string) => models.modelOf(session);
  const { agent, pricing } = model('');
  // A runner executes a call in another process than the one that receives a decision.
  const asks = runner === undefined;
  const workplace = await openWorkplace(work, folder, settings, { ...parts, model, asks }, io);
  const { tools, context, system, limits, permission, sandbox, forget, close } = workplace;
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
  const forgetAll = async (sessionId: string) => {
    models.forget(sessionId);
    await forget(sessionId);
  };
  const { values } = settings.file;
  return { settings: common, models, tools, values, sandbox, permission, forget: forgetAll, close };
}

/** Returns the models that users can choose. Those of another service are unknown: then it is only the one that was named. */
async function openModels(work: RunFlags, settings: Settings, io: Io): Promise<SessionModels> {
  const effortOf = ({ file, chosen }: Settings) => ({ ...file.values, ...chosen }).effort;
  const { provider, ...first } = await pricedAgent(settings, work);
  const list =
    work.baseURL === undefined
      ? modelsOf(provider, settings.provider.value)
      : [{ name: first.agent.model, text: '' }];
  return new SessionModels(
    list,
    { ...first, effort: effortOf(settings) },
    async ({ model, effort: chosen }) => {
      const { effort: _, baseURL, ...rest } = work;
      const flags = { ...rest, ...defined({ model: model ?? work.model, effort: chosen, baseURL }) };
      const read = await readSettings(io.env, flags);
      return { ...(await pricedAgent(read, flags)), effort: effortOf(read) };
    },
  );
}

interface ServeParts {
  readonly places: ServePlaces;
  readonly tokens: TokenStore;
  readonly budgets?: ServerBudgets;
  readonly settings: ServeHarnessOptions;
  readonly models: SessionModels;
  readonly place: () => PlaceFacts;
  readonly tools: () => readonly Tool[];
  readonly home: ServerHome;
}

async function startServing(
  flags: ServeFlags,
  parts: ServeParts,
  audit: Audit,
  io: Io,
): Promise<CobblerServer> {
  const { places, tokens, settings, models, place, tools, home, budgets } = parts;
  const { host, port, allowedHosts } = flags;
  const settingsOf = (sessionId: string): SessionSettings => {
    const { agent, pricing } = models.modelOf(sessionId);
    const own = { ...settings, agent, pricing, tools: tools() };
    return sessionId === seedSession ? own : { toolErrors: 'continue', toolScheduling: 'parallel', ...own };
  };
  const elsewhere = await places.open(settingsOf);
  try {
    return await startServer({
      store: places.store,
      tokens,
      settings: settingsOf,
      ...defined({ elsewhere, budgets, models: elsewhere === undefined ? models : undefined }),
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
      log: (line) => io.stderr.write(`${line}\n`),
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

interface ServerStartup {
  readonly server: CobblerServer;
  readonly token: string;
  readonly flags: ServeFlags;
  readonly folder: string;
  readonly file: string;
  readonly model: string;
}

/** Prints the address to standard output. The token is in its fragment, which no server and no log ever sees. */
function announce({ server, token, flags, folder, file, model }: ServerStartup, io: Io): void {
  io.stdout.write(`${server.url}/#token=${token}\n`);
  const facts = ['cobbler serve', model, shortPath(folder, io.env), permissionWords[flags.work.mode]];
  const lines = [facts.join(' · '), `sessions in ${shortPath(file, io.env)} · Ctrl-C stops`];
  const isAny = ['0.0.0.0', '::'].includes(flags.host);
  if (isAny && flags.allowedHosts.length === 0) {
    lines.push('other machines can reach this server only by a host name added with --allowed-host NAME');
  }
  io.stderr.write(`${lines.join('\n')}\n`);
}

/** Stops the server on a signal after its runs have ended; a second signal ends it immediately. */
function waitForStop(server: CobblerServer, io: Io): Promise<void> {
  return new Promise((resolve, reject) => {
    let signals = 0;
    const forget = io.onInterrupt(() => {
      signals += 1;
      if (signals > 1) io.exit(130);
      server.close().finally(forget).then(resolve, reject);
    });
  });
}
