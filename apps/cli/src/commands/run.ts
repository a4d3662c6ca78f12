import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Limits } from '@cobbler/agent';
import type { Blobs } from '@cobbler/agent/context';
import { memoryBlobs } from '@cobbler/agent/context';
import { defined } from '@cobbler/agent/values';
import type { DelegatedLoop } from '@cobbler/delegate';
import { textOrFile } from '../config/attachment.ts';
import type { BackendName } from '../config/backend.ts';
import { delegateTo, recordChildren } from '../config/backend.ts';
import { checkRules } from '../config/choose-tools.ts';
import { blobsFor, contextPlan, contextPolicy } from '../config/context-plan.ts';
import { checkWritable, shortPath, workFolder } from '../config/directory.ts';
import { instructionsOf } from '../config/instructions.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { openMcp } from '../config/mcp-servers.ts';
import { hostRules, permissionIn } from '../config/permission-plan.ts';
import type { PricedAgent } from '../config/priced-agent.ts';
import { pricedAgent } from '../config/priced-agent.ts';
import { nothingToDo, readPrompt } from '../config/prompt-input.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { backendSandbox } from '../config/sandbox.ts';
import type { Settings } from '../config/settings.ts';
import { readSettings } from '../config/settings.ts';
import { Permission } from '../permissions/permission.ts';
import { withAgent } from '../project/agent-folder.ts';
import { expandLine } from '../project/definitions.ts';
import { headerOf, keyboardFor } from '../run/attended.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import type { RecordReplay } from '../run/record-replay.ts';
import { openRecordReplay } from '../run/record-replay.ts';
import { recordedTools, runBudget } from '../run/replayed-settings.ts';
import type { ChosenSession } from '../run/session-choice.ts';
import { checkResumable, chooseSession, flagsWithNote } from '../run/session-choice.ts';
import type { Task, TaskSession } from '../run/task.ts';
import { runTask } from '../run/task.ts';
import type { Audit } from '../session/audit.ts';
import { noAudit, openAudit } from '../session/audit.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { OwnParts } from '../workplace/own-parts.ts';
import { ownParts } from '../workplace/own-parts.ts';
import { failureContext, limitsOf, noteOf, onReachedOf, systemOf } from '../workplace/settings-parts.ts';

/** Runs `cobbler run`: a task with a real model. Returns the exit code. */
export async function run(words: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const recordReplay = await openRecordReplay(words, options, io);
  const given = readRunFlags(recordReplay.options);
  const isSaying = words.length > 0 || recordReplay.prompt !== undefined;
  if (!isSaying && !given.resumes && io.stdin.tty) throw nothingToDo();
  if (recordReplay.recording !== undefined && given.session !== undefined) {
    throw new UsageError(
      'A session cannot be continued during a recording or a replay.',
      'Remove --session and --continue, or --record and --replay.',
    );
  }
  const here = workFolder(given.dir, io);
  const settings = await readSettings(io.env, given);
  // A cassette contains a complete run, and a replay creates no new data.
  const isKept =
    recordReplay.recording === undefined && (given.keeps ?? settings.file.values.keepSessions ?? true);
  if (options['notify'] === true) checkNotify(isKept, settings);
  const chosen = await chooseSession(given, isKept, here, io);
  try {
    const noted = flagsWithNote(given, chosen?.note);
    // A replay runs no code of an agent.
    const flags = recordReplay.isReplay ? noted : await withAgent(noted, io, chosen?.note);
    if (given.resumes && !isSaying && chosen !== undefined) checkResumable(chosen);
    const settled = flags.model === given.model ? settings : await readSettings(io.env, flags);
    const order = { words, recordReplay, flags, settings: settled, ...defined({ chosen }) };
    await recordChildren(io.env);
    if (flags.backend !== undefined) checkBackendFlags(flags, flags.backend);
    const mcp = flags.backend === undefined ? await mcpOf(order, workFolder(flags.dir, io), io) : undefined;
    const budgets = new Budgets({
      env: io.env,
      values: settled.file.values,
      report: (line) => io.stderr.write(`cobbler: ${visible(line)}\n`),
      ...defined({ chosen: flags.budget }),
    });
    const surface = flags.resumes ? 'resume' : 'run';
    // A replay runs only recorded calls.
    const audit = recordReplay.isReplay ? noAudit : openAudit(surface, settled.file.values, io);
    try {
      const code = await work({ ...order, budgets, audit, ...defined({ mcp }) }, io);
      if (flags.notify && chosen !== undefined)
        await (await import('../jobs/job.ts')).tellEnd(chosen.sessions, chosen.id, settled.file.values, io);
      return code;
    } finally {
      await audit.close();
      await budgets.close();
      await mcp?.close();
    }
  } finally {
    await chosen?.sessions.store.close();
  }
}

