import { delimiter, isAbsolute } from 'node:path';
import type { Environment, Runtime, Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { AgentError, defineTool, systemRuntime, toolOutput } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { amount, callable, mapOf, read, record, text, withMethods } from '@cobbler/agent/input';
import type { ProcessEnd, ProcessOptions, Workspace } from '@cobbler/agent/node';
import { childEnvironment, OutputCapture, quotePath, superviseProcess } from '@cobbler/agent/node';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { printCommandLine, readCommandLine } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { BackgroundCommands } from './background/background-commands.ts';
import { backgroundReport } from './background/background-tool.ts';
import type { CommandNeed, CommandSandbox } from './command-sandbox.ts';
import { isConfined, needsFields, openSandbox, readSandbox, sandboxFor, whyAsk } from './command-sandbox.ts';
import { commandText } from './command-text.ts';
import { readWorkspace } from './workspace/file-tool.ts';

/** Arguments of run_command. */
export interface RunCommandArgs {
  /** A command line for /bin/sh. */
  readonly command: string;
  /** Working directory, relative to the workspace. Default: the workspace. */
  readonly directory?: string;
  /** Time limit in seconds. */
  readonly timeout_seconds?: number;
  /** Returns while the command is still running. Only with {@link RunCommandOptions.background}. */
  readonly background?: boolean;
  /** Permissions that the sandbox does not grant. Only in a sandbox. */
  readonly needs?: CommandNeed;
  /** Why the command needs them. */
  readonly reason?: string;
}

/** Sandbox, limits and environment of run_command. */
export interface RunCommandOptions {
  /** What commands can read, change and connect to. Default `workspace`. */
  readonly sandbox?: CommandSandbox;
  /** Runs the commands that the model starts in the background. Default: the model cannot start any. */
  readonly background?: BackgroundCommands;
  /** Variables for commands, in addition to the safe ones that every command receives. */
  readonly env?: Readonly<Record<string, string>>;
  /** Source of the safe variables. Default: this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default time limit of a command, in milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
  /** Maximum time limit that a call can set, in milliseconds. Default 600,000. */
  readonly maxTimeoutMs?: number;
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default 1,500. */
  readonly graceMs?: number;
  /** Maximum number of bytes of output for the model, taken from its start and end. Default 65,536. */
  readonly maxOutputBytes?: number;
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer'>;
  /** Function that starts the command. Default: node:child_process. */
  readonly spawn?: NonNullable<ProcessOptions['spawn']>;
}

/** The readers of {@link RunCommandOptions}. */
export const commandReaders: Readers<RunCommandOptions> = {
  sandbox: readSandbox,
  background: withMethods('start', 'wait', 'get'),
  env: mapOf(text),
  environment: mapOf(text),
  timeoutMs: amount,
  maxTimeoutMs: amount,
  graceMs: amount,
  maxOutputBytes: amount,
  runtime: withMethods('monotonic', 'timer'),
  spawn: callable,
};

const readOptions = record<RunCommandOptions>(commandReaders);

/** Time that the supervisor may need to end a process tree, in addition to the command's time limit. */
const endingMs = 5000;

const backgroundWords =
  'Returns after a second, while the command keeps running, as for a server. Read its output with background_command. It ends with the session at the latest.';

/** Time for a background command to fail at its start, in milliseconds. */
const settleMs = 1000;

/** Minimum interval between progress updates, in milliseconds. */
const progressMs = 100;

/** Maximum number of lines in one progress update, and of bytes of a chunk of output that are read for it. */
const maxProgressLines = 8;
const maxProgressRead = 4_096;

/**
 * Runs a shell command in the workspace, in a sandbox. Inside, the command can do what the sandbox allows; the gate
 * decides whether it runs. A call that needs more, such as the network, must be decided by a user.
 * @throws AgentError `invalid` for an invalid option, with the code `no_sandbox` if there is no working sandbox on this
 * machine and `sandbox` is neither `external` nor `off`.
 */
export function runCommand(workspace: Workspace, options: RunCommandOptions = {}): Tool {
  read(workspace, readWorkspace, 'workspace');
  const given = read(options, readOptions);
  const defaultSeconds = (given.timeoutMs ?? 120_000) / 1000;
  const maxTimeoutMs = given.maxTimeoutMs ?? 600_000;
  const sandbox = openSandbox(given.sandbox ?? 'workspace', workspace, given.environment ?? process.env);
  const isIn = isConfined(sandbox);
  return defineTool<RunCommandArgs>({
    name: 'run_command',
    description:
      'Runs a command with /bin/sh in the workspace and returns its output and exit code. It is not interactive: ' +
      'standard input is empty. Processes that it leaves running are stopped when it ends. ' +
      `The time limit is ${defaultSeconds} s unless timeout_seconds is set.${isIn ? sandboxText(sandbox) : ''}`,
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The shell command.' },
        directory: {
          type: 'string',
          description: 'Directory to run the command in, relative to the workspace. Default: the workspace.',
        },
        timeout_seconds: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: maxTimeoutMs / 1000,
          description: `Default ${defaultSeconds}.`,
        },
        ...(given.background !== undefined && {
          background: { type: 'boolean', description: backgroundWords },
        }),
        ...(isIn ? needsFields : {}),
      },
      required: ['command'],
      additionalProperties: false,
    },
    effect: 'once',
    sends: !isIn || sandbox.hosts !== undefined,
    locks: ['workspace'],
    timeoutMs: maxTimeoutMs + endingMs,
    // A rule for the command alone does not cover a call with more rights.
    subject: ({ command, needs: need }) => (need === undefined ? command : `${command} [needs ${need}]`),
    ...((isIn || sandbox.missing !== undefined) && {
      mustAsk: (args: RunCommandArgs) => whyAsk(sandbox, args),
    }),
    preview: async ({ directory }) => ({
      summary: `in ${directory === undefined ? 'the workspace' : quotePath(workspace.subject(directory))}`,
    }),
    execute: async (args, context) => await run(workspace, args, { ...given, sandbox }, context),
  });
}

