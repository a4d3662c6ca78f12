import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandRow } from '../apps/cli/src/command-line/command-row.ts';
import { commandRow, flagNames, optionsOf } from '../apps/cli/src/command-line/command-table.ts';
import type { Command } from '../e2e/docs/src/commands.ts';
import { commandsOf, stepsOf } from '../e2e/docs/src/commands.ts';
import type { Page } from '../e2e/docs/src/documents.ts';
import { blocksOf, followedPages, inlineCodeOf, readPages } from '../e2e/docs/src/documents.ts';
import { anchorsOf, brokenLinks } from '../e2e/docs/src/links.ts';
import { planFor, unfilled, withDefaults } from '../e2e/docs/src/plan.ts';
import { plans } from '../e2e/docs/src/plans.ts';
import { fragmentsOf } from '../e2e/docs/src/programs.ts';

const root = join(import.meta.dirname, '..');

/** The npm scripts that take the name of a task, with the command of each task. */
const tasks: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(
  readFileSync(join(root, 'scripts/tasks.json'), 'utf8'),
);
const pages = followedPages(root);
const manifests = ['package.json', 'apps/worker/package.json'].map(
  (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as { scripts: Record<string, string> },
);

const page = (...lines: readonly string[]): Page => ({ path: 'a.md', text: lines.join('\n') });
const texts = (some: readonly Command[]) => some.map(({ line, text }) => `${line} ${text}`);

describe('the parts of a document', () => {
  test('a code block has a language, its first line, and text without the indent of its list', () => {
    const blocks = blocksOf(
      page('1. Do', '', '   ```sh', '   one', '     two', '   ```', '```', 'plain', '```'),
    );
    expect(blocks).toEqual([
      { page: 'a.md', line: 4, language: 'sh', text: 'one\n  two' },
      { page: 'a.md', line: 8, language: '', text: 'plain' },
    ]);
  });

  test('each line of a shell block is a command, without its comment', () => {
    const found = commandsOf(page('```sh', 'one   # first', '', '# two', "three '# four'", 'a#b', '```'));
    expect(texts(found)).toEqual(['2 one', "5 three '# four'", '6 a#b']);
  });

  test('a command includes the lines continued by a backslash, quote, function or here-document', () => {
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

  test('in a console block, only the text after a prompt is a command', () => {
    expect(texts(commandsOf(page('```console', '$ one', 'it says two', '```')))).toEqual(['2 one']);
  });

  test('inline code is a command if it starts with a program and has an argument', () => {
    const found = commandsOf(
      page('Type `npm start` or `cobbler`, see `node:fs`.', '| `cobbler a \\| b` |', '```', '`npm x`', '```'),
    );
    expect(texts(found)).toEqual(['1 npm start', '2 cobbler a | b']);
  });

  test('headings get the same anchors as on GitHub, with a number for a repeated heading', () => {
    const anchors = anchorsOf(page('# A `b`: [c](d.md)!', '## The end', '## The end', '```', '# no', '```'));
    expect([...anchors]).toEqual(['a-b-c', 'the-end', 'the-end-1']);
  });
});

describe('the plans for commands', () => {
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

  test('a plan for one page takes precedence over a plan for all pages', () => {
    expect(planFor(one('one NAME'), some)?.apart).toBeUndefined();
    expect(planFor(one('one NAME', 'b.md'), some)?.apart).toBe('everywhere');
    expect(planFor(one('other'), some)).toBeUndefined();
  });

  test('placeholders are replaced with values for the command, its page or all pages', () => {
    expect(withDefaults(one('one NAME'), some)).toBe('two x');
    expect(withDefaults(one('say cbk_… NAME', 'b.md'), some)).toBe('say $TOKEN NAME');
  });

  test('a placeholder without a value is detected', () => {
    expect(unfilled('run …')).toBe('…');
    expect(unfilled('KEY=... run')).toBe('...');
    expect(unfilled('see <address>/x')).toBe('<address>');
    expect(unfilled('cat <<<"$A"; x "a..." 2>&1')).toBeUndefined();
  });

  test('every plan for a page matches a command of that page, and the page exists', () => {
    const all = pages.flatMap(stepsOf);
    const used = new Set(all.map((command) => planFor(command, plans)));
    const unused = plans.commands.filter((plan) => plan.page !== undefined && !used.has(plan));
    expect(unused.map((plan) => `${plan.page}: ${String(plan.command)}`)).toEqual([]);
    const paths = new Set(pages.map(({ path }) => path));
    expect(plans.pages.map((plan) => plan.page).filter((path) => !paths.has(path))).toEqual([]);
  });

  test('every placeholder in a command that runs has a value', () => {
    const left = pages
      .flatMap(commandsOf)
      .filter((command) => planFor(command, plans)?.apart === undefined)
      .filter((command) => unfilled(withDefaults(command, plans)) !== undefined);
    expect(texts(left)).toEqual([]);
  });
});

describe('the documents', () => {
  test('have no broken links or anchors', () => {
    expect(readPages(root).flatMap((one) => brokenLinks(root, one))).toEqual([]);
  });

  test('name only npm scripts, tasks and options that exist, and no script with missing files', () => {
    const named = readPages(root).flatMap(scriptsIn);
    expect(named.length).toBeGreaterThan(20);
    expect(named.flatMap(missingIn)).toEqual([]);
  });

  test('name only commands and options that the CLI has', () => {
    const named = pages.flatMap(cobblerLines);
    expect(named.length).toBeGreaterThan(50);
    expect(named.flatMap(unknownIn)).toEqual([]);
  });

  test('contain at most six program fragments', () => {
    const parts = pages.flatMap(fragmentsOf).map(({ page: path, line }) => `${path}:${line}`);
    expect(parts.length, parts.join(', ')).toBeLessThanOrEqual(6);
  });
});

interface NamedScript {
  readonly place: string;
  readonly name: string;
  /** Name of the task after `--`. */
  readonly task: string | undefined;
  readonly flags: readonly string[];
}

/**
 * Returns every `npm run` in a page, with the options that follow it up to a backtick, `|` or `#`.
 */
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

/**
 * Returns the problems of a named script: the script, its task or one of its files is missing, or
 * none of its files mentions an option.
 */
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
  // These scripts pass their options to another program.
  if (files.length === 0 || name === 'exec' || name === 'try') return [];
  const sources = files.map(withImports).join('\n');
  const knows = (flag: string) => {
    const word = flag.slice(2);
    return sources.includes(flag) || new RegExp(`['"]?${word}['"]?: \\{`).test(sources);
  };
  return flags.filter((flag) => !knows(flag)).map((flag) => `${place}: npm run ${name} knows no ${flag}`);
}

/** Returns the text of a file and of the files that it imports by a relative path. */
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

/** Returns the words after each `cobbler` or `npm start --`, wherever a command can start. */
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
  // A prompt, option or placeholder in the place of a command means `cobbler run`.
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
