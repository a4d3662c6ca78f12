import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rules } from '@cobbler/agent';
import { cobblerHome } from '@cobbler/agent/node';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { whyUnreadable } from './attachment.ts';
import type { PermissionMode } from './permission.ts';

/**
 * Permissions in a project's own file. The file comes with the project, from an unknown author: it can deny calls, but
 * what it allows counts only after the user of this machine has accepted it.
 */
export interface ProjectRules {
  /** The file, whether or not it is there. */
  readonly path: string;
  readonly deny: readonly string[];
  /** Allowed by the file and by the person. */
  readonly allow: readonly string[];
  /** Allowed by the file alone: they do not count. */
  readonly strange: readonly string[];
  readonly mode?: PermissionMode;
}

/** From the narrowest to the widest. */
const modes: readonly PermissionMode[] = ['read-only', 'ask', 'edits', 'yes'];

/** The narrower of two modes. */
export function narrower(mode: PermissionMode, other: PermissionMode | undefined): PermissionMode {
  return other !== undefined && modes.indexOf(other) < modes.indexOf(mode) ? other : mode;
}

/**
 * Reads `.cobbler/config.yaml` of a directory. The home directory is not a project: its file belongs to the user.
 * @throws UsageError for an invalid file: its deny rules must not be ignored.
 */
export async function readProjectRules(folder: string, env: Environment): Promise<ProjectRules> {
  const path = join(folder, '.cobbler', 'config.yaml');
  const home = cobblerHome(env);
  const none = { path, deny: [], allow: [], strange: [] };
  if (home !== undefined && join(home, 'config.yaml') === path) return none;
  const text = textOf(path);
  if (text === undefined) return none;
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS();
  const found = value === null ? {} : fields(value)?.['permissions'];
  if (value === undefined || (found !== undefined && fields(found) === undefined)) throw unusable(path);
  const { allow, deny, mode } = fields(found) ?? {};
  const allowed = ruleList(allow, path);
  const trusted = trustedRules(folder, home);
  if (mode !== undefined && !modes.includes(mode as PermissionMode)) throw unusable(path);
  return {
    path,
    deny: ruleList(deny, path),
    allow: allowed.filter((rule) => trusted.includes(rule)),
    strange: allowed.filter((rule) => !trusted.includes(rule)),
    ...(mode !== undefined && { mode: mode as PermissionMode }),
  };
}

/**
 * Writes a rule into the project's file, and notes at home that the person did so. Gives the file.
 * @throws UsageError when either cannot be written.
 */
export async function keepRule(folder: string, rule: string, env: Environment): Promise<string> {
  const path = join(folder, '.cobbler', 'config.yaml');
  if (path === join(cobblerHome(env) ?? '', 'config.yaml')) {
    throw new UsageError(
      'This directory is not a project: its rules would apply everywhere.',
      'Nothing was saved.',
    );
  }
  const { parseDocument } = await import('yaml');
  const document = parseDocument(textOf(path) ?? '');
  const { allow = [] } = fields(fields(document.toJS())?.['permissions']) ?? {};
  const rules = Array.isArray(allow) ? allow.map(String) : [];
  if (!rules.includes(rule)) document.setIn(['permissions', 'allow'], [...rules, rule]);
  trustRules(folder, [rule], env);
  replace(path, document.toString(), 0o644);
  return path;
}

/** Notes at home that rules of a project's file count. */
export function trustRules(folder: string, rules: readonly string[], env: Environment): void {
  const home = cobblerHome(env);
  if (home === undefined)
    throw new UsageError('There is no home directory.', 'Set COBBLER_HOME to a directory.');
  const all = readTrust(home);
  const trusted = [...new Set([...(all[folder] ?? []), ...rules])];
  replace(trustFile(home), `${JSON.stringify({ ...all, [folder]: trusted }, undefined, 2)}\n`, 0o600);
}

function trustFile(home: string): string {
  return join(home, 'trusted-rules.json');
}

function trustedRules(folder: string, home: string | undefined): readonly string[] {
  return home === undefined ? [] : (readTrust(home)[folder] ?? []);
}

/** Without the file, or with a damaged one, no rule is trusted. */
function readTrust(home: string): Record<string, readonly string[]> {
  try {
    const value: unknown = JSON.parse(readFileSync(trustFile(home), 'utf8'));
    const entries = Object.entries(fields(value) ?? {});
    return Object.fromEntries(
      entries.map(([name, list]) => [name, Array.isArray(list) ? list.map(String) : []]),
    );
  } catch {
    return {};
  }
}

function ruleList(value: unknown, path: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw unusable(path);
  const list = value.map(String);
  try {
    rules({ allow: list });
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : ''}`, 'Correct that rule.');
  }
  return list;
}

function fields(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError(`${path} ${whyUnreadable(error)}.`, 'Make it readable: it may contain deny rules.');
  }
}

function replace(path: string, text: string, mode: number): void {
  const fresh = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, text, { mode, flag: 'wx' });
    renameSync(fresh, path);
  } catch (error) {
    throw new UsageError(`${path} ${whyUnreadable(error).replace('read', 'written')}.`, 'Nothing was saved.');
  }
}

function unusable(path: string): UsageError {
  return new UsageError(
    `${path} is invalid: "permissions" has lists "allow" and "deny" of rules, and "mode".`,
    `Modes: ${modes.join(', ')}. A rule: run_command(npm test*)`,
  );
}
