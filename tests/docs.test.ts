import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CommandRow } from '../apps/cli/src/command-line/command-table.ts';
import { commandRow, flagNames, optionsOf } from '../apps/cli/src/command-line/command-table.ts';
import type { Command } from '../e2e/docs/src/commands.ts';
import { commandsOf, stepsOf } from '../e2e/docs/src/commands.ts';
import type { Page } from '../e2e/docs/src/documents.ts';
import { blocksOf, followedPages, inlineCodeOf, readPages } from '../e2e/docs/src/documents.ts';
import { anchorsOf, brokenLinks } from '../e2e/docs/src/links.ts';
import { runPage } from '../e2e/docs/src/page-run.ts';
import type { Plan } from '../e2e/docs/src/plan.ts';
import { planFor, unfilled, withDefaults } from '../e2e/docs/src/plan.ts';
import { plans } from '../e2e/docs/src/plans.ts';
import { fragmentsOf } from '../e2e/docs/src/programs.ts';

const root = join(import.meta.dirname, '..');

/** The scripts that take a name, and what they run. */
const tasks: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(
  readFileSync(join(root, 'scripts/tasks.json'), 'utf8'),
);
const pages = followedPages(root);
const manifests = ['package.json', 'apps/worker/package.json'].map(
  (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as { scripts: Record<string, string> },
);

const page = (...lines: readonly string[]): Page => ({ path: 'a.md', text: lines.join('\n') });
const texts = (some: readonly Command[]) => some.map(({ line, text }) => `${line} ${text}`);

describe('what stands in a document', () => {
  test('a block has its language, its first line and no indent of the list it stands in', () => {
    const blocks = blocksOf(
      page('1. Do', '', '   ```sh', '   one', '     two', '   ```', '```', 'plain', '```'),
    );
    expect(blocks).toEqual([
      { page: 'a.md', line: 4, language: 'sh', text: 'one\n  two' },
      { page: 'a.md', line: 8, language: '', text: 'plain' },
    ]);
  });

  test('each line of a shell block is a command, without comments and what they show', () => {
    const found = commandsOf(page('```sh', 'one   # first', '', '# two', "three '# four'", 'a#b', '```'));
    expect(texts(found)).toEqual(['2 one', "5 three '# four'", '6 a#b']);
  });

  test('a command goes on behind a backslash, in a quote, in a function and in a document of its own', () => {
    const found = commandsOf(
      page(
        '```sh',
        'one \\',
        '  two',
        "say 'a",
        "b'",
        'f() {',
        '  x',
        '}',
        'cat <<END',
        'x',
        'END',
        'last',
        '```',
      ),
    );
    expect(texts(found)).toEqual([
      '2 one \\\n  two',
      "4 say 'a\nb'",
      '6 f() {\n  x\n}',
      '9 cat <<END\nx\nEND',
      '12 last',
    ]);
  });

  test('of a console only what stands behind the prompt is a command', () => {
    expect(texts(commandsOf(page('```console', '$ one', 'it says two', '```')))).toEqual(['2 one']);
  });

  test('a mention within a line is a command when it begins with a program and says more than its name', () => {
    const found = commandsOf(
      page('Type `npm start` or `cobbler`, see `node:fs`.', '| `cobbler a \\| b` |', '```', '`npm x`', '```'),
    );
    expect(texts(found)).toEqual(['1 npm start', '2 cobbler a | b']);
  });

  test('headings get the anchors of GitHub, repeated ones a number', () => {
    const anchors = anchorsOf(page('# A `b`: [c](d.md)!', '## The end', '## The end', '```', '# no', '```'));
    expect([...anchors]).toEqual(['a-b-c', 'the-end', 'the-end-1']);
  });
});

describe('the plans', () => {
  const some = {
    fill: [['cbk_…', '$TOKEN']],
    pages: [{ page: 'a.md', fill: [['NAME', 'x']] }],
    commands: [
      { command: /^one/, apart: 'everywhere' },
      { page: 'a.md', command: 'one NAME', fill: [['one', 'two']] },
    ],
  } as const;
  const one = (text: string, path = 'a.md') => ({
    page: path,
    line: 1,
    text,
    isInline: false,
  });

  test('the plan of a page goes before one for all pages', () => {
    expect(planFor(one('one NAME'), some)?.apart).toBeUndefined();
    expect(planFor(one('one NAME', 'b.md'), some)?.apart).toBe('everywhere');
    expect(planFor(one('other'), some)).toBeUndefined();
  });

  test('placeholders get the values of the command, the page and all', () => {
    expect(withDefaults(one('one NAME'), some)).toBe('two x');
    expect(withDefaults(one('say cbk_… NAME', 'b.md'), some)).toBe('say $TOKEN NAME');
  });

  test('a placeholder that is left is noticed', () => {
    expect(unfilled('run …')).toBe('…');
    expect(unfilled('KEY=... run')).toBe('...');
    expect(unfilled('see <address>/x')).toBe('<address>');
    expect(unfilled('cat <<<"$A"; x "a..." 2>&1')).toBeUndefined();
  });

  test('each speaks of a command that stands in a document', () => {
    const all = pages.flatMap(stepsOf);
    const used = new Set(all.map((command) => planFor(command, plans)));
    const unused = plans.commands.filter((plan) => plan.page !== undefined && !used.has(plan));
    expect(unused.map((plan) => `${plan.page}: ${String(plan.command)}`)).toEqual([]);
    const paths = new Set(pages.map(({ path }) => path));
    expect(plans.pages.map((plan) => plan.page).filter((path) => !paths.has(path))).toEqual([]);
  });

  test('no command of a document keeps a placeholder for which there is nothing', () => {
    const left = pages
      .flatMap(commandsOf)
      .filter((command) => planFor(command, plans)?.apart === undefined)
      .filter((command) => unfilled(withDefaults(command, plans)) !== undefined);
    expect(texts(left)).toEqual([]);
  });
});

describe.skipIf(!existsSync('/proc/self/environ'))('a page that is followed (needs /proc)', () => {
  test('is one shell, and what fails, hangs on or prints something else is told', async () => {
    const typed = [
      'A=1; cd sub',
      'echo "$A in ${PWD##*/}"',
      '(exit 3)',
      'sleep 60 >/dev/null 2>&1 &',
      'echo no',
      'never',
    ];
    const outcomes = await followed(typed, [
      { command: /^echo "/, prints: /^1 in sub$/m },
      { command: 'echo no', prints: /yes/ },
      { command: 'never', apart: 'no reason' },
    ]);
    expect(outcomes.map(({ verdict, why }) => `${verdict} ${why ?? ''}`.trim())).toEqual([
      'passed',
      'passed',
      'failed it ended with 3:',
      'passed',
      'failed it printed no',
      'apart no reason',
      expect.stringMatching(/^failed after the page: still there: \d+ .*sleep 60/),
    ]);
  });

  test('has a server until its end, which Ctrl-C has to bring', async () => {
    const server = (end: string) => `bash -c 'trap "${end}" INT; echo ready; while :; do sleep 0.1; done'`;
    const plan = [{ command: /ready/, way: 'server', prints: /ready/ }] as const;
    const ends = await followed([server('exit 0'), 'true'], plan);
    expect(ends.map(({ verdict }) => verdict)).toEqual(['passed', 'passed']);
    const fails = await followed([server('exit 7'), 'true'], plan);
    expect(fails.map(({ why }) => why)).toEqual([
      undefined,
      undefined,
      expect.stringContaining('ended with 7'),
    ]);
  });

  test('keeps a server that stays while another one starts, and ends both', async () => {
    const server = (name: string) =>
      `bash -c 'trap "rm ${name}; exit 0" INT; touch ${name}; echo ready; while :; do sleep 0.1; done'`;
    const serves = { way: 'server', prints: /ready/ } as const;
    const commands = [
      { command: /touch stays/, ...serves, stays: true },
      { command: /touch own/, ...serves },
      { command: /^ls/, prints: /own\n(.*\n)*stays/ },
      { command: 'true', after: '! [ -e own ] && [ -e stays ]' },
      { command: /touch next/, ...serves },
    ] as const;
    const steps = [server('stays'), server('own'), 'ls', server('next'), 'true'];
    const outcomes = await followed(steps, commands);
    expect(outcomes.map(({ why }) => why)).toEqual(steps.map(() => undefined));
  });
});

/** Follows a page of such commands in a folder of its own. */
async function followed(typed: readonly string[], commands: readonly Plan[]) {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-docs-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'cwd'), folder);
  const env = { PATH: process.env['PATH'] ?? '' };
  const place = { home: folder, project: folder, notes: folder, env };
  const plans = { fill: [], pages: [], commands };
  const means = {
    plans,
    place,
    clone: '/none',
    port: 0,
    env: {},
    keys: {},
    known: new Set<string>(),
    tell: () => {},
  };
  const steps = typed.map((text, index) => ({ page: 'a.md', line: index + 1, text, isInline: false }));
  return await runPage('a.md', steps, means);
}

