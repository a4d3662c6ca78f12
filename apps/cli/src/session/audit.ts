import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Tool } from '@cobbler/agent';
import type { AuditLog } from '@cobbler/agent/audit';
import type { FileConfig } from '@cobbler/agent/node';
import { visible } from '../terminal/escape.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { ownVersion } from '../terminal/version.ts';
import { homeToKeep } from './session-home.ts';

/** Returns the directory of the audit log; undefined if there is no home directory. */
export function auditFolder(env: Environment): string | undefined {
  const home = homeToKeep(env);
  return home && join(home, 'audit');
}

/** An audit log that records nothing. */
export const noAudit: AuditLog = { note: () => undefined, watch: (store) => store, close: () => undefined };

/**
 * Opens the audit log for a command, unless the user's configuration turns it off.
 * @param report receives one line if records cannot be written. Default: standard error.
 */
export async function openAudit(
  surface: string,
  { audit: setting }: Pick<FileConfig, 'audit'>,
  { env, stderr }: Pick<Io, 'env' | 'stderr'>,
  report = (line: string): void => stderr.write(`cobbler: ${visible(line)}\n`),
): Promise<AuditLog> {
  const folder = auditFolder(env);
  if (folder === undefined || setting === 'off') return noAudit;
  const { openAuditLog } = await import('./open-audit-log.ts');
  const onTrouble = (reason: string) =>
    report(`The audit log is incomplete, because it cannot be written: ${reason} (${folder})`);
  return openAuditLog({ folder, surface, version: ownVersion(), onTrouble });
}

/** Returns a function that returns true for the name of a tool with the effect `read`. */
export function readsOnly(tools: () => readonly Tool[]): (toolName: string) => boolean {
  return (toolName) => tools().find(({ name }) => name === toolName)?.effect === 'read';
}

/** Records a change of the permission rules: the tool, and the digest of the rule. */
export function noteRule(audit: AuditLog, change: 'added' | 'removed', rule: string): void {
  const [tool = ''] = rule.split('(');
  audit.note({ kind: 'rule', change, tool, hash: hash('sha256', rule) });
}
