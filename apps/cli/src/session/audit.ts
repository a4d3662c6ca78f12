import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Event, Store, Tool } from '@cobbler/agent';
import type { AuditFact, AuditLog } from '@cobbler/agent/audit';
import type { FileConfig } from '@cobbler/agent/node';
import type { Writer } from '@cobbler/agent/store';
import { visible } from '../terminal/escape.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { ownVersion } from '../terminal/version.ts';
import { homeToKeep } from './session-home.ts';
import { withMethod } from './with-method.ts';

/** The audit log of a command. */
export interface Audit {
  note(fact: AuditFact): void;
  /**
   * Returns the store, and records what happens in its sessions once the store has accepted it.
   * @param isRead true for the name of a tool with the effect `read`.
   */
  watch<Watched extends Pick<Store, 'append'>>(
    store: Watched,
    isRead: (toolName: string) => boolean,
  ): Watched;
  /** Writes everything that is left. */
  close(): Promise<void>;
}

/** An audit log that records nothing. */
export const noAudit: Audit = {
  note: () => undefined,
  watch: (store) => store,
  close: async () => undefined,
};

/** Returns the directory of the audit log; undefined if there is no home directory. */
export function auditFolder(env: Environment): string | undefined {
  const home = homeToKeep(env);
  return home && join(home, 'audit');
}

/**
 * Opens the audit log for a command, unless the user's configuration turns it off.
 * @param report receives one line if records cannot be written. Default: standard error.
 */
export function openAudit(
  surface: string,
  { audit: setting }: Pick<FileConfig, 'audit'>,
  { env, stderr }: Pick<Io, 'env' | 'stderr'>,
  report = (line: string): void => stderr.write(`cobbler: ${visible(line)}\n`),
): Audit {
  const folder = auditFolder(env);
  if (folder === undefined || setting === 'off') return noAudit;
  const startedAt = Date.now();
  const onTrouble = (reason: string) =>
    report(`The audit log is incomplete, because it cannot be written: ${reason} (${folder})`);
  return new CommandAudit(async () => {
    const { openAuditLog } = await import('./open-audit-log.ts');
    return openAuditLog({ folder, surface, version: ownVersion(), onTrouble, startedAt });
  });
}

/** The events that can be recorded. */
const audited: ReadonlySet<Event['type']> = new Set([
  ...(['approval_requested', 'approval_decided', 'tool_started', 'tool_result'] as const),
]);

/** Loads the log with the first effect, because many runs have none. Everything is recorded in order. */
class CommandAudit implements Audit {
  readonly #open: () => Promise<AuditLog>;
  readonly #early: AuditFact[] = [];
  readonly #inForce = new Set<string>();
  #log: Promise<AuditLog> | undefined;

  constructor(open: () => Promise<AuditLog>) {
    this.#open = open;
  }

  note(fact: AuditFact): void {
    const isInForce = fact.kind === 'rule' && fact.change === 'in_force';
    if (isInForce) {
      const rule = `${fact.verdict} ${fact.hash}`;
      if (this.#inForce.has(rule)) return;
      this.#inForce.add(rule);
    }
    if (this.#log === undefined && (isInForce || fact.kind === 'sandbox')) this.#early.push(fact);
    else this.#with((log) => log.note(fact));
  }

  watch<Watched extends Pick<Store, 'append'>>(
    store: Watched,
    isRead: (toolName: string) => boolean,
  ): Watched {
    const record = (sessionId: string, events: readonly Event[]) => {
      if (events.some(({ type }) => audited.has(type)))
        this.#with((log) => log.record(sessionId, events, isRead));
    };
    const append: Watched['append'] = (sessionId: string, events: readonly Event[], writer: Writer) => {
      const pending = store.append(sessionId, events, writer);
      if (pending !== undefined) return pending.then(() => record(sessionId, events));
      record(sessionId, events);
      return undefined;
    };
    return withMethod(store, 'append', append);
  }

  async close(): Promise<void> {
    (await this.#log)?.close();
  }

  #with(act: (log: AuditLog) => void): void {
    this.#log ??= this.#open().then((log) => {
      log.note(...this.#early);
      return log;
    });
    this.#log = this.#log.then((log) => {
      act(log);
      return log;
    });
  }
}

/** Returns a function that returns true for the name of a tool with the effect `read`. */
export function readsOnly(tools: () => readonly Tool[]): (toolName: string) => boolean {
  return (toolName) => tools().find(({ name }) => name === toolName)?.effect === 'read';
}

/** Records a change of the permission rules: the tool, and the digest of the rule. */
export function noteRule(audit: Audit, change: 'added' | 'removed', rule: string): void {
  audit.note({ kind: 'rule', change, ...named(rule) });
}

interface Ruled {
  readonly rules: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  onAllow: (rule: string) => void;
}

/** Records the rules of a permission, each once in this process, and those that are added later. */
export function watchRules(audit: Audit, permission: Ruled): void {
  const { rules } = permission;
  for (const verdict of ['allow', 'deny'] as const)
    for (const rule of rules[verdict])
      audit.note({ kind: 'rule', change: 'in_force', verdict, ...named(rule) });
  permission.onAllow = (rule) => noteRule(audit, 'added', rule);
}

function named(rule: string): { tool: string; hash: string } {
  const [tool = ''] = rule.split('(');
  return { tool, hash: hash('sha256', rule) };
}