describe('the documents', () => {
  test('every link and anchor leads somewhere', () => {
    expect(readPages(root).flatMap((one) => brokenLinks(root, one))).toEqual([]);
  });

  test('every script of npm that they name is there, with its files and its options', () => {
    const named = readPages(root).flatMap(scriptsIn);
    expect(named.length).toBeGreaterThan(20);
    expect(named.flatMap(missingIn)).toEqual([]);
  });

  test('every command and option of the command line that they name is known to it', () => {
    const named = pages.flatMap(cobblerLines);
    expect(named.length).toBeGreaterThan(50);
    expect(named.flatMap(unknownIn)).toEqual([]);
  });

  test('what is no whole program is rare', () => {
    const parts = pages.flatMap(fragmentsOf).map(({ page: path, line }) => `${path}:${line}`);
    expect(parts.length, parts.join(', ')).toBeLessThanOrEqual(6);
  });
});

interface NamedScript {
  readonly place: string;
  readonly name: string;
  /** What is chosen by name behind `--`. */
  readonly task: string | undefined;
  readonly flags: readonly string[];
}

/** Every `npm run` of a page, in whatever it stands; on a line that ends within code, options go with it. */
function scriptsIn({ path, text }: Page): NamedScript[] {
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/npm run ([a-z][\w:-]*)([^`|#]*)/g)].map(([, name = '', rest = '']) => ({
      place: `${path}:${index + 1}`,
      name,
      task: /^ -- ([a-z]+)(?![\w/])/.exec(rest)?.[1],
      flags: rest.match(/(?<=\s)--[a-z][\w-]*/g) ?? [],
    })),
  );
}

/** What is wrong with a named script: it is not there, or a file of it, or no file of it speaks of the option. */
function missingIn({ place, name, task, flags }: NamedScript): string[] {
  const commands = tasks[name];
  if (task !== undefined && commands !== undefined && commands[task] === undefined)
    return [`${place}: there is no npm run ${name} -- ${task}`];
  const script =
    commands?.[task ?? 'peers'] ??
    tasks['root']?.[name] ??
    manifests.map(({ scripts }) => scripts[name]).find((text) => text !== undefined);
  if (script === undefined) return [`${place}: there is no npm run ${name}`];
  const files = JSON.stringify(script).match(/[\w./-]+\.(ts|mjs)\b/g) ?? [];
  const absent = files.filter((file) => !existsSync(join(root, file)));
  if (absent.length > 0) return [`${place}: npm run ${name} names ${absent.join(', ')}`];
  // What goes to a program of another project is not looked up.
  if (files.length === 0 || name === 'exec' || name === 'try') return [];
  const sources = files.map(withImports).join('\n');
  const knows = (flag: string) => {
    const word = flag.slice(2);
    return sources.includes(flag) || new RegExp(`['"]?${word}['"]?: \\{`).test(sources);
  };
  return flags.filter((flag) => !knows(flag)).map((flag) => `${place}: npm run ${name} knows no ${flag}`);
}

/** The text of a file and of those beside it that it imports. */
function withImports(file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  const beside = [...text.matchAll(/^import .*from '(\.[^']+)'/gm)].map(([, path = '']) =>
    join(dirname(file), path),
  );
  return [text, ...beside.map((path) => readFileSync(join(root, path), 'utf8'))].join('\n');
}

interface CobblerLine {
  readonly place: string;
  readonly words: readonly string[];
}

/** What is typed behind `cobbler` or `npm start --`, wherever a command may begin. */
function cobblerLines(one: Page): CobblerLine[] {
  const begins = /(?:^|[;&|]\s*| -- |^… |=\S+\s+)(?:cobbler|npm start --) ([^;&|\n]+)/g;
  const inBlocks = commandsOf(one).filter(({ isInline }) => !isInline);
  return [...inlineCodeOf(one), ...inBlocks].flatMap(({ line, text }) =>
    [...text.replaceAll(/\s*\\\n\s*/g, ' ').matchAll(begins)].map(([, rest = '']) => ({
      place: `${one.path}:${line}`,
      words: rest.replaceAll(/'[^']*'|"[^"]*"/g, 'TEXT').split(/\s+/),
    })),
  );
}

function unknownIn({ place, words }: CobblerLine): string[] {
  const [first = ''] = words;
  // A prompt, an option, a placeholder: what stands there is a task.
  const isTask = /^(-|[A-Z]+$|…)/.test(first);
  const row: CommandRow | undefined = commandRow(first) ?? (isTask ? commandRow('run') : undefined);
  if (row === undefined) return [`${place}: there is no command ${first}`];
  const known = new Set(['--help', '-h', '--version', '--', ...optionsOf(row).flatMap(flagNames)]);
  const flags = words.flatMap((word) => /^--?[a-z][\w-]*/i.exec(word)?.[0] ?? []);
  const strange = flags
    .filter((flag) => !known.has(flag))
    .map((flag) => `${place}: ${row.name} knows no ${flag}`);
  const action = /^[a-z][a-z-]*$/.exec(words[1] ?? '')?.[0];
  const actions = row.words === undefined || row.words === 'file' ? undefined : row.words;
  const isStrange = action !== undefined && actions !== undefined && !actions.includes(action);
  return isStrange ? [...strange, `${place}: ${row.name} knows no ${action}`] : strange;
}