type RunOptions = RunCommandOptions & { readonly sandbox: Sandbox };

async function run(
  workspace: Workspace,
  args: RunCommandArgs,
  options: RunOptions,
  context: ToolContext,
): Promise<ToolOutput> {
  const sandbox = sandboxFor(options.sandbox, args.command, args.needs);
  const cwd = await workspace.directory(args.directory ?? '.');
  const runtime = options.runtime ?? systemRuntime;
  // With more rights, or with allowed hosts, a command can read the web.
  const untrusted = args.needs !== undefined || sandbox?.hosts !== undefined;
  const start = (ports: Pick<ProcessOptions, 'signal' | 'timeoutMs' | 'onOutput'>) =>
    superviseProcess({
      argv: shellLine(args.command),
      cwd,
      env: childEnvironment(withSafePath(options.environment ?? process.env, workspace), options.env),
      graceMs: options.graceMs ?? 1500,
      maxOutputBytes: 0,
      runtime,
      ...ports,
      ...defined({ spawn: options.spawn, sandbox }),
    }).ended;
  if (args.background === true && options.background !== undefined)
    return await inBackground(options.background, args.command, untrusted, start, context);
  const timeoutMs =
    args.timeout_seconds === undefined ? (options.timeoutMs ?? 120_000) : args.timeout_seconds * 1000;
  const both = new OutputCapture(options.maxOutputBytes ?? 65_536);
  const watch = progress(context, runtime);
  const onOutput = (chunk: Uint8Array) => {
    both.push(chunk);
    watch.push(chunk);
  };
  const end = await start({ signal: context.signal, timeoutMs, onOutput });
  watch.end();
  const output = commandText(both.text(), both.total);
  return report(end, output + sandboxNotes(sandbox, end, output), timeoutMs, untrusted);
}

/** Starts a command that keeps running after this call, and reports its first second. */
async function inBackground(
  commands: BackgroundCommands,
  command: string,
  untrusted: boolean,
  start: (ports: Pick<ProcessOptions, 'signal' | 'timeoutMs' | 'onOutput'>) => Promise<ProcessEnd>,
  { sessionId = '', signal }: ToolContext,
): Promise<ToolOutput> {
  const { id } = commands.start(sessionId, {
    command,
    untrusted,
    run: async (ports) => outcomeOf(await start(ports), ports.timeoutMs),
  });
  await commands.wait(sessionId, id, settleMs, { signal });
  return backgroundReport(commands.get(sessionId, id));
}

