import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Explanation } from '../../apps/cli/src/explain/catalogue.ts';
import { catalogue } from '../../apps/cli/src/explain/catalogue.ts';
import { raisedIn } from './errors/raised.mjs';

const root = join(import.meta.dirname, '../..');
const entries = catalogue.flatMap((area) => area.entries);

let found: ReturnType<typeof raisedIn>;
beforeAll(() => {
  found = raisedIn(root);
}, 120_000);

function sorted<Value>(values: Iterable<Value>): Value[] {
  return [...new Set(values)].sort();
}

describe('the error catalog', () => {
  test('every raised error has a code', () => {
    expect(found.problems).toEqual([]);
    expect(found.raised.length).toBeGreaterThan(300);
  });

  test('every raised code is explained', () => {
    const known = new Set(entries.map(({ code }) => code));
    const missing = found.raised.filter(({ code }) => !known.has(code));
    expect(missing.map(({ code, where }) => `${code}, raised at ${where}, has no entry`)).toEqual([]);
  });

  test('every explained code is raised, and explained only once', () => {
    const raised = new Set(found.raised.map(({ code }) => code));
    expect(entries.filter(({ code }) => !raised.has(code)).map(({ code }) => code)).toEqual([]);
    expect(entries).toHaveLength(new Set(entries.map(({ code }) => code)).size);
  });

  test('every entry has exactly the kinds and statuses of the errors with its code', () => {
    const kinds = entries.map(({ code, kinds = [], status = [] }) => [code, sorted(kinds), sorted(status)]);
    const raised = entries.map(({ code }) => {
      const all = found.raised.filter((one) => one.code === code);
      return [
        code,
        sorted(all.flatMap(({ kind }) => kind ?? [])),
        sorted(all.flatMap(({ status }) => status ?? [])),
      ];
    });
    expect(kinds).toEqual(raised);
  });

  test('every code is in snake case, and every entry has an explanation and a remedy', () => {
    for (const { code, what, todo } of entries) {
      // `toolCalls` was stored in logs before this rule existed.
      if (code !== 'toolCalls') expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(what, code).toMatch(/^[A-Z].{15,300}[.]$/);
      expect(todo, code).toMatch(/^[A-Z].{5,300}[.)\-?"]$|^[A-Z].{5,300}`$/);
    }
  });

  test('reports an error without a code, and resolves a code from the callers of a function', () => {
    const folder = mkdtempSync(join(tmpdir(), 'errors-'));
    mkdirSync(join(folder, 'packages/one/src'), { recursive: true });
    const lines = [
      "throw new AgentError({ kind: 'tool', message: 'No code.' });",
      "throw new AgentError({ ...given, kind: 'tool', message: 'None of its own.' });",
      'const failed = (code: string, message: string) => new AgentError({ kind: "auth", code, message });',
      "if (later) throw failed('one', 'It is so.');",
      "throw failed(later ? 'two' : 'three', 'It is not so.');",
      'throw new AgentError({ ...error.toJSON(), message });',
    ];
    writeFileSync(join(folder, 'packages/one/src/a.ts'), lines.join('\n'));
    const { raised, problems } = raisedIn(folder);
    expect(raised.map(({ code, kind }) => `${code} ${kind}`)).toEqual(['one auth', 'two auth', 'three auth']);
    const own = problems.filter((problem) => problem.startsWith('packages/one/'));
    expect(own.map((problem) => problem.split(' ')[0])).toEqual(
      [1, 2].map((line) => `packages/one/src/a.ts:${line}`),
    );
    rmSync(folder, { recursive: true });
  });

  test('every page that an entry names exists', () => {
    const pages = sorted(entries.flatMap(({ see }) => see ?? []));
    expect(pages.filter((page) => !existsSync(join(root, page)))).toEqual([]);
  });

  test('contains the whole text of docs/errors.md', () => {
    const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
    const areas = catalogue.map(({ title, entries }) => `## ${title}\n\n${entries.map(section).join('\n')}`);
    expect(page.slice(page.indexOf('## '))).toBe(areas.join('\n'));
  });
});

function section({ code, kinds = [], status = [], what, todo, see }: Explanation): string {
  const about = [...kinds.map((kind) => `\`${kind}\``), ...status.map((one) => `HTTP ${one}`)].join(', ');
  const page = see?.replace(/^docs\//, '');
  const more = page === undefined ? '' : ` See [${page.replace(/\.md$/, '')}](${page}).`;
  return `### ${code}\n\n${about === '' ? '' : `${about}. `}${what}\n\n${todo}${more}\n`;
}