/** @throws UsageError if no notification would be sent */
function checkNotify(isKept: boolean, { file }: Settings): void {
  if (!isKept)
    throw new UsageError(
      '--notify needs a saved session.',
      'Remove --notify, or the option or setting that turns off saving, such as --no-session.',
    );
  const { notify } = file.values;
  if (typeof notify === 'object' && (notify.webhook ?? notify.command) !== undefined) return;
  throw new UsageError(
    '--notify has no destination.',
    'Add a webhook or a command to the notify setting in the configuration. See: cobbler docs jobs',
  );
}

/** A parsed command line with its session, if it has one. */
interface ParsedRun {
  readonly words: readonly string[];
  readonly recordReplay: RecordReplay;
  readonly flags: RunFlags;
  readonly settings: Settings;
  readonly chosen?: ChosenSession;
  readonly mcp?: McpTools;
  readonly budgets: Budgets;
  readonly audit: Audit;
}

async function work(order: ParsedRun, io: Io): Promise<number> {
  const { words, recordReplay, flags, settings, chosen, mcp, budgets, audit } = order;
  const folder = workFolder(flags.dir, io);
  const output = flags.output === undefined ? undefined : resolve(io.cwd(), flags.output);
  if (output !== undefined) checkWritable(output);
  const limits = recordReplay.fact('limits', () => limitsOf(flags, settings));
  const budget = await runBudget(budgets, folder, recordReplay);
  const delegate = await delegateOf({ flags, recordReplay, audit }, folder, limits, io);
  const { agent, pricing } = delegate ?? (await ownModel(settings, flags, recordReplay));
  const mayUse = flags.tools === undefined || flags.tools.length > 0;
  const context = recordReplay.fact('context', () => contextPlan(flags, settings.file.values, mayUse));
  const own: OwnParts = await ownParts(
    { flags, recordReplay, audit, mcp: mcp?.tools() ?? [], ...defined({ delegate }) },
    {
      // Nothing of a sub-agent outlives the process, so none can wait for the user of a job.
      ...{ folder, limits, context, audit, asks: flags.job === undefined },
      model: () => ({ agent, pricing }),
      system: (): readonly string[] => system,
      permission: (): Permission => permission,
    },
    io,
  );
  const { tools } = own;
  if (!recordReplay.isReplay) checkRules(flags.allow, tools);
  // A backend has its own instructions and reads those of the directory on its own.
  const instructions = flags.contextFiles && delegate === undefined ? await instructionsOf(folder, io) : [];
  const system: readonly string[] = recordReplay.fact('system', () =>
    delegate === undefined ? systemOf(flags, folder, tools, instructions, io) : ownWords(flags, io),
  );
  const resumes = flags.resumes && words.length === 0;
  const line = await expandLine(words.join(' '), own.commands);
  const promptParts = resumes ? [] : (recordReplay.prompt ?? (await readPrompt([line], flags.attach, io)));
  // Opened last, because afterwards this process controls the terminal.
  const keyboard = recordReplay.isReplay ? undefined : keyboardFor(flags, tools, io);
  const isAttended = recordReplay.fact('attended', () => keyboard !== undefined);
  // The user of a job answers later.
  const canAsk = isAttended || flags.job !== undefined;
  // A replay uses the recorded permissions and runs only recorded calls.
  const allowed = [...flags.allow, ...hostRules(own.hosts)];
  const { permission } = recordReplay.isReplay
    ? { permission: new Permission(flags.mode, allowed, isAttended, { isReplay: true }) }
    : await permissionIn(folder, flags, canAsk, io.env, mcp?.digestOf);
  await recordReplay.recording?.moment('the run starts');
  const onStopRequest = await note(order, folder, io);
  const shown = { ...flags, mode: permission.mode };
  const { result, exitCode } = await runTask(
    {
      ...{ agent, tools, hooks: own.hooks, system, pricing, permission, audit, limits },
      prompt: recordReplay.isReplay ? promptParts : recordReplay.fact('prompt', () => promptParts),
      // A backend that reports its cost enforces the limit if it receives it.
      allowUnpriced: flags.allowUnpriced || flags.backend === 'claude-code',
      ...{ onReached: onReachedOf(flags, settings), ...defined({ more: flags.more }) },
      ...(delegate === undefined && {
        context: contextPolicy(context, runBlobs(chosen, recordReplay, io)),
      }),
      attended: isAttended,
      ...{ form: flags.form, verbose: flags.verbose },
      header: [
        ...headerOf({ agent, flags: shown, folder, tools, instructions, isAttended: canAsk }, io),
        ...recordReplay.note,
      ],
      folder: shortPath(folder, io.env),
      failure: failureContext(delegate === undefined ? settings : undefined, agent, io),
      ...defined({ keyboard, budget, onStopRequest, recording: recordReplay.recording }),
      ...defined({ session: chosen && sessionOf(chosen, resumes, flags) }),
    },
    io,
  );
  await delegate?.close();
  await own.close();
  if (flags.attach.length > 0) await entitle(chosen, words.join(' '));
  const ended = recordReplay.close({ result, exitCode, form: flags.form, settings });
  return output === undefined ? ended : writeAnswer(output, result.text, ended, io);
}

