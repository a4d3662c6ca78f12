import type { Row } from './board.ts';
import type { Program } from './readme.ts';
import type { Room, Start } from './room.ts';
import type { Tarball } from './tarball.ts';
import { entriesOf } from './tarball.ts';

/** Returns how to start the Node of a column. */
export type StartOf = (column: string) => Start;

/** Prints for each entry whether it can be loaded, or which package is missing. */
const loading = `
const load = process.argv[2] === 'require' ? async (entry) => require(entry) : (entry) => import(entry);
const told = {};
(async () => {
  for (const entry of process.argv.slice(3)) {
    try {
      told[entry] = Object.keys(await load(entry)).length > 0 ? '' : 'exports nothing';
    } catch (error) {
      told[entry] = error.message;
    }
  }
  process.stdout.write(JSON.stringify(told));
})();
`;

const fromCommonJs = `
const { Executor } = require('@cobbler/agent');
const { scriptedAgent } = require('@cobbler/agent/testing');
new Executor({ agent: scriptedAgent(['Hello.']) }).run('Say hello.').then(({ status, text }) => console.log(status, text));
`;

const servesThePage = `
import { scriptedAgent } from '@cobbler/agent/testing';
import { memoryStore } from '@cobbler/agent';
import { startServer, TokenStore } from '@cobbler/server';
const settings = () => ({ agent: scriptedAgent(['Hello.']), tools: [] });
const server = await startServer({ store: memoryStore(), tokens: new TokenStore(), settings });
const page = await (await fetch(new URL('/', server.url))).text();
const parts = [...page.matchAll(/(?:src|href)="(\\/assets\\/[^"]+)"/g)].map(([, path]) => path);
for (const path of parts) {
  const { status } = await fetch(new URL(path, server.url));
  if (status !== 200) throw new Error(path + ' has status ' + status);
}
await server.close();
console.log(parts.length > 1 ? 'served' : 'not served');
`;

/** Writes the programs that the rows run. */
export function writePrograms(room: Room, program: Program): void {
  room.write('package.json', '{"private":true,"type":"module"}\n');
  room.write('hello.ts', program.code);
  room.write('load.cjs', loading);
  room.write('run.cjs', fromCommonJs);
  room.write('page.mjs', servesThePage);
}

/** Returns the rows for each Node with nothing installed except the tarballs. */
export function plainRows(room: Room, start: StartOf, tarballs: readonly Tarball[], program: Program): Row[] {
  const prints = async (file: string, expected: string, column: string) => {
    const { stdout } = await room.must('node', [file], start(column));
    if (stdout.trim() !== expected) throw new Error(`It printed ${JSON.stringify(stdout)}, not ${expected}`);
    return undefined;
  };
  const loads = (how: 'import' | 'require') => (column: string) =>
    load(room, start(column), how, tarballs, true);
  return [
    { claim: "the README's program", check: (column) => prints('hello.ts', program.prints, column) },
    {
      claim: "a run by require('@cobbler/agent')",
      check: (column) => prints('run.cjs', 'complete Hello.', column),
    },
    { claim: 'every entry by import', check: loads('import') },
    { claim: 'every entry by require', check: loads('require') },
    { claim: '@cobbler/server serves its page', check: (column) => prints('page.mjs', 'served', column) },
  ];
}

/** Returns the rows for an installation with the optional peers. */
export function peerRows(room: Room, start: StartOf, tarballs: readonly Tarball[]): Row[] {
  const loads = (how: 'import' | 'require') => (column: string) =>
    load(room, start(column), how, tarballs, false);
  return [
    { claim: 'every entry by import', check: loads('import') },
    { claim: 'every entry by require', check: loads('require') },
  ];
}

/** Loads every entry. Without peers, entries that need one may report that it is missing. */
async function load(
  room: Room,
  start: Start,
  how: 'import' | 'require',
  tarballs: readonly Tarball[],
  withoutPeers: boolean,
): Promise<string> {
  const entries = tarballs.flatMap((tarball) => entriesOf(tarball).map((entry) => ({ entry, tarball })));
  const { stdout } = await room.must('node', ['load.cjs', how, ...entries.map(({ entry }) => entry)], start);
  const told: Record<string, string> = JSON.parse(stdout);
  const failed = entries.filter(({ entry }) => told[entry] !== '');
  const wrong = failed.filter(
    ({ entry, tarball }) => !(withoutPeers && namesPeer(told[entry] ?? '', tarball)),
  );
  if (wrong.length > 0) throw new Error(wrong.map(({ entry }) => `${entry}: ${told[entry]}`).join('\n'));
  return failed.length === 0
    ? `${entries.length}`
    : `${entries.length - failed.length}, ${failed.length} need a peer`;
}

/** Returns whether an error reports a missing package that may be missing. */
export function namesPeer(message: string, { manifest }: Tarball): boolean {
  const peers = Object.keys(manifest.peerDependencies ?? {});
  return /Cannot find (module|package)/.test(message) && peers.some((peer) => message.includes(`'${peer}`));
}
