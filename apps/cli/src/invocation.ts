import type { RawOptions } from './config/run-flags.ts';
import { keepCompiled } from './start/compiled.ts';
import { checkNode } from './start/node-version.ts';
import { visible } from './terminal/escape.ts';
import type { Io } from './terminal/io.ts';
import { ownName, withProgramName } from './terminal/program-name.ts';
import { UsageError } from './terminal/usage-error.ts';

/** Runs the command line of `io` and returns its exit code. An error is printed, not thrown. */
export async function invocation(io: Io): Promise<number> {
  try {
    return await commandOf(io);
  } catch (error) {
    return report(error, io);
  }
}

async function commandOf(io: Io): Promise<number> {
  checkNode(process.versions.node);
  const [first] = io.args;
  const own = io.args.includes('--') ? io.args.slice(0, io.args.indexOf('--')) : io.args;
  if (first === '--version' || first === '-V') return await version(io);
  if (own.some((arg) => arg === '--help' || arg === '-h')) {
    return await helpOn(first, io);
  }
  keepCompiled(io.env);
  const { parseCommandLine } = await import('./command-line/parse.ts');
  const { command, operands, options } = parseCommandLine(io.args);
  const perform = commands[command] ?? run;
  if (options['background'] === true)
    return await (await import('./jobs/start-job.ts')).startJob(options, io);
  return await perform(operands, options, io);
}

type Command = (operands: readonly string[], options: RawOptions, io: Io) => Promise<number>;

const run: Command = async (...given) => (await import('./commands/run.ts')).run(...given);

/** The commands besides `run`. Each loads what it needs. */
const commands: Readonly<Record<string, Command>> = {
  resume: async (...given) => (await import('./commands/resume.ts')).resume(...given),
  chat: async (...given) => (await import('./commands/chat.ts')).chat(...given),
  jobs: async (...given) => (await import('./jobs/jobs-command.ts')).jobs(...given),
  service: async (...given) => (await import('./jobs/service.ts')).service(...given),
  sessions: async (...given) => (await import('./commands/sessions.ts')).sessions(...given),
  demo: async (_, ...given) => (await import('./commands/demo.ts')).demo(...given),
  models: async (_, ...given) => (await import('./commands/models.ts')).models(...given),
  costs: async (_, ...given) => (await import('./commands/costs.ts')).costs(...given),
  budgets: async (_, ...given) => (await import('./run/budgets/budget-list.ts')).listBudgets(...given),
  config: async (operands, { json }, io) =>
    (await import('./commands/config.ts')).config(operands, io, json === true),
  permissions: async (...given) => (await import('./commands/permissions.ts')).permissions(...given),
  skills: async (_, ...given) => (await import('./project/skills-command.ts')).listSkills(...given),
  trust: async ([dir], _, io) => (await import('./project/skills-command.ts')).trust(dir, io),
  doctor: async ([file], ...given) =>
    file === undefined
      ? (await import('./commands/doctor.ts')).doctor(...given)
      : (await import('./doctor/transcript.ts')).doctorTranscript(file, ...given),
  new: async (...given) => (await import('./project/new-agent.ts')).newAgent(...given),
  info: async ([folder], ...given) => (await import('./project/info-command.ts')).info(folder, ...given),
  eval: async (...given) => (await import('./commands/eval.ts')).evaluate(...given),
  dev: async ([folder], ...given) => (await import('./commands/dev.ts')).dev(folder, ...given),
  docs: async (...given) => (await import('./explain/docs-command.ts')).docs(...given),
  explain: async (...given) => (await import('./commands/explain.ts')).explain(...given),
  completion: async ([shell], _, io) => (await import('./commands/completion.ts')).completion(shell, io),
  serve: async (...given) => (await import('./commands/serve.ts')).serve(...given),
  acp: async (_, ...given) => (await import('./commands/acp.ts')).acp(...given),
  mcp: async (_, ...given) => (await import('./commands/mcp.ts')).mcp(...given),
  assistant: async (...given) => (await import('./commands/assistant.ts')).assistant(...given),
  audit: async (...given) => (await import('./doctor/audit-command.ts')).audit(...given),
  approve: async ([id], ...given) =>
    (await import('./commands/approval.ts')).answerApproval('allow', id, ...given),
  deny: async ([id], ...given) =>
    (await import('./commands/approval.ts')).answerApproval('deny', id, ...given),
  token: async (...given) => (await import('./server/token-command.ts')).token(...given),
  backup: async ([given = ''], _, io) => (await import('./commands/backup.ts')).backup(given, io),
  restore: async ([given = ''], _, io) => (await import('./commands/backup.ts')).restore(given, io),
  store: async (...given) => (await import('./commands/store.ts')).store(...given),
  help: async ([name], _, io) => (await import('./command-line/help.ts')).help(name, io),
};

/** Prints the help of a command, or the general help for an unknown one. */
async function helpOn(name: string | undefined, io: Io): Promise<number> {
  const { commandRow } = await import('./command-line/command-table.ts');
  const { help } = await import('./command-line/help.ts');
  return help(commandRow(name ?? '') === undefined ? undefined : name, io);
}

async function version(io: Io): Promise<number> {
  const { ownVersion } = await import('./terminal/version.ts');
  io.stdout.write(`${ownVersion()}\n`);
  return 0;
}

/** Prints what is wrong and what to do, without a stack trace. Returns the exit code. */
function report(error: unknown, io: Io): number {
  const { message, advice, exitCode } = describeError(error, ownName(io.env));
  const lines = [
    `cobbler: ${visible(message)}`,
    ...advice.map((line) => `  ${withProgramName(visible(line), io.env)}`),
  ];
  io.stderr.write(`${lines.join('\n')}\n`);
  return exitCode;
}

interface ErrorDescription {
  readonly message: string;
  readonly advice: readonly string[];
  readonly exitCode: number;
}

function describeError(error: unknown, name: string): ErrorDescription {
  if (error instanceof UsageError) {
    const { message, advice, code } = error;
    const more = code === 'usage' ? [] : [`More: ${name} explain ${code}`];
    return { message, advice: [...advice, ...more], exitCode: 2 };
  }
  const message = error instanceof Error ? error.message : String(error);
  const { kind, code } = error as { kind?: unknown; code?: unknown };
  // Our own errors have a kind, and a code with an explanation.
  const more = typeof kind === 'string' && typeof code === 'string' ? [`More: ${name} explain ${code}`] : [];
  if (kind !== 'invalid' && kind !== 'auth') {
    return { message: `internal error: ${message}`, advice: more, exitCode: 1 };
  }
  const advice = codeAdvice[String(code)] ?? 'Check the setup: cobbler doctor';
  return { message, advice: [advice, ...more], exitCode: 2 };
}

const codeAdvice: Readonly<Record<string, string>> = {
  agent_folder:
    'Correct it, or create an agent: cobbler new agent NAME. To check all files: cobbler info FOLDER',
  config: 'Correct that line, or move the file elsewhere to continue without it.',
  bad_key: 'Copy it again, or store it: cobbler config set-key PROVIDER',
  no_budget: 'To list the budgets, run cobbler budgets; to find out how to add one: cobbler help budgets',
  no_sampling: 'Remove temperature from the configuration.',
};
