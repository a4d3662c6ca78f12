import type { GateCall } from '@cobbler/agent';
import { rules } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { isRegistryLine } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { CommandLine } from '@cobbler/tools';
import { readCommandLine } from '@cobbler/tools';
import type { CommandRule } from './command-rule.ts';
import { allowsStep, areFlags, printCommandRule, readCommandRule } from './command-rule.ts';
import { baseName, isWrapper, placedSteps } from './placed-steps.ts';
import { hostMatcher, hostRule, isOpenHost, webTool } from './web-rule.ts';

/** The properties of a call that rules check. */
export type RuledCall = Pick<GateCall, 'toolName' | 'subject' | 'arguments' | 'mustAsk'>;

/** Returns the call of an approval request for rules. */
export function ruledCall({ subject = '', mustAsk, ...call }: ApprovalRequestedEvent): RuledCall {
  return { toolName: call.toolName, arguments: call.arguments, subject, ...defined({ mustAsk }) };
}

/** A rule: `tool`, or `tool(pattern)`, and for a tool of an MCP server the digest of that tool. */
export interface PermissionRule {
  readonly text: string;
  readonly tool: string;
  readonly pattern?: string;
  /** Set if the pattern names one program with its arguments. */
  readonly command?: CommandRule;
  readonly digest?: string;
  /** The rights beyond the sandbox that it gives to exactly this command, such as `network`. */
  readonly needs?: string;
  /** Returns whether the pattern matches as text; for a web page, whether it names the host. */
  matches(call: RuledCall): boolean;
}

/** Tools that change files: those of Cobbler, Claude Code and Codex. */
export const editTools: ReadonlySet<string> = new Set([
  ...['write_file', 'edit_file', 'Edit', 'MultiEdit', 'NotebookEdit', 'Write', 'file_change'],
]);

/** Tools that run command lines: those of Cobbler, Claude Code and Codex. */
const commandTools: ReadonlySet<string> = new Set(['run_command', 'Bash', 'command_execution']);

/** Returns the digest of the current definition of a tool; undefined if its rules need none. */
export type DigestOf = (toolName: string) => string | undefined;

/** Reads an allow or a deny rule. @throws AgentError `invalid` for a rule that does not have the form tool(pattern). */
export function readRule(text: string, effect: 'allow' | 'deny'): PermissionRule {
  const [, bare = text, digest] = /^(.*\)) @(\w+)$/s.exec(text.trim()) ?? [];
  const judge = rules({ [effect]: [bare] });
  const [, tool = bare, pattern] = /^([^(]*)\((.*)\)$/s.exec(bare.trim()) ?? [];
  const [, needs] =
    (commandTools.has(tool) && / \[needs (network|registry|all)\]$/.exec(pattern ?? '')) || [];
  const isLine = pattern !== undefined && needs === undefined;
  const isHost = pattern !== undefined && tool === webTool ? hostMatcher(pattern, effect) : undefined;
  return {
    text,
    tool,
    matches: ({ toolName, subject }) =>
      (toolName === webTool && isHost?.(subject)) ||
      judge({ toolName, subject, id: '', effect: 'once', arguments: {} }).type === effect,
    ...defined({ pattern, digest, needs, command: isLine ? readCommandRule(pattern) : undefined }),
  };
}

/** Returns the rules that together allow a call; undefined if no rules do. */
export function allowingRules(
  list: readonly PermissionRule[],
  call: RuledCall,
  digestOf: DigestOf,
): readonly PermissionRule[] | undefined {
  if (!commandTools.has(call.toolName)) {
    const digest = digestOf(call.toolName);
    const found = list.find((rule) => rule.matches(call) && (rule.digest ?? digest) === digest);
    return found === undefined ? undefined : [found];
  }
  const own = list.filter((rule) => rule.tool === call.toolName && rule.needs === undefined);
  const line = readCommandLine(call.subject);
  const steps = line === undefined ? undefined : placedSteps(line, directoryOf(call));
  const each = steps?.map((step) =>
    own.find(({ command }) => command !== undefined && allowsStep(command, step)),
  );
  if (each?.every((rule) => rule !== undefined) === true) return [...new Set(each)];
  // A line with more than one program, or one that is not understood, is allowed as exactly this text.
  const isLiteral = directoryOf(call) === '.' && !call.subject.includes('*');
  const exact = own.find((rule) => isLiteral && rule.command === undefined && rule.pattern === call.subject);
  return exact === undefined ? undefined : [exact];
}

/**
 * Returns the rule that gives exactly this command the rights beyond the sandbox that it needs, or this package manager
 * the login to its registry.
 */
