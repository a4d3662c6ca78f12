import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Definition, DefinitionList } from '@cobbler/agent/definitions';
import { loadConfig, Workspace } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { Environment } from '../terminal/io.ts';
import { oneOf } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { hookFiles } from './places.ts';

type HookEvent = 'PreToolUse' | 'PostToolUse' | 'UserPromptSubmit' | 'SessionStart' | 'Stop' | 'PreCompact';

const eventOf = oneOf<HookEvent>([
  ...(['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'Stop', 'PreCompact'] as const),
]);

/** A command that runs when something happens in a run. */
export interface HookDefinition extends Definition {
  readonly kind: 'hook';
  readonly event: HookEvent;
  /** Matches the names of the tools. Absent: all. */
  readonly matcher?: RegExp;
  readonly command: string;
  readonly timeoutMs: number;
  /** The root of the project that it belongs to. Absent: it is the user's own. */
  readonly project?: string;
}

type HookList = DefinitionList<HookDefinition>;

const [usualTimeoutS, maxTimeoutS] = [60, 600];
const maxFileBytes = 1_048_576;

/** Reads the hooks of the user's configuration. @throws UsageError if one of them cannot be used. */
export async function ownHooks(env: Environment): Promise<HookList> {
  const { values, path = '' } = await loadConfig({ env });
  const { found, skipped } = readHooks(values.hooks, path);
  const [wrong] = skipped;
  if (wrong === undefined) return { found, skipped };
  throw new UsageError(`${path}: in "hooks", ${wrong.reason}.`, 'Correct or remove this hook.');
}

/** Reads the hooks of a project. A link out of the project is not followed. */
export async function projectHooks(root: string, env: Environment): Promise<HookList> {
  const workspace = new Workspace(root, { env });
  const lists: HookList[] = [];
  for (const name of hookFiles) {
    const path = join(root, name);
    if (!existsSync(path)) continue;
    try {
      const { handle, stat } = await workspace.openFile(name);
      const text = stat.size > maxFileBytes ? '' : await handle.readFile('utf8');
      await handle.close();
      lists.push(readHooks(fields(JSON.parse(text))['hooks'], path, root));
    } catch {
      const reason = 'it cannot be read, is not valid JSON, or is larger than 1 MiB';
      lists.push({ found: [], skipped: [{ path, reason }] });
    }
  }
  return { found: lists.flatMap(({ found }) => found), skipped: lists.flatMap(({ skipped }) => skipped) };
}

/** Reads the value of `hooks`: by event, a list of matchers, each with commands. What is unknown is not used. */
export function readHooks(value: unknown, path: string, project?: string): HookList {
  const found: HookDefinition[] = [];
  const skipped: { path: string; reason: string }[] = [];
  const rows = Object.entries(fields(value)).flatMap(([name, groups]) =>
    listOf(groups).flatMap((group) =>
      listOf(fields(group)['hooks']).map((hook) => [name, fields(group), fields(hook)] as const),
    ),
  );
  for (const [name, { matcher = '' }, { type, command, timeout = usualTimeoutS }] of rows) {
    const event = eventOf(name);
    // The files of other programs have more events than Cobbler.
    if (event === undefined && project !== undefined) continue;
    const pattern = patternOf(matcher);
    const seconds = Number(timeout);
    const isCommand = type === 'command' && typeof command === 'string';
    if (
      event === undefined ||
      pattern === undefined ||
      !isCommand ||
      !(seconds > 0 && seconds <= maxTimeoutS)
    ) {
      const what = event === undefined ? `the event ${name}` : `a type, matcher or timeout of ${name}`;
      skipped.push({ path, reason: `${what} is not supported` });
      continue;
    }
    found.push({
      ...{ kind: 'hook', event, command, path, description: '', timeoutMs: seconds * 1000 },
      name: `${event}${matcher === '' ? '' : ` ${matcher}`}: ${command}`,
      digest: digestOf([event, matcher, command, seconds], command, project),
      ...defined({ matcher: pattern || undefined, project }),
    });
  }
  return { found, skipped };
}

/** Returns the pattern of a matcher, which must match a whole name: `''` for all names, undefined if it is invalid. */
function patternOf(matcher: unknown): RegExp | '' | undefined {
  if (matcher === '' || matcher === '*') return '';
  try {
    return typeof matcher === 'string' ? new RegExp(`^(?:${matcher})$`) : undefined;
  } catch {
    return undefined;
  }
}

/** The digest of a project's hook includes the files of the project that its command names. */
function digestOf(what: readonly unknown[], command: string, project: string | undefined): string {
  const hash = createHash('sha256').update(JSON.stringify(what));
  if (project === undefined) return hash.digest('hex');
  const bare = command.replaceAll(/["']/g, '').replaceAll(/\$\{?(CLAUDE|COBBLER)_PROJECT_DIR\}?/g, '.');
  for (const word of bare.split(/[\s;|&<>()=`]+/)) {
    const path = resolve(project, word);
    try {
      if (relative(project, path).startsWith('..')) continue;
      const bytes = readFileSync(path);
      hash.update(`\n${word} ${bytes.length}\n`).update(bytes);
    } catch {
      // It is not a file.
    }
  }
  return hash.digest('hex');
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
