import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Row } from './board.ts';
import type { StartOf } from './programs.ts';
import type { Room, Start } from './room.ts';
import type { Tarball } from './tarball.ts';

const program = 'node_modules/.bin/cobbler';
/** Options of a server whose model is never called. */
const serve = ['serve', '--port', '0', '-m', 'openai:nobody', '--base-url', 'http://127.0.0.1:9/v1'];

/** Returns the rows for the command as users install it. There is no key, and no model is called. */
export function binaryRows(room: Room, start: StartOf, cli: Tarball): Row[] {
  const says = async (args: readonly string[], expected: RegExp, column: string, code = 0) => {
    const outcome = await room.run(program, args, start(column));
    const text = `${outcome.stdout}${outcome.stderr}`;
    if (outcome.code === code && expected.test(text)) return undefined;
    throw new Error(`It exited with ${outcome.code}:\n${text.slice(-2000)}`);
  };
  const version = new RegExp(`^${cli.manifest.version.replaceAll('.', '\\.')}$`, 'm');
  return [
    { claim: 'cobbler --version', check: (column) => says(['--version'], version, column) },
    { claim: 'cobbler --help', check: (column) => says(['--help'], /ANTHROPIC_API_KEY/, column) },
    { claim: 'cobbler demo', check: (column) => says(['demo'], /4 of 4 pass/, column) },
    // It exits with 1 and reports that there is no key.
    { claim: 'cobbler doctor', check: (column) => says(['doctor'], /ANTHROPIC_API_KEY/, column, 1) },
    { claim: 'cobbler serve, and its page', check: (column) => serves(room, start(column)) },
    {
      claim: 'cobbler serve --store postgres://…',
      // There is no database; the driver must load to find that out.
      check: (column) =>
        says([...serve, '--store', 'postgres://127.0.0.1:1/none'], /Cannot reach the database/, column, 2),
    },
    { claim: 'npx, from an empty directory', check: (column) => byNpx(room, start(column), cli, version) },
  ];
}

async function byNpx(room: Room, start: Start, cli: Tarball, version: RegExp): Promise<undefined> {
  const args = ['--yes', `--package=${cli.file}`, 'cobbler', '--version'];
  const { stdout } = await room.must('npx', args, { ...start, cwd: room.elsewhere, network: true });
  if (!version.test(stdout)) throw new Error(`It printed ${JSON.stringify(stdout)}`);
  return undefined;
}

async function serves(room: Room, start: Start): Promise<undefined> {
  const server = room.start(program, serve, start);
  const ended = once(server, 'exit');
  try {
    const address = await addressOf(server.stdout);
    const page = await fetch(new URL('/', address));
    const text = await page.text();
    if (page.status !== 200 || !text.includes('<script'))
      throw new Error(`The page has status ${page.status}: ${text}`);
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
  return undefined;
}

async function addressOf(stdout: NodeJS.ReadableStream | null): Promise<string> {
  if (stdout !== null)
    for await (const line of createInterface({ input: stdout })) if (line.startsWith('http://')) return line;
  throw new Error('It exited without printing an address.');
}
