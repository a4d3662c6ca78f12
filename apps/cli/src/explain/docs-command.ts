import { readdirSync, readFileSync } from 'node:fs';
import type { RawOptions } from '../config/run-flags.ts';
import { jsonLine, visible } from '../terminal/escape.ts';
import { parseCount } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { optionValue } from '../terminal/option-value.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { docsFolder } from './docs-folder.ts';
import type { DocsMatch, DocsPage } from './docs-search.ts';
import { searchDocs } from './docs-search.ts';

const defaultLimit = 5;

/**
 * Runs `cobbler docs`: lists the pages of the documentation, shows one, or finds passages with `search WORDS`. Works
 * without a network. Returns the exit code, which is 1 if nothing was found.
 */
export function docs(
  [name, ...words]: readonly string[],
  options: RawOptions,
  io: Pick<Io, 'stdout' | 'stderr' | 'env'>,
): number {
  const write = (value: unknown, text: string) =>
    io.stdout.write(options['json'] === true ? jsonLine(value) : `${text.trimEnd()}\n`);
  const pages = readPages();
  if (name === undefined) {
    const list = pages.map(({ name: page, title }) => ({ page, title }));
    write(list, list.map(({ page, title }) => `${page.padEnd(22)} ${title}`).join('\n'));
    return 0;
  }
  if (name !== 'search') {
    const page = pageNamed(name, words, pages);
    write(page, visible(page.text));
    return 0;
  }
  const query = words.join(' ');
  if (query.trim() === '')
    throw new UsageError('The words to search for are missing.', 'For example: cobbler docs search approval');
  const given = typeof options['limit'] === 'string' ? options['limit'] : undefined;
  const limit = optionValue(given, '--limit', parseCount, 'For example: --limit 10') ?? defaultLimit;
  const found = searchDocs(pages, query, limit);
  if (found.length > 0 || options['json'] === true)
    write(found, withProgramName(found.map(matchText).join('\n\n'), io.env));
  if (found.length > 0) return 0;
  io.stderr.write(withProgramName('Nothing was found. To list the pages: cobbler docs\n', io.env));
  return 1;
}

function readPages(): DocsPage[] {
  const names = readdirSync(docsFolder).filter((file) => file.endsWith('.md'));
  return names.sort().map((file) => {
    const text = readFileSync(new URL(file, docsFolder), 'utf8');
    return { name: file.replace(/\.md$/, ''), title: /^# (.+)$/m.exec(text)?.[1] ?? file, text };
  });
}

function pageNamed(given: string, more: readonly string[], pages: readonly DocsPage[]): DocsPage {
  const name = given.replace(/^docs\//, '').replace(/\.md$/, '');
  const page = more.length === 0 ? pages.find((one) => one.name === name) : undefined;
  if (page !== undefined) return page;
  const names = pages.map((one) => one.name);
  throw new UsageError(
    `There is no page ${JSON.stringify([given, ...more].join(' '))}.${didYouMean(name, names)}`,
    `Search the pages: cobbler docs search ${[given, ...more].join(' ')}`,
    'List them: cobbler docs',
  );
}

function matchText({ page, title, heading, passage }: DocsMatch): string {
  const place = heading === title ? title : `${title} > ${heading}`;
  const lines = passage.split('\n').map((line) => `  ${line}`);
  return visible([`${page}: ${place}`, ...lines, `  Whole page: cobbler docs ${page}`].join('\n'));
}