/** Records the settings of the session. For a job, returns what tells it to stop. */
async function note(
  { chosen, flags, settings, recordReplay }: ParsedRun,
  folder: string,
  io: Io,
): Promise<Task['onStopRequest']> {
  // The note of a session in use belongs to the run that uses it.
  if (chosen === undefined || chosen.status === 'running') return undefined;
  const note = noteOf(flags, folder, settings);
  if (flags.job !== undefined)
    return (await import('../jobs/job.ts')).startMark(chosen, note, recordReplay.options, io);
  chosen.sessions.notes.write(chosen.id, note);
  return undefined;
}

function sessionOf({ id, sessions }: ChosenSession, resumes: boolean, { agent }: RunFlags): TaskSession {
  return { id, store: sessions.store, resumes, ...defined({ agent }) };
}

/** Returns the blobs of a run. A run that is not stored must not leave blobs either. */
function runBlobs(chosen: ChosenSession | undefined, recordReplay: RecordReplay, io: Io): Blobs {
  const isKept = chosen !== undefined || recordReplay.recording !== undefined;
  return recordReplay.blobs(() => (isKept ? blobsFor(io.env) : memoryBlobs()));
}

/** Sets the title of a new session to the user's words, because the first words of an attachment are not a description. */
async function entitle(chosen: ChosenSession | undefined, words: string): Promise<void> {
  if (chosen === undefined || chosen.status !== undefined || words === '') return;
  await chosen.sessions.store.rename(chosen.id, words).catch(() => false);
}

/** @throws UsageError if an option would have no effect on a backend. */
function checkBackendFlags(
  { fallback, mcp, tools = [], allowHost, mode, agent, ...given }: RunFlags,
  name: BackendName,
): void {
  const model = given.search ? '--search' : given.effort && '--effort';
  const refused = fallback.length > 0 ? '--fallback' : mode === 'plan' ? '--plan' : model;
  if (refused !== undefined)
    throw new UsageError(`${refused} cannot be used with --backend.`, 'Remove one of them.');
  const owned = [
    ['--agent', agent ?? '', 'instructions and tools'],
    ['--mcp', mcp, 'MCP servers'],
    ['--tools', tools, 'tools'],
    ['--allow-host', allowHost, 'network'],
  ] as const;
  const [flag, , what] = owned.find(([, given]) => given.length > 0) ?? [];
  if (flag === undefined) return;
  throw new UsageError(
    `${flag} cannot be used with --backend: the backend has its own ${what}.`,
    `Remove ${flag}, or configure this in ${name}.`,
  );
}

/** Returns the backend that does the work instead of a model, if one was requested. */
async function delegateOf(
  { flags, recordReplay, audit }: Pick<ParsedRun, 'flags' | 'recordReplay' | 'audit'>,
  folder: string,
  limits: Limits,
  io: Io,
): Promise<DelegatedLoop | undefined> {
  const { backend: name, model, mode, trust: trusted } = flags;
  if (name === undefined) return undefined;
  if (recordReplay.recording !== undefined)
    throw new UsageError(
      'A run with --backend cannot be recorded or replayed.',
      'Remove --backend, or --record and --replay.',
    );
  const own = model === undefined ? {} : { model };
  const sandbox = await backendSandbox(name, flags, io);
  audit.note({ kind: 'sandbox', sandbox: sandbox === 'off' || sandbox === 'external' ? sandbox : 'bwrap' });
  const order = { name, folder, mode, limits, trusted, pricing: () => undefined, env: io.env };
  return delegateTo({ ...order, ...own, ...defined({ sandbox }) });
}

/** Opens the MCP servers. A replay starts none, because the cassette contains their tools and the results of their calls. */
async function mcpOf(
  { flags, settings, recordReplay }: Pick<ParsedRun, 'flags' | 'settings' | 'recordReplay'>,
  folder: string,
  io: Io,
): Promise<McpTools> {
  const { values } = settings.file;
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const live = recordReplay.isReplay ? undefined : await openMcp(flags, values, folder, report, io);
  const tools = recordedTools('mcp', live?.tools() ?? [], recordReplay);
  return live ?? { tools: () => tools, digestOf: () => undefined, close: async () => undefined };
}

async function ownModel(
  settings: Settings,
  flags: RunFlags,
  recordReplay: RecordReplay,
): Promise<PricedAgent> {
  const { retryFor = settings.file.values.retryFor } = settings.chosen;
  const values = { ...settings.file.values, ...defined({ retryFor }) };
  const link = recordReplay.recording === undefined ? undefined : recordReplay.link(values);
  return await pricedAgent(settings, flags, link);
}

/** Returns the user's instructions for a backend. */
function ownWords({ system, appendSystem }: RunFlags, io: Io): string[] {
  return [system, appendSystem].flatMap((given) =>
    given === undefined ? [] : [textOrFile(given, io.cwd())],
  );
}

function writeAnswer(path: string, text: string, exitCode: number, io: Io): number {
  if (text === '') return exitCode;
  try {
    writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`);
    return exitCode;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    io.stderr.write(`cobbler: could not write the response to ${visible(path)} (${code})\n`);
    return exitCode || 1;
  }
}