export function grantOf(list: readonly PermissionRule[], call: RuledCall): PermissionRule | undefined {
  const { needs } = call.arguments;
  if (needs === undefined) return undefined;
  const subjects = [registrySubject(call), ...(directoryOf(call) === '.' ? [call.subject] : [])];
  return list.find(
    (rule) => rule.tool === call.toolName && rule.needs === needs && subjects.includes(rule.pattern),
  );
}

/** Returns the pattern for all commands of one package manager that need the login to a registry. */
function registrySubject(call: RuledCall): string | undefined {
  const { command, needs } = call.arguments;
  if (needs !== 'registry' || typeof command !== 'string' || !isRegistryLine(command)) return undefined;
  const called = new Set(lineOf(call)?.steps.map(({ argv: [program = ''] }) => program));
  called.delete('cd');
  const [program, ...others] = called;
  return program === undefined || others.length > 0 ? undefined : `${program} [needs registry]`;
}

/**
 * Returns whether an allow rule has no effect, because it contains a `*` or no command, or for web pages a `*` that also
 * matches other hosts.
 */
export function isTooWide({ tool, pattern, command }: PermissionRule): boolean {
  if (tool === webTool) return pattern !== undefined && isOpenHost(pattern);
  const isForCommands = commandTools.has(tool) || (tool.includes('*') && pattern !== undefined);
  return isForCommands && command === undefined && (pattern === undefined || pattern.includes('*'));
}

/**
 * Returns whether a deny rule hits a call: its pattern matches the text, or it names a program that the line contains,
 * whatever the spelling. Words after the program must occur in the arguments in this order.
 */
export function denies(rule: PermissionRule, call: RuledCall): boolean {
  if (rule.matches(call)) return true;
  const line = lineOf(call);
  if (line === undefined || rule.pattern === undefined) return false;
  const texts = line.steps.map(({ argv }) => argv.join(' '));
  if ([...texts, texts.join(' ')].some((subject) => rule.matches({ ...call, subject }))) return true;
  if (!isLike(call.toolName, rule.tool)) return false;
  const [program = '', ...words] = rule.pattern.split(/\s+/).filter((word) => word !== '' && word !== '*');
  return line.steps.some(({ argv: [name = '', ...given] }) => {
    if (!isLike(baseName(name), baseName(program))) return false;
    let found = 0;
    for (const word of given) if (isLike(word, words[found] ?? '')) found += 1;
    return found >= words.length;
  });
}

/**
 * Returns why deny rules cannot decide on a command: its line is not understood, or one of its programs can start any
 * other. Undefined without a deny rule for commands.
 */
export function unclearFor(list: readonly PermissionRule[], call: RuledCall): string | undefined {
  const applies = ({ tool, pattern }: PermissionRule) =>
    pattern !== undefined && isLike(call.toolName, tool) && commandTools.has(call.toolName);
  if (!list.some(applies)) return undefined;
  const line = lineOf(call);
  if (line === undefined)
    return 'A deny rule exists, and this command line cannot be parsed, so it may run what the rule forbids.';
  const wrapper = line.steps.flatMap(({ argv: [program = ''] }) => (isWrapper(program) ? [program] : []))[0];
  if (wrapper === undefined) return undefined;
  return `A deny rule exists, and ${wrapper} can start any program, including one that a deny rule forbids.`;
}

/** Returns whether a text matches a pattern in which `*` stands for any characters, ignoring case. */
function isLike(text: string, pattern: string): boolean {
  const folded = (given: string) => given.toUpperCase().toLowerCase();
  const judge = rules({ deny: [`x(${folded(pattern)})`] });
  return (
    judge({ toolName: 'x', subject: folded(text), id: '', effect: 'once', arguments: {} }).type === 'deny'
  );
}

function lineOf({ toolName, subject, arguments: { needs } }: RuledCall): CommandLine | undefined {
  if (!commandTools.has(toolName)) return undefined;
  const suffix = typeof needs === 'string' ? ` [needs ${needs}]` : '';
  return readCommandLine(
    subject.endsWith(suffix) ? subject.slice(0, subject.length - suffix.length) : subject,
  );
}

/** Returns the directory in which a command starts, as its arguments name it. */
function directoryOf({ arguments: { directory, cwd } }: RuledCall): string {
  const given = directory ?? cwd;
  return typeof given === 'string' && given !== '' ? given : '.';
}

/**
 * Returns the rule that allows exactly this call and no other, or the host of a web page; undefined if there is none, because the subject is
 * empty, or contains `*` where that would match any text, or because the user must review the call each time.
 */
