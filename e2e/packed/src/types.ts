import { join } from 'node:path';
import type { Row } from './board.ts';
import { namesPeer } from './programs.ts';
import type { Room } from './room.ts';
import type { Edition } from './runtimes.ts';
import { editionOf } from './runtimes.ts';
import type { Tarball } from './tarball.ts';
import { entriesOf } from './tarball.ts';

/** Entries that only work in Node and use its types. All others must not. */
const ofNode: ReadonlySet<string> = new Set([
  '@cobbler/agent/node',
  '@cobbler/assistant/sqlite',
  '@cobbler/server',
  '@cobbler/tools',
  '@cobbler/tools/mcp',
  '@cobbler/tools/web',
]);

/** The parts that a check of the programs in a room needs. */
export interface Checking {
  readonly room: Room;
  readonly tarballs: readonly Tarball[];
  readonly editions: readonly Edition[];
  /** The suite's directory, which contains the types of Node. */
  readonly suite: string;
  /** The directory of the Node that runs TypeScript. */
  readonly bin: string;
  /** True if the optional peers are not installed. */
  readonly withoutPeers: boolean;
}

const resolutions = ['nodenext', 'bundler'] as const;

/** Returns the rows that check every entry strictly, together with all declarations that it imports. */
export function typeRows(checking: Checking): Row[] {
  const entries = checking.tarballs.flatMap(entriesOf);
  const anywhere = entries.filter((entry) => !ofNode.has(entry));
  writeSources(checking.room, anywhere, entries);
  return resolutions.flatMap((resolution) => [
    {
      claim: `${resolution}, no @types/node`,
      check: (column) => compile(checking, column, resolution, 'anywhere', anywhere.length),
    },
    {
      claim: `${resolution}, @types/node`,
      check: (column) => compile(checking, column, resolution, 'node', entries.length),
    },
  ]);
}

function writeSources(room: Room, anywhere: readonly string[], all: readonly string[]): void {
  const source = (entries: readonly string[]) =>
    entries
      .map(
        (entry, index) =>
          `import * as e${index} from '${entry}';\nexport const n${index} = Object.keys(e${index});\n`,
      )
      .join('');
  room.write('types/anywhere.ts', source(anywhere));
  room.write('types/node.ts', source(all));
  room.write(
    'types/common.cts',
    "import agent = require('@cobbler/agent');\nexport const run = agent.Executor;\n",
  );
}

async function compile(
  checking: Checking,
  column: string,
  resolution: (typeof resolutions)[number],
  group: 'anywhere' | 'node',
  entries: number,
): Promise<string> {
  const { room, suite, bin } = checking;
  const program = join(editionOf(checking.editions, column).folder, 'bin', 'tsc');
  const ofNodeToo = group === 'node';
  const compilerOptions = {
    noEmit: true,
    rootDir: '..',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2023',
    module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
    moduleResolution: resolution,
    types: ofNodeToo ? ['node'] : [],
    ...(ofNodeToo && { typeRoots: [join(suite, 'node_modules', '@types')] }),
  };
  const files = [
    `${group}.ts`,
    ...(ofNodeToo ? ['../hello.ts'] : []),
    ...(resolution === 'nodenext' ? ['common.cts'] : []),
  ];
  room.write('types/tsconfig.json', JSON.stringify({ compilerOptions, files }));
  const { stdout } = await room.run('node', [program, '-p', 'types', '--pretty', 'false'], { bin });
  const errors = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
  const wrong = errors.filter((line) => !isExcused(line, checking));
  if (wrong.length > 0) throw new Error(wrong.slice(0, 10).join('\n'));
  if (errors.length > 0 && checking.withoutPeers) return `${entries}, except peers`;
  return errors.length > 0 ? `${entries}; ${errors.length} errors in other packages` : `${entries}`;
}

/** Without peers, their names may be unknown. With them, errors in their own declarations are ignored. */
function isExcused(line: string, { tarballs, withoutPeers }: Checking): boolean {
  const ours = tarballs.find(({ manifest }) => line.includes(`node_modules/${manifest.name}/`));
  if (withoutPeers) return ours !== undefined && namesPeer(line, ours);
  return ours === undefined && line.includes('node_modules/');
}
