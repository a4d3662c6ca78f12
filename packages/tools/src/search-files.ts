import type { Runtime, Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { amount, read, record, withMethods } from '@cobbler/agent/input';
import type { Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import type { FileContent, SearchScope } from './search/file-contents.ts';
import { batchesOf, maxFileBytes } from './search/file-contents.ts';
import { LineMatcher } from './search/line-matcher.ts';
import { SearchReport } from './search/search-report.ts';
import { isBinary } from './workspace/file-bytes.ts';
import { fileTool, throwIfStopped } from './workspace/file-tool.ts';

/** Arguments of search_files. */
export interface SearchFilesArgs extends SearchScope {
  /** A JavaScript regular expression, matched against each line. */
  readonly pattern: string;
  readonly ignore_case?: boolean;
  /** True if the pattern is plain text. */
  readonly literal?: boolean;
  /** Number of lines shown before and after each match. */
  readonly context?: number;
  /** Maximum number of matches shown. Default 100. */
  readonly max_matches?: number;
}

/** Limits of search_files. */
export interface SearchOptions {
  /** Time limit for one file, in milliseconds. Default 2,000. */
  readonly fileTimeoutMs?: number;
  /** Time after which a search ends with the results so far, in milliseconds. Default 30,000. */
  readonly searchTimeoutMs?: number;
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer'>;
}

/** The readers of {@link SearchOptions}. */
export const searchReaders: Readers<SearchOptions> = {
  fileTimeoutMs: amount,
  searchTimeoutMs: amount,
  runtime: withMethods('monotonic', 'timer'),
};

const readOptions = record<SearchOptions>(searchReaders);

const defaultMatches = 100;

/**
 * Searches the content of files line by line with a JavaScript regular expression.
 * @throws AgentError `invalid` for an invalid option.
 */
export function searchFiles(workspace: Workspace, options: SearchOptions = {}): Tool {
  const given = read(options, readOptions);
  return fileTool<SearchFilesArgs>(workspace, {
    name: 'search_files',
    description:
      'Searches text files in the workspace for lines that match a JavaScript regular expression. Files that .gitignore ' +
      `excludes, and directories such as node_modules, are omitted. Shows at most ${defaultMatches} matches by default.`,
    parameters: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 2000,
          description: 'The regular expression to match against each line.',
        },
        path: {
          type: 'string',
          description:
            'Directory or file to search, relative to the workspace. Default: the whole workspace.',
        },
        glob: {
          type: 'string',
          maxLength: 1000,
          description: 'Only files that match this glob, such as *.ts or src/**/*.js.',
        },
        ignore_case: { type: 'boolean', description: 'Ignore case. Default false.' },
        literal: { type: 'boolean', description: 'Treat the pattern as plain text. Default false.' },
        context: {
          type: 'integer',
          minimum: 0,
          maximum: 20,
          description: 'Number of lines to show before and after each match. Default 0.',
        },
        max_matches: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          description: `Maximum number of matches to show. Default ${defaultMatches}.`,
        },
        include_ignored: {
          type: 'boolean',
          description: 'Also search the omitted files. Default false.',
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    effect: 'read',
    timeoutMs: 60_000,
    pathOf: ({ path }) => path ?? '.',
    subject: ({ pattern, path }) =>
      path === undefined ? pattern : `${pattern} in ${workspace.subject(path)}`,
    execute: async (args, context) => await search(workspace, args, given, context),
  });
}

async function search(
  workspace: Workspace,
  args: SearchFilesArgs,
  options: SearchOptions,
  { signal }: ToolContext,
): Promise<ToolOutput> {
  const runtime = options.runtime ?? systemRuntime;
  const maxMatches = args.max_matches ?? defaultMatches;
  const found = new SearchReport(maxMatches);
  const deadline = runtime.monotonic() + (options.searchTimeoutMs ?? 30_000);
  const matcher = new LineMatcher(
    { ...expression(args), context: args.context ?? 0 },
    { timeoutMs: options.fileTimeoutMs ?? 2000, maxMatches, runtime, signal },
  );
  try {
    for await (const batch of batchesOf(workspace, args, signal)) {
      await searchBatch(matcher, batch, found);
      throwIfStopped(signal);
      if (runtime.monotonic() > deadline) found.end('the search took too long. Set path or glob.', false);
      if (found.hasEnded) break;
    }
  } finally {
    await matcher.close();
  }
  return found.output(args.pattern, { includesIgnored: args.include_ignored === true, maxFileBytes });
}

async function searchBatch(
  matcher: LineMatcher,
  batch: readonly FileContent[],
  found: SearchReport,
): Promise<void> {
  const texts = batch.filter(({ bytes }) => bytes === undefined || !isBinary(bytes));
  const results = await Promise.all(
    texts.map(async ({ bytes }) => bytes && (await matcher.match(bytes.toString('utf8')))),
  );
  for (const [index, { name, bytes }] of texts.entries()) {
    const matches = results[index];
    if (bytes === undefined) found.skip();
    else if (matches === undefined)
      found.end(
        `the expression takes too much time or memory on ${quotePath(name)}. Avoid nested quantifiers such as (x+)+.`,
        true,
      );
    else found.add(name, matches);
  }
}

/** Converts the arguments to an expression. It also accepts `(?i)` at the beginning, as in other engines. */
function expression(args: SearchFilesArgs): { source: string; flags: string } {
  const isInline = args.literal !== true && args.pattern.startsWith('(?i)');
  const source =
    args.literal === true
      ? args.pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
      : args.pattern.slice(isInline ? '(?i)'.length : 0);
  const flags = isInline || args.ignore_case === true ? 'i' : '';
  try {
    new RegExp(source, flags);
    return { source, flags };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${reason}. Correct the expression, or set "literal" to true to search for plain text.`;
    throw new AgentError({ kind: 'tool', code: 'pattern', message });
  }
}
