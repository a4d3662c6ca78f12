import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { searchDocs } from '../../src/explain/docs-search.ts';
import { cobbler } from '../support/in-process.ts';

const page = (name: string, text: string) => ({ name, title: /^# (.+)/.exec(text)?.[1] ?? '', text });
const search = (query: string, ...texts: string[]) =>
  searchDocs(
    texts.map((text, index) => page(`p${index}`, text)),
    query,
    5,
  );

describe('searchDocs', () => {
  test('puts a section with all words first, and rare words before common ones', () => {
    const common = '# Limits\n\nA tool. A tool. A tool.\n\n## Time\n\nA tool and a timeout.';
    const found = search(
      'how to set the timeout of a tool',
      common,
      '# Other\n\nA tool.',
      '# Third\n\ntools',
    );
    expect(found.map(({ page: name, heading }) => `${name} ${heading}`)).toEqual([
      ...['p0 Time', 'p0 Limits', 'p2 Third', 'p1 Other'],
    ]);
  });

  test('returns the paragraph or the row of a table that says most', () => {
    const [first] = search('gate verdict', '# Gates\n\nOne gate.\n\nA gate returns a verdict.\n\nMore.');
    expect(first?.passage).toBe('A gate returns a verdict.');
    const [row] = search(
      'max-usd',
      '# Limits\n\n| Name | Option |\n|---|---|\n| a | `--max-turns` |\n| b | `--max-usd` |',
    );
    expect(row?.passage).toBe('| b | `--max-usd` |');
  });

  test('takes no comment of a code block for a heading, and no pattern from the query', () => {
    const [found] = search('npm', '# Start\n\n```sh\n# not a heading\nnpm start\n```');
    expect(found?.heading).toBe('Start');
    expect(search('a.c (x|y) [z', '# T\n\nabc')).toEqual([]);
    expect(search('zzz', '# T\n\nabc')).toEqual([]);
    expect(search('', '# T\n\nabc')).toEqual([]);
  });
});

describe('cobbler docs', () => {
  test('lists the pages, shows one, and finds passages', async () => {
    const { stdout } = await cobbler(['docs', '--json']);
    const names = readdirSync(new URL('../../../../docs/', import.meta.url)).filter((name) =>
      name.endsWith('.md'),
    );
    expect(JSON.parse(stdout)).toHaveLength(names.length);
    expect((await cobbler(['docs', 'docs/tools.md'])).stdout).toMatch(/^# Tools\n/);
    const { stdout: found } = await cobbler(['docs', 'search', 'define', 'a', 'tool', '-n', '1']);
    expect(found).toMatch(/^tools: Tools\n {2}\S[\s\S]*\n {2}Whole page: cobbler docs tools\n$/);
    const json = await cobbler(['docs', 'search', 'overloaded', 'retries', '--json']);
    expect(JSON.parse(json.stdout)[0]).toEqual({
      ...{ page: 'limits', title: 'Limits and cost', heading: 'When a service is overloaded' },
      passage: expect.stringContaining('Cobbler retries a request'),
    });
  });

  test.each([
    [['docs', 'tolls'], 2, 'Did you mean tools?\n  Search the pages: cobbler docs search tolls'],
    [['docs', 'change', 'a', 'limit'], 2, 'cobbler docs search change a limit'],
    [['docs', 'search'], 2, 'cobbler docs search approval'],
    [['docs', 'search', 'x', '-n', 'many'], 2, '--limit'],
    [['docs', 'search', 'qqqq'], 1, 'To list the pages: cobbler docs'],
  ])('%j exits with %i and names the next command', async (args, code, text) => {
    expect(await cobbler(args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
  });
});
