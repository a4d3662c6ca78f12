import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cobblerHome } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { PermissionMode } from '../permissions/permission.ts';
import { isTooWide, readRule } from '../permissions/permission-rule.ts';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readFailure } from './attachment.ts';

/**
 * Permissions in a project's own file. The file comes with the project, from an unknown author: it can deny calls,
 * but its allow rules apply only after the user of this machine has accepted them.
 */
export interface ProjectRules {
  /** The path of the file, even if it does not exist. */
  readonly path: string;
  readonly deny: readonly string[];
  /** Rules allowed by both the file and the user. */
  readonly allow: readonly string[];
  /** Rules allowed only by the file: they do not apply. */
  readonly strange: readonly string[];
  /** Rules that no longer allow anything: for commands with a `*`, and for MCP tools without a digest. */
  readonly outdated: readonly string[];
  readonly mode?: PermissionMode;
}

/** The modes from the narrowest to the widest. */
const modes: readonly PermissionMode[] = ['read-only', 'plan', 'ask', 'edits', 'sandboxed', 'yes'];

/** A user ends plan mode, so it is not for a file. */
const fileModes: readonly PermissionMode[] = modes.filter((mode) => mode !== 'plan');

/** Returns the narrower of two modes. */
export function stricterMode(mode: PermissionMode, other: PermissionMode | undefined): PermissionMode {
  return other !== undefined && modes.indexOf(other) < modes.indexOf(mode) ? other : mode;
}

/**
 * Reads `.cobbler/config.yaml` of a directory. The home directory is not a project: its file belongs to the user.
 * @throws UsageError for an invalid file, because its deny rules must not be ignored.
 */
export async function readProjectRules(folder: string, env: Environment): Promise<ProjectRules> {
  const { path, values } = await readProjectFile(folder, env);
  const found = values?.['permissions'];
  if (values === undefined || (found !== undefined && fields(found) === undefined))
    throw invalidRulesFile(path);
  const { allow, deny, mode } = fields(found) ?? {};
  const allowed = ruleList(allow, path);
  const current = allowed.filter((rule) => !isOutdated(rule));
  const trusted = acceptedRules(folder, env);
  if (mode !== undefined && !fileModes.includes(mode as PermissionMode)) throw invalidRulesFile(path);
  return {
    path,
    deny: ruleList(deny, path),
    allow: current.filter((rule) => trusted.includes(rule)),
    strange: current.filter((rule) => !trusted.includes(rule)),
    outdated: allowed.filter(isOutdated),
    ...defined({ mode: mode as PermissionMode | undefined }),
  };
}

/** The settings in a project's own file; empty if it does not exist, undefined if it is not valid. */
interface ProjectFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>> | undefined;
}

/** Reads `.cobbler/config.yaml` of a directory, except that of the home directory. */
export async function readProjectFile(folder: string, env: Environment): Promise<ProjectFile> {
  const path = join(folder, '.cobbler', 'config.yaml');
  const text = path === join(cobblerHome(env) ?? '', 'config.yaml') ? undefined : textOf(path);
  if (text === undefined) return { path, values: {} };
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  try {
    const value: unknown = document.errors.length > 0 ? undefined : (document.toJS() ?? {});
    return { path, values: fields(value) };
  } catch {
    // Aliases can multiply: the parser refuses a file that would become too large.
    return { path, values: undefined };
  }
}

function isOutdated(text: string): boolean {
  const rule = readRule(text, 'allow');
  return isTooWide(rule) || (rule.tool.startsWith('mcp__') && rule.digest === undefined);
}

/**
 * Adds a rule to the project's file and records in the home directory that the user accepted it. Returns the path of
 * the file.
 * @throws UsageError if either file cannot be written.
 */
export async function keepRule(folder: string, rule: string, env: Environment): Promise<string> {
  const path = join(folder, '.cobbler', 'config.yaml');
  if (path === join(cobblerHome(env) ?? '', 'config.yaml')) {
    throw new UsageError(
      'This directory contains the configuration of Cobbler itself, so rules saved here would apply everywhere.',
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

/**
 * Removes an allow rule from the project's file, and from the rules that the user accepted. Returns false if neither
 * contains it.
 * @throws UsageError if either file cannot be written.
 */
export async function removeRule(folder: string, rule: string, env: Environment): Promise<boolean> {
  const path = join(folder, '.cobbler', 'config.yaml');
  const { parseDocument } = await import('yaml');
  const document = parseDocument(textOf(path) ?? '');
  const { allow } = fields(fields(document.toJS())?.['permissions']) ?? {};
  const listed = Array.isArray(allow) ? allow.map(String) : [];
  const home = cobblerHome(env);
  const trusted = acceptedRules(folder, env);
  const left = listed.filter((one) => one !== rule);
  if (left.length < listed.length) {
    document.setIn(['permissions', 'allow'], left);
    replace(path, document.toString(), 0o644);
  }
  if (home !== undefined && trusted.includes(rule))
    writeTrust(
      home,
      folder,
      trusted.filter((one) => one !== rule),
    );
  return left.length < listed.length || trusted.includes(rule);
}

/** Records in the home directory that the user accepts these rules of a project's file. */
export function trustRules(folder: string, rules: readonly string[], env: Environment): void {
  const home = cobblerHome(env);
  if (home === undefined) throw UsageError.noHome('The accepted rules');
  writeTrust(home, folder, [...new Set([...acceptedRules(folder, env), ...rules])]);
}

function writeTrust(home: string, folder: string, trusted: readonly string[]): void {
  const all = { ...readTrust(home), [folder]: trusted };
  replace(trustFile(home), `${JSON.stringify(all, undefined, 2)}\n`, 0o600);
}

function trustFile(home: string): string {
  return join(home, 'trusted-rules.json');
}

/** Returns what {@link trustRules} recorded for a directory. */
export function acceptedRules(folder: string, env: Environment): readonly string[] {
  const home = cobblerHome(env);
  return home === undefined ? [] : (readTrust(home)[folder] ?? []);
}

/** Reads the accepted rules. If the file is missing or damaged, no rule is accepted. */
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
  if (!Array.isArray(value)) throw invalidRulesFile(path);
  const list = value.map(String);
  try {
    for (const rule of list) readRule(rule, 'allow');
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
    throw new UsageError(
      `${path} ${readFailure(error)}.`,
      'Make the file readable: it may contain deny rules.',
    );
  }
}

function replace(path: string, text: string, mode: number): void {
  const fresh = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, text, { mode, flag: 'wx' });
    renameSync(fresh, path);
  } catch (error) {
    throw new UsageError(`${path} ${readFailure(error).replace('read', 'written')}.`, 'Nothing was saved.');
  }
}

function invalidRulesFile(path: string): UsageError {
  return new UsageError(
    `${path} is invalid: "permissions" can contain "allow" and "deny" (lists of rules) and "mode".`,
    `Modes: ${fileModes.join(', ')}. A rule: run_command(npm test)`,
  );
}