export function exactRule(call: RuledCall, digestOf: DigestOf): string | undefined {
  const { toolName, subject, mustAsk } = call;
  if (subject.trim() === '' || mustAsk !== undefined) return undefined;
  if (toolName === webTool) return hostRule(subject);
  if (commandTools.has(toolName)) {
    const line = lineOf(call);
    const [step, ...more] = (line === undefined ? undefined : placedSteps(line, directoryOf(call))) ?? [];
    const [program = '', ...words] = step?.argv ?? [];
    if (step !== undefined && more.length === 0)
      return `${toolName}(${printCommandRule({ program, words, flags: [], directory: step.directory })})`;
    if (directoryOf(call) !== '.') return undefined;
  }
  if (subject.includes('*') || subject !== subject.trim()) return undefined;
  const digest = digestOf(toolName);
  return `${toolName}(${subject})${digest === undefined ? '' : ` @${digest}`}`;
}

/**
 * Returns the rules to offer as "always", the narrowest first. Empty for a command that joins others or may be
 * destructive, and for a call that the user must review each time.
 */
export function rulesToOffer(call: RuledCall, digestOf: DigestOf): string[] {
  const login = commandTools.has(call.toolName) ? registrySubject(call) : undefined;
  if (login !== undefined) return [`${call.toolName}(${login})`];
  if (call.mustAsk !== undefined) return [];
  if (commandTools.has(call.toolName))
    return commandOffers(call.subject, directoryOf(call)).map((pattern) => `${call.toolName}(${pattern})`);
  return [exactRule(call, digestOf)].filter((rule) => rule !== undefined);
}

/** Returns the options that would have allowed these calls, quoted for a shell, without duplicates. */
export function allowOptions(calls: readonly RuledCall[], digestOf: DigestOf): string[] {
  const options = calls.flatMap((call) => {
    if (call.arguments['needs'] !== undefined && commandTools.has(call.toolName))
      return [`--allow ${shellQuoted(`${call.toolName}(${call.subject})`)}`];
    if (call.mustAsk !== undefined)
      return editTools.has(call.toolName) ? [`--allow-guarded ${shellQuoted(call.subject)}`] : [];
    const rule = exactRule(call, digestOf);
    return rule === undefined ? ['--yes'] : [`--allow ${shellQuoted(rule)}`];
  });
  return [...new Set(options)];
}

/** Puts a text in single quotes for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Rules that are offered too. Their flags write no file, start no program, read only the project and connect to nothing. */
const reviewed: readonly CommandRule[] = [
  'git status [--short -s --branch -b --porcelain]',
  'git log [--oneline --stat --graph --no-color -n= --max-count=]',
  'git diff [--stat --name-only --name-status --cached --staged --no-color]',
  'git show [--stat --oneline --name-only --no-color]',
  'git branch [--all -a --list --show-current -v]',
  'ls [-1 -a -l -la -al -lh]',
  'tsc --noEmit [--pretty]',
].flatMap((text) => readCommandRule(text) ?? []);

/** Words of programs that destroy, publish or connect, which are asked about each time. */
const destructive =
  /(^|[\s/])(rm|rmdir|unlink|shred|dd|mkfs\S*|truncate|mv|chmod|chown|kill|pkill|killall|sudo|su|doas|shutdown|reboot|eval|exec|curl|wget|ssh|scp|rsync|publish|push|deploy|drop|delete|destroy|reset|clean|checkout|restore|rebase|prune|uninstall)(\s|$)|--force|--hard|\s-[a-z]*f\b/i;

/**
 * Returns the patterns to offer as "always" for a command, the narrowest first: this program with exactly these
 * arguments in this directory, and a reviewed rule that covers it. Empty for a line that is not understood, has several
 * programs or may be destructive.
 */
function commandOffers(command: string, directory: string): string[] {
  const line = readCommandLine(command);
  const [step, ...others] = (line === undefined ? undefined : placedSteps(line, directory)) ?? [];
  if (step === undefined || others.length > 0 || destructive.test(step.argv.join(' '))) return [];
  const [program = '', ...words] = step.argv;
  const exact: CommandRule = { program, words, flags: [], directory: step.directory };
  const wider = reviewed.find(
    (rule) =>
      rule.program === program &&
      rule.words.every((one, index) => words[index] === one) &&
      areFlags(words.slice(rule.words.length), rule.flags),
  );
  const rules = [exact, ...(wider === undefined ? [] : [{ ...wider, directory: step.directory }])];
  return rules.map(printCommandRule);
}
