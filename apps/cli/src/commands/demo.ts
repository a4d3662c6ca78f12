import { workspaceTools } from '@cobbler/tools';
import { shortPath, workFolder } from '../config/directory.ts';
import { findInstructions } from '../config/instructions.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { demoSandbox } from '../config/sandbox.ts';
import { dayOf, systemPrompt } from '../config/system-prompt.ts';
import { demoModel } from '../demo/model.ts';
import { checkDemoProject, newDemoProject, pathWithNode } from '../demo/project.ts';
import { Permission } from '../permissions/permission.ts';
import { shellQuoted } from '../permissions/permission-rule.ts';
import { runTask } from '../run/task.ts';
import type { Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import { wrap } from '../terminal/text-width.ts';

const prompt = 'One of the tests fails. Find out why, fix it and run the tests again.';

/**
 * Runs `cobbler demo`: the fix of a small project without a key. A scripted model responds over HTTP on this machine;
 * everything else, from the vendor's client to the tools and the tests that they run, is the same as in a real run.
 */
export async function demo(options: RawOptions, io: Io): Promise<number> {
  const given = typeof options['dir'] === 'string' ? workFolder(options['dir'], io) : undefined;
  if (given !== undefined) checkDemoProject(given);
  const folder = given ?? newDemoProject();
  const isJson = options['json'] === true;
  const screen = screenFor(io.stderr, io.env);
  const style = styleFor(screen);
  const say = (lines: readonly string[]) => {
    if (!isJson) io.stderr.write(`${lines.join('\n')}\n`);
  };
  const where = `${given === undefined ? 'a new directory' : 'the given directory'}, ${shortPath(folder, io.env)}`;
  say(opening(where, style, screen.columns()));
  const { agent, pricing, failure, close } = await demoModel(screen.redraw ? io.clock : undefined);
  try {
    const env = { PATH: pathWithNode(io.env) };
    const { sandbox, lines } = await demoSandbox(folder, { ...io.env, ...env });
    if (lines.length > 0) say([...lines.flatMap((line) => wrap(line, screen.columns() - 1)), '']);
    const tools = workspaceTools({ root: folder, env, environment: io.env, sandbox });
    const instructions = await findInstructions(folder);
    const { exitCode } = await runTask(
      {
        agent,
        pricing,
        failure,
        tools,
        system: systemPrompt({
          folder,
          platform: process.platform,
          today: dayOf(new Date()),
          hasTools: true,
          instructions,
        }),
        prompt: [{ type: 'text', text: prompt }],
        permission: new Permission('yes', [], false),
        limits: { turns: 20 },
        form: isJson ? 'json' : 'people',
        verbose: options['verbose'] === true,
        header: ['cobbler', agent.model, shortPath(folder, io.env), 'never asks here'],
        folder: shortPath(folder, io.env),
      },
      io,
    );
    if (exitCode === 0) say(ending(folder, style, screen.columns(), io));
    return exitCode;
  } finally {
    await close();
  }
}

function opening(where: string, style: Style, columns: number): string[] {
  const words = `The model in this demo is scripted: it needs no key and costs nothing. Everything else is real, including the HTTP requests, the tools, the files and the tests. The demo works in ${where}, and never asks for approval.`;
  const [first = '', ...rest] = wrap(`Task: ${prompt}`, columns - 1);
  const task = [first.replace('Task:', style.bold('Task:')), ...rest];
  return [...wrap(words, columns - 1).map(style.dim), '', ...task, ''];
}

function ending(folder: string, style: Style, columns: number, io: Io): string[] {
  const short = shortPath(folder, io.env);
  const path = /^[\w./~-]+$/.test(short) ? short : shellQuoted(folder);
  const closing =
    "That was the real agent loop with a scripted model. The model's text came from a script; the changes to the files are real.";
  const name = ownName(io.env);
  const rows = [
    ['Look at the result', `cd ${path}`],
    ['Break it again', `${name} demo -C ${path}`],
    ['With a real model', 'export ANTHROPIC_API_KEY=...'],
    ['', `${name} "fix the failing test" -C DIR`],
  ] as const;
  const width = columns < 60 ? 0 : 20;
  const lines = rows.flatMap(([words, command]) => {
    const label = words === '' ? '' : `${words}:`;
    if (width > 0) return [label.padEnd(width) + style.bold(command)];
    return [...(label === '' ? [] : [label]), `  ${style.bold(command)}`];
  });
  return ['', ...wrap(closing, columns - 1), '', ...lines];
}
