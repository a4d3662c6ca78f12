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

/** Runs one command. Each command loads what it needs. */
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
  switch (command) {
    case 'resume':
      return await (await import('./commands/resume.ts')).resume(operands, options, io);
    case 'chat':
      return await (await import('./commands/chat.ts')).chat(operands, options, io);
    case 'sessions':
      return await (await import('./commands/sessions.ts')).sessions(operands, options, io);
    case 'demo':
      return await (await import('./commands/demo.ts')).demo(options, io);
    case 'models':
      return await (await import('./commands/models.ts')).models(options, io);
    case 'costs':
      return await (await import('./commands/costs.ts')).costs(options, io);
    case 'budgets':
      return await (await import('./run/budgets/budget-list.ts')).listBudgets(options, io);
    case 'config':
      return await (await import('./commands/config.ts')).config(operands, io);
    case 'permissions':
      return await (await import('./commands/permissions.ts')).permissions(operands, options, io);
    case 'doctor': {
      const [file] = operands;
      if (file !== undefined)
        return await (await import('./doctor/transcript.ts')).doctorTranscript(file, options, io);
      return await (await import('./commands/doctor.ts')).doctor(options, io);
    }
    case 'explain':
      return (await import('./commands/explain.ts')).explain(operands, options, io);
    case 'completion':
      return (await import('./commands/completion.ts')).completion(operands[0], io);
    case 'serve':
      return await (await import('./commands/serve.ts')).serve(options, io);
    case 'acp':
      return await (await import('./commands/acp.ts')).acp(options, io);
    case 'mcp':
      return await (await import('./commands/mcp.ts')).mcp(options, io);
    case 'assistant':
      return await (await import('./commands/assistant.ts')).assistant(operands, options, io);
    case 'audit':
      return await (await import('./doctor/audit-command.ts')).audit(operands, options, io);
    case 'approve':
    case 'deny': {
      const decision = command === 'approve' ? 'allow' : 'deny';
      return await (await import('./commands/approval.ts')).answerApproval(
        decision,
        operands[0],
        options,
        io,
      );
    }
    case 'token':
      return await (await import('./server/token-command.ts')).token(operands, options, io);
    case 'backup':
      return await (await import('./commands/backup.ts')).backup(operands[0] ?? '', io);
    case 'restore':
      return await (await import('./commands/backup.ts')).restore(operands[0] ?? '', io);
    case 'store':
      return await (await import('./commands/store.ts')).store(operands, options, io);
    case 'help':
      return (await import('./command-line/help.ts')).help(operands[0], io);
    default:
      return await (await import('./commands/run.ts')).run(operands, options, io);
  }
}

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
  config: 'Correct that line, or move the file elsewhere to continue without it.',
  bad_key: 'Copy it again, or store it: cobbler config set-key PROVIDER',
  no_budget: 'To list the budgets, run cobbler budgets; to find out how to add one: cobbler help budgets',
  no_sampling: 'Remove temperature from the configuration.',
};
