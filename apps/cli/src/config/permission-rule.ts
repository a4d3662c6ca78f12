import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';

/** A call as rules see it. */
export interface RuledCall {
  readonly toolName: string;
  readonly subject: string;
  /** Why the tool wants a person to look at the call. */
  readonly mustAsk?: string;
}

/** The call of a question, as rules see it. */
export function ruledCall({ toolName, subject = '', mustAsk }: ApprovalRequestedEvent): RuledCall {
  return { toolName, subject, ...defined({ mustAsk }) };
}

/** Characters that join, substitute or redirect shell commands: more than one thing may happen. */
const joining = /[;&|$`<>()\n\r\\]/;

/** Words of destructive commands: these are asked about each time. */
const destructive =
  /(^|[\s/])(rm|rmdir|unlink|shred|dd|mkfs\S*|truncate|mv|chmod|chown|kill|pkill|killall|sudo|su|doas|shutdown|reboot|eval|exec|curl|wget|ssh|scp|rsync|publish|push|deploy|drop|delete|destroy|reset|clean|checkout|restore|rebase|prune|uninstall)(\s|$)|--force|--hard|\s-[a-z]*f\b/i;

/**
 * The rule that allows exactly this call and no other; nothing when there is none, because the subject is
 * empty or holds the `*` that stands for any text.
 */
export function exactRule({ toolName, subject }: RuledCall): string | undefined {
  if (subject === '' || subject.includes('*') || subject !== subject.trim()) return undefined;
  return `${toolName}(${subject})`;
}

/**
 * The rule to offer as "always": never one for a command that joins others or may destroy something, nor for a call
 * that a person has to look at each time.
 */
export function ruleToOffer(call: RuledCall): string | undefined {
  if (call.mustAsk !== undefined) return undefined;
  const isCommand = call.toolName === 'run_command';
  if (isCommand && (joining.test(call.subject) || destructive.test(call.subject))) return undefined;
  return exactRule(call);
}

/**
 * The next wider rule after the one of {@link ruleToOffer}: the same command with further arguments. Undefined if the
 * call is not a command, or if that rule is not offered either.
 */
export function widerRule(call: RuledCall): string | undefined {
  if (call.toolName !== 'run_command' || ruleToOffer(call) === undefined) return undefined;
  return `${call.toolName}(${call.subject} *)`;
}

/** The options that would have allowed these calls, as they are typed in a shell; without doubles. */
export function allowOptions(calls: readonly RuledCall[]): string[] {
  const options = calls.flatMap((call) => {
    const rule = exactRule(call);
    if (rule !== undefined) return [`--allow ${shellQuoted(rule)}`];
    return call.mustAsk === undefined ? ['--yes'] : [];
  });
  return [...new Set(options)];
}

/** A text in single quotes, as every POSIX shell reads it. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
