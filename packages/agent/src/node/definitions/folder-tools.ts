import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, parse, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Tool } from '../../interfaces/tool.ts';
import { defineTool } from '../../interfaces/tool.ts';
import { AgentError } from '../../values/errors.ts';
import { isObject } from '../../values/json.ts';
import { oneLine } from './front-matter.ts';

/** A file or directory of an agent that is not used. */
export interface UnusedFile {
  /** Relative to the agent's folder. */
  readonly path: string;
  /** The line of the problem, if it is known. */
  readonly line?: number;
  /** A clause without a final period. */
  readonly reason: string;
  /** True if the agent needs the file: it cannot be loaded until the file is corrected. */
  readonly isBroken: boolean;
}

/** Loads a module by its file URL, like `import`. */
export type ImportModule = (url: string) => Promise<unknown>;

/** Loads the tools of an agent: each module directly in `tools` exports one as its default. Runs their code. */
export async function readFolderTools(
  folder: string,
  load: ImportModule,
): Promise<{ readonly tools: readonly Tool[]; readonly unused: readonly UnusedFile[] }> {
  const tools = new Map<string, Tool>();
  const unused: UnusedFile[] = [];
  const directory = join(folder, 'tools');
  const entries = existsSync(directory) ? await readdir(directory, { withFileTypes: true }) : [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = `tools/${entry.name}`;
    const why = noTool(entry.name, entry.isDirectory());
    if (why !== undefined) {
      unused.push({ path: file, reason: why, isBroken: false });
      continue;
    }
    const path = join(directory, entry.name);
    try {
      const tool = toolOf(await load(pathToFileURL(path).href), parse(entry.name).name);
      if (tools.has(tool.name)) throw new Error(`another file has a tool named ${tool.name}`);
      tools.set(tool.name, tool);
    } catch (error) {
      unused.push(await problemIn(folder, file, error));
    }
  }
  return { tools: [...tools.values()], unused };
}

/** Returns why an entry of `tools` is not a tool; undefined if it is one. */
function noTool(name: string, isDirectory: boolean): string | undefined {
  if (isDirectory) return 'only files directly in tools are tools, but they can import from it';
  if (!/\.m?[jt]s$/.test(name)) return 'tools are .ts, .js, .mts or .mjs files';
  return /\.(d|test|spec)\.m?[jt]s$/.test(name) ? 'tests and declarations are not tools' : undefined;
}

function toolOf(module: unknown, fileName: string): Tool {
  const given = (module as { readonly default?: unknown }).default;
  if (!isObject(given))
    throw new Error('it exports no tool: use export default { description, parameters, execute }');
  const tool = defineTool({ name: fileName, parameters: {}, ...given } as unknown as Tool);
  if (tool.name === 'skill' || tool.name.startsWith('mcp__'))
    throw new Error(`the name ${tool.name} is taken: rename the file`);
  return tool;
}

/** Returns the problem with a module, with the file and line in which it is, which can be those of a module that it imports. */
export async function problemIn(folder: string, file: string, thrown: unknown): Promise<UnusedFile> {
  const { message } = AgentError.from(thrown);
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  // Node names a missing package only in the message, after the path of the module that imports it.
  const [, missing, importer = ''] = /^Cannot find package '([^']+)' imported from (.+)$/.exec(message) ?? [];
  const [, place = importer, at] =
    [...stack.matchAll(/((?:file:\/\/)?\/[^\n?]*?)(?:\?[^\n:]*)?:(\d+)/g)].find(([, path = '']) =>
      isIn(folder, path),
    ) ?? [];
  const path = isIn(folder, place) ? relative(folder, pathOf(place)) : file;
  const reason =
    missing === undefined
      ? (oneLine(message) ?? 'it threw an error').replace(/\.$/, '')
      : `the package ${missing} is not installed. Install it: npm install --prefix ${folder} ${missing}`;
  const lines = (await readFile(join(folder, path), 'utf8').catch(() => '')).split('\n');
  const line = at ?? lines.findIndex((one) => one.includes(missing ?? 'export default')) + 1;
  return { path, reason, isBroken: true, ...(Number(line) > 0 && { line: Number(line) }) };
}

/** Returns the error for a file of an agent. */
export function folderFault(
  folder: string,
  { path, line, reason }: Pick<UnusedFile, 'path' | 'line' | 'reason'>,
  more: string = '',
): AgentError {
  const place = [join(folder, path), line].filter((part) => part !== undefined).join(':');
  return new AgentError({ kind: 'invalid', code: 'agent_folder', message: `${place}: ${reason}.${more}` });
}

function isIn(folder: string, path: string): boolean {
  return path !== '' && pathOf(path).startsWith(join(folder, '/'));
}

function pathOf(path: string): string {
  return URL.canParse(path) && path.startsWith('file:') ? fileURLToPath(path) : path;
}