/** Standard error is redirected to standard output, so that both appear in the order in which they were printed. */
function shellLine(command: string): ProcessOptions['argv'] {
  // Rules decide on the line that was read, so exactly that line runs.
  const line = readCommandLine(command);
  return ['/bin/sh', '-c', `exec 2>&1; ${line === undefined ? command : printCommandLine(line)}`];
}

function sandboxText({ hosts }: Sandbox): string {
  return ` It runs in a sandbox: it can write only in the workspace and in /tmp, sees an empty home directory, and ${networkText(hosts)}.`;
}

function networkText(hosts: readonly string[] | undefined): string {
  if (hosts?.includes('*')) return 'has a network';
  const listed =
    hosts === undefined ? '' : ` and, through the proxy in HTTPS_PROXY, these hosts: ${hosts.join(', ')}`;
  return `has no network apart from its own loopback${listed}`;
}

/** Returns what the sandbox undid, and which of its rules probably made the command fail. */
function sandboxNotes(
  sandbox: Sandbox | undefined,
  { code, cause, undone }: ProcessEnd,
  output: string,
): string {
  const rule = cause === 'exit' && code !== 0 ? sandbox?.explain(output) : undefined;
  const advice = 'If the command cannot work otherwise, call this tool again with `needs` and a reason.';
  const notes = [...(rule === undefined ? [] : [`${rule} ${advice}`]), ...undone];
  return notes.map((note) => `\n[sandbox: ${note}]`).join('');
}

/**
 * Removes the directories of the workspace from PATH, so that a file written there is not run under the name of another
 * program. A workspace that contains the home directory keeps them, because users install programs there.
 */
function withSafePath(env: Environment, workspace: Workspace): Environment {
  const { PATH, HOME } = env;
  if (PATH === undefined) return env;
  const isOutside = (path: string) => workspace.refusalOf(path) === 'outside';
  const keepsAll = HOME !== undefined && !isOutside(HOME);
  const parts = PATH.split(delimiter).filter((path) => isAbsolute(path) && (keepsAll || isOutside(path)));
  return { ...env, PATH: parts.join(delimiter) };
}

function report(end: ProcessEnd, output: string, timeoutMs: number, untrusted: boolean): ToolOutput {
  if (end.cause === 'unstartable') {
    const message = 'The shell could not be started.';
    throw end.error ?? new AgentError({ kind: 'tool', code: 'unstartable', message });
  }
  const summary = outcomeOf(end, timeoutMs);
  const text = output.trim() === '' ? '(no output)' : output;
  return toolOutput({
    content: `[${summary}]\n${text}`,
    summary: end.cause === 'timeout' ? `timed out after ${timeoutMs / 1000} s` : summary,
    ...(end.cause !== 'exit' && { isError: true }),
    ...(untrusted && { untrusted }),
  });
}

/** Returns how a command ended, in words. */
function outcomeOf({ cause, code, signal, error }: ProcessEnd, timeoutMs: number): string {
  const outcomes = {
    exit: code === null ? `ended by ${signal ?? 'a signal'}` : `exit ${code}`,
    timeout: `timed out after ${timeoutMs / 1000} s and was stopped`,
    aborted: 'cancelled',
    unstartable: error?.message ?? 'could not be started',
  };
  return outcomes[cause];
}

/** Reports the lines of the output that are new, at a limited rate: the last of them are enough. */
function progress(
  context: ToolContext,
  runtime: Pick<Runtime, 'monotonic' | 'timer'>,
): { readonly push: (chunk: Uint8Array) => void; readonly end: () => void } {
  const decoder = new TextDecoder();
  let [unfinished, fresh]: [string, string[]] = ['', []];
  let cancel: (() => void) | undefined;
  const report = () => {
    cancel = undefined;
    if (fresh.length === 0) return;
    context.progress(fresh.join('\n'));
    fresh = [];
    cancel = runtime.timer(progressMs, report);
  };
  return {
    push(chunk) {
      const text = unfinished + decoder.decode(chunk.subarray(-maxProgressRead), { stream: true });
      const lines = text.split(/\r\n|\r|\n/);
      unfinished = lines.pop()?.slice(-maxProgressRead) ?? '';
      const shown = lines.map((line) => commandText(line).trimEnd()).filter((line) => line !== '');
      fresh = [...fresh, ...shown].slice(-maxProgressLines).map((line) => line.slice(0, 200));
      if (cancel === undefined) report();
    },
    end: () => cancel?.(),
  };
}
