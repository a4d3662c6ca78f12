import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';

/** The properties of a call that rules check. */
export interface RuledCall {
  readonly toolName: string;
  readonly subject: string;
  /** Reason why the tool requires the user to review the call. */
  readonly mustAsk?: string;
}

/** Returns the call of an approval request for rules. */
export function ruledCall({ toolName, subject = '', mustAsk }: ApprovalRequestedEvent): RuledCall {
  return { toolName, subject, ...defined({ mustAsk }) };
}

/** Characters that join, substitute or redirect shell commands, so that more than one thing may happen. */
const joining = /[;&|$`<>()\n\r\\]/;

/** Words of destructive commands, which always need approval. */
const destructive =
  /(^|[\s/])(rm|rmdir|unlink|shred|dd|mkfs\S*|truncate|mv|chmod|chown|kill|pkill|killall|sudo|su|doas|shutdown|reboot|eval|exec|curl|wget|ssh|scp|rsync|publish|push|deploy|drop|delete|destroy|reset|clean|checkout|restore|rebase|prune|uninstall)(\s|$)|--force|--hard|\s-[a-z]*f\b/i;

/**
 * Returns the rule that allows exactly this call and no other; undefined if there is none, because the subject is
 * empty or contains `*`, which matches any text.
 */
export function exactRule({ toolName, subject }: RuledCall): string | undefined {
  if (subject === '' || subject.includes('*') || subject !== subject.trim()) return undefined;
  return `${toolName}(${subject})`;
}

/**
 * Returns the rule to offer as "always". Returns undefined for a command that joins others or may be destructive, and
 * for a call that the user must review each time.
 */
export function ruleToOffer(call: RuledCall): string | undefined {
  if (call.mustAsk !== undefined) return undefined;
  const isCommand = call.toolName === 'run_command';
  if (isCommand && (joining.test(call.subject) || destructive.test(call.subject))) return undefined;
  return exactRule(call);
}

/**
 * Returns the next wider rule after that of {@link ruleToOffer}: the same command with any further arguments.
 * Undefined if the call is not a command, or if that rule is not offered either.
 */
export function widerRule(call: RuledCall): string | undefined {
  if (call.toolName !== 'run_command' || ruleToOffer(call) === undefined) return undefined;
  return `${call.toolName}(${call.subject} *)`;
}

/** Returns the options that would have allowed these calls, quoted for a shell, without duplicates. */
export function allowOptions(calls: readonly RuledCall[]): string[] {
  const options = calls.flatMap((call) => {
    const rule = exactRule(call);
    if (rule !== undefined) return [`--allow ${shellQuoted(rule)}`];
    return call.mustAsk === undefined ? ['--yes'] : [];
  });
  return [...new Set(options)];
}

/** Puts a text in single quotes for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
