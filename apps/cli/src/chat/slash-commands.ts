import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Event } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import { readFailure } from '../config/attachment.ts';
import { readProjectRules, trustRules } from '../config/project-rules.ts';
import { efforts, readEffort } from '../config/run-flags.ts';
import type { PermissionMode } from '../permissions/permission.ts';
import { permissionWords } from '../permissions/permission.ts';
import { shortId } from '../session/find-session.ts';
import { ageOf, sessionTable } from '../session/session-lines.ts';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import { oneOf, optionValue } from '../terminal/option-value.ts';
import { styleFor, themes } from '../terminal/style.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { wrap } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { diffLines, diffSize } from '../view/diff-lines.ts';
import { pastLines } from '../view/history-lines.ts';
import { ToolCallList } from '../view/tool-calls.ts';
import { background } from './background-command.ts';
import { contextLines, costLines } from './figures-view.ts';
import type { ChatHost, LocalParts, ModelChange } from './host.ts';
import { localParts } from './host.ts';
import type { MenuItem } from './input/menu.ts';
import { plan, todo } from './planning-commands.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

/** Every command, in the order of the list. */
export const slashCommands: readonly SlashCommand[] = [
  { name: 'help', text: 'list commands and keys', run: help },
  { name: 'model', operand: '[name]', text: 'switch to another model', needsRest: true, run: model },
  {
    name: 'effort',
    operand: '[level]',
    text: 'set how much the model reasons',
    needsRest: true,
    run: effort,
  },
  { name: 'thinking', text: "show the model's thinking since the last prompt", run: thinking },
  { name: 'tools', text: 'list the tools that the model can use', run: tools },
  {
    name: 'permissions',
    operand: '[mode]',
    text: 'show or change which calls are allowed, are denied or need approval',
    run: permissions,
  },
  { name: 'plan', operand: '[off]', text: 'change nothing until you approve a plan', run: plan },
  {
    name: 'todo',
    operand: '[add|done|drop …]',
    text: "show or change the model's to-do list",
    run: todo,
  },
  {
    name: 'background',
    operand: '[id|stop id]',
    text: 'list, show or stop the commands that run in the background',
    run: background,
  },
  { name: 'cost', aliases: ['usage'], text: "show this session's cost and tokens", run: cost },
  { name: 'context', text: 'show how full the context window is', run: context },
  {
    name: 'compact',
    operand: '[what to keep]',
    text: 'replace older messages with a summary',
    needsRest: true,
    run: compact,
  },
  { name: 'diff', text: 'show the changes made in this session', run: diff },
  {
    name: 'undo',
    text: 'undo the last prompt and its edits',
    needsRest: true,
    run: async (commandContext) => (await import('./rewind.ts')).undo(commandContext),
  },
  {
    name: 'rewind',
    text: 'go back to an earlier prompt: its conversation, files or both',
    needsRest: true,
    run: async (commandContext) => (await import('./rewind.ts')).rewind(commandContext),
  },
  {
    name: 'redo',
    text: 'take back the last undo or rewind',
    needsRest: true,
    run: async (commandContext) => (await import('./rewind.ts')).redo(commandContext),
  },
  {
    name: 'fork',
    operand: '[event]',
    text: 'continue in a copy of this session',
    needsRest: true,
    run: fork,
  },
  { name: 'sessions', text: 'list the sessions', run: sessions },
  { name: 'resume', operand: '[id]', text: 'continue another session', needsRest: true, run: resume },
  {
    name: 'save',
    aliases: ['export'],
    operand: '[file]',
    text: 'save this session as Markdown, or as JSON Lines (.jsonl)',
    run: save,
  },
  { name: 'copy', text: 'copy the last response to the clipboard', run: copy },
  { name: 'theme', operand: '[name]', text: 'change the colors', run: theme },
  {
    name: 'clear',
    aliases: ['new'],
    text: 'start a new session',
    needsRest: true,
    run: (commandContext) => commandContext.open(undefined),
  },
  {
    name: 'exit',
    aliases: ['quit'],
    text: 'exit; the session is saved',
    run: (commandContext) => commandContext.leave(),
  },
];

/** Returns the built-in commands, then those that are prompts and have another name. */
function allCommands(prompts: readonly CommandDefinition[] = []): readonly SlashCommand[] {
  const all = new Map(slashCommands.map((command) => [command.name, command]));
  for (const command of prompts) {
    const name = command.name.toLowerCase();
    if (!all.has(name)) all.set(name, promptCommand(command));
  }
  return [...all.values()];
}

function promptCommand(command: CommandDefinition): SlashCommand {
  return {
    name: command.name,
    text: visible(command.description),
    run: async ({ send }, operand) => {
      const { expandCommand } = await import('@cobbler/agent/definitions');
      send(expandCommand(command, operand), operand);
    },
    ...(command.argumentHint !== undefined && { operand: visible(command.argumentHint) }),
  };
}

/** Returns the commands with this prefix as menu items. */
export function commandItems(prefix: string, prompts: readonly CommandDefinition[] = []): MenuItem[] {
  return allCommands(prompts)
    .filter((command) => namesOf(command).some((name) => name.startsWith(prefix.toLowerCase())))
    .map(({ name, operand, text }) => ({
      name: `/${name}`,
      text: operand === undefined ? text : `${text} ${operand}`,
    }));
}

function namesOf({ name, aliases = [] }: SlashCommand): string[] {
  return [name, ...aliases];
}

/**
 * Runs a line that begins with a slash.
 * @throws UsageError for an unknown command, or one that cannot be used during a run.
 */
export async function runCommand(line: string, commandContext: CommandContext): Promise<void> {
  const [, name = '', operand = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const commands = allCommands(commandContext.host.local?.commands);
  const command = commands.find((one) => namesOf(one).includes(name.toLowerCase()));
  if (command === undefined) {
    const names = commands.flatMap(namesOf).map((one) => `/${one}`);
    throw new UsageError(`There is no command /${name}.${didYouMean(`/${name}`, names)}`, 'See: /help');
  }
  if (command.needsRest && commandContext.conversation.isRunning) {
    throw new UsageError(`/${command.name} cannot be used during a run.`, 'Ctrl-C stops it.');
  }
  await command.run(commandContext, operand.trim());
}

const keys = [
  ['Enter', 'send, or steer the run'],
  ['Alt-Enter, Ctrl-J, \\ Enter', 'start a new line'],
  ['@path', 'attach a file; Tab completes'],
  ['!line', 'run a shell command; your next prompt will include its output'],
  ['Up, Ctrl-R', 'show previous input; during a run, Up first returns a queued message'],
  ['Tab', 'complete; while a call waits, set your draft aside to respond'],
  ['Ctrl-C', 'stop the run or clear the line; press twice to exit'],
  ['Ctrl-O', 'show the full output of the last tool call'],
  ['Esc', 'close a menu'],
  ['Ctrl-L, Ctrl-Z, Ctrl-D', 'redraw, suspend, exit'],
] as const;

const nameWidth = 28;

function help({ host, say, style, columns }: CommandContext): void {
  const rows = allCommands(host.local?.commands).map(
    ({ name, operand = '', text }) => [`/${name} ${operand}`.trim(), text] as const,
  );
  const room = columns() - nameWidth - 3;
  const lines = (all: readonly (readonly [name: string, text: string])[]) =>
    all.flatMap(([name, text]) => {
      // If there is no room for two columns, put the text below.
      if (room < 24)
        return [`  ${style.bold(name)}`, ...wrap(text, columns() - 7).map((line) => `      ${line}`)];
      const [first = '', ...rest] = wrap(text, room);
      const margin = ' '.repeat(nameWidth + 2);
      return [`  ${style.bold(name.padEnd(nameWidth))}${first}`, ...rest.map((line) => margin + line)];
    });
  say([...lines(rows), '', ...lines(keys)]);
}

async function changeModel(commandContext: CommandContext, change: ModelChange): Promise<void> {
  const { host, conversation, open, say, style } = commandContext;
  await modelParts(host).setModel(change);
  await open(conversation.harness.sessionId);
  const { name, effort = 'default' } = host.model;
  say([style.dim('effort' in change ? `effort: ${effort}` : `switched to ${visible(name)}`)]);
}

function modelParts(host: ChatHost): LocalParts {
  return localParts(host, 'chooses the model', 'another one: cobbler serve -m MODEL --effort LEVEL');
}

async function model(commandContext: CommandContext, name: string): Promise<void> {
  const { host, pick } = commandContext;
  const local = modelParts(host);
  const change = (model: string) => changeModel(commandContext, { model });
  if (name !== '') return await change(name);
  pick(
    `current: ${host.model.name}; to switch: /model NAME; prices are per million tokens`,
    local.models(),
    change,
  );
}

async function effort(commandContext: CommandContext, level: string): Promise<void> {
  const { host, pick } = commandContext;
  modelParts(host);
  const change = (name: string) =>
    changeModel(commandContext, { effort: name === 'default' ? undefined : readEffort(name, '/effort') });
  if (level !== '') return await change(level);
  const items = [...efforts, 'default'].map((name) => ({ name }));
  pick(`effort of ${host.model.name}: ${host.model.effort ?? 'default'}`, items, change);
}

function thinking({ conversation, say, style }: CommandContext): void {
  const thoughts = conversation.ledger.runs.at(-1)?.thoughts ?? [];
  if (thoughts.length === 0)
    return say([style.dim('The model has shown no thinking since the last prompt.')]);
  say(
    thoughts.flatMap((text) => [
      '',
      ...visible(text.trim())
        .split('\n')
        .map((line) => style.dim(`  ${line}`)),
    ]),
  );
}

function theme({ pick, say, style, setTheme }: CommandContext, given: string): void {
  const change = (name: string) => {
    setTheme(optionValue(name, '/theme', oneOf(themes), `Themes: ${themes.join(', ')}`) ?? 'dark');
    const note = style.color || name === 'none' ? '' : '; this terminal or NO_COLOR turns colors off';
    say([`${style.green('+ added')} ${style.red('- removed')} ${style.yellow('asks')}${note}`]);
    say([style.dim(`for this chat; to keep it: cobbler config set theme ${name}`)]);
  };
  if (given !== '') return change(given);
  pick(
    'theme',
    themes.map((name) => ({ name })),
    change,
  );
}

function tools({ host, say, style }: CommandContext): void {
  const local = localParts(host, 'chooses the tools', 'other tools: cobbler serve --tools NAMES');
  const word = { read: 'reads', idempotent: 'changes', once: 'changes' } as const;
  say(
    local.tools.map(({ name, description, effect = 'once' }) => {
      const [first = ''] = oneLine(description).split('. ');
      return `  ${style.bold(name.padEnd(14))} ${style.dim(word[effect].padEnd(8))} ${first}`;
    }),
  );
}

function cost({ conversation, host, say, style }: CommandContext): void {
  say(costLines(conversation.ledger, host, style));
}

function context({ conversation, host, say, style }: CommandContext): void {
  say(contextLines(conversation.ledger, host, style));
}

function compact({ conversation }: CommandContext, keep: string): void {
  if (conversation.ledger.seq === 0) throw new UsageError('There are no messages yet.');
  conversation.compact(keep);
}

function diff({ conversation, say, style, columns }: CommandContext): void {
  const changes = conversation.ledger.runs.flatMap((run) => run.changes);
  if (changes.length === 0) return say([style.dim('No edits were made.')]);
  for (const { path, diff } of changes) {
    const { added, removed } = diffSize(diff);
    say([
      `  ${style.bold(oneLine(path))} +${added} -${removed}`,
      ...diffLines(diff, style, columns() - 7).map((line) => `      ${line}`),
    ]);
  }
}

async function fork({ conversation, adopt, say, style }: CommandContext, at: string): Promise<void> {
  const upToSeq = at === '' ? undefined : Number(at);
  if (upToSeq !== undefined && !Number.isInteger(upToSeq)) {
    throw new UsageError(`/fork needs an event number, not ${JSON.stringify(at)}.`, 'For example: /fork 12');
  }
  if (conversation.ledger.seq === 0) throw new UsageError('There are no messages to copy yet.');
  const from = conversation.harness.sessionId;
  const harness = await conversation.harness.fork(upToSeq === undefined ? {} : { upToSeq });
  await adopt(harness);
  say([style.dim(`session ${shortId(harness.sessionId)} is a copy of ${shortId(from)}, which is unchanged`)]);
}

async function sessions({ host, say, style, columns }: CommandContext): Promise<void> {
  const rows = await host.sessions();
  if (rows.length === 0) return say([style.dim('No sessions are saved.')]);
  say(sessionTable(rows.slice(0, 20), Date.now(), style, columns() - 2).map((line) => `  ${line}`));
}

async function resume({ host, pick, open, conversation }: CommandContext, given: string): Promise<void> {
  const all = await host.sessions();
  const rows = all.filter(({ info }) => info.id !== conversation.harness.sessionId);
  if (given !== '') {
    const found = rows.filter(({ info }) => info.id.startsWith(given));
    const [one] = found;
    if (one === undefined)
      throw new UsageError(
        `No other session has an id that starts with ${JSON.stringify(given)}.`,
        'See: /sessions',
      );
    if (found.length > 1)
      throw new UsageError(
        `The ids of ${found.length} sessions start with ${JSON.stringify(given)}.`,
        'Use more characters of the id. To list the sessions: /sessions',
      );
    await open(one.info.id);
    return;
  }
  if (rows.length === 0) throw new UsageError('There is no other session.');
  const items = rows.map(({ info, folder = '' }) => ({
    name: shortId(info.id),
    text: [ageOf(info.updatedAt, Date.now()), info.status, oneLine(info.title), oneLine(folder)].join(' · '),
    fills: info.id,
  }));
  pick('continue', items, open);
}

async function save({ host, conversation, say, style }: CommandContext, given: string): Promise<void> {
  const { sessionId } = conversation.harness;
  const file = given || `session-${shortId(sessionId)}.md`;
  const events = await host.past(sessionId);
  saveConversation(resolve(host.folder, file), events, new ToolCallList(host.known));
  say([style.dim(`${plural(events.length, 'event')} written to ${visible(file)}`)]);
}

function copy({ conversation, copy, say, style }: CommandContext): void {
  const { lastAnswer } = conversation.ledger;
  if (lastAnswer === '') throw new UsageError('There is no response yet.');
  copy(lastAnswer);
  say([
    style.dim(
      `asked the terminal to copy ${plural(lastAnswer.length, 'character')} to the clipboard; some terminals ignore this`,
    ),
  ]);
}

const modes = Object.keys(permissionWords) as readonly PermissionMode[];

/** Shows the permissions, changes the mode, or accepts the rules of the project's file. */
async function permissions({ host, say, style, io }: CommandContext, operand: string): Promise<void> {
  const other = 'other rules: cobbler serve --allow RULE';
  const { permission } = localParts(host, 'decides which calls are allowed', other);
  const project = await readProjectRules(host.folder, io.env);
  if (operand === 'trust') {
    trustRules(host.folder, project.strange, io.env);
    for (const rule of project.strange) permission.allow(rule);
    return say([
      style.dim(`accepted ${plural(project.strange.length, 'rule')} from ${visible(project.path)}`),
    ]);
  }
  if (operand !== '') {
    const mode = modes.find((one) => one === operand);
    if (mode === undefined) {
      throw new UsageError(
        `Unknown mode ${JSON.stringify(operand)}.${didYouMean(operand, modes)}`,
        `Modes: ${modes.join(', ')}`,
      );
    }
    permission.mode = mode;
  }
  const { allow, deny } = permission.rules;
  const list = (name: string, rules: readonly string[]) =>
    rules.map((rule, index) => `  ${style.dim((index === 0 ? name : '').padEnd(8))}${visible(rule)}`);
  say([
    `  ${style.dim('mode'.padEnd(8))}${permission.mode}: ${permissionWords[permission.mode]}`,
    ...list('allow', allow),
    ...list('deny', deny),
    ...list('ignored', [...project.strange, ...project.outdated]),
    ...(project.strange.length === 0
      ? []
      : [
          style.yellow(
            `  The project file contains rules that you have not accepted, so they are ignored. To accept them: /permissions trust`,
          ),
        ]),
    style.dim(`  change the mode: /permissions ${modes.join('|')}`),
  ]);
}

/**
 * Writes a conversation to a new file that only its owner can read: the events as JSON Lines if the name ends in
 * `.jsonl`, otherwise the messages and calls as Markdown.
 * @throws UsageError if the file exists or cannot be written.
 */
function saveConversation(path: string, events: readonly Event[], calls: ToolCallList): void {
  const text = path.endsWith('.jsonl')
    ? events.map((event) => `${JSON.stringify(event)}\n`).join('')
    : markdownOf(events, calls);
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const why = isThere ? 'already exists' : readFailure(error).replace('read', 'written');
    throw new UsageError(`${path} ${why}.`, 'Choose another name: /save FILE');
  }
}

function markdownOf(events: readonly Event[], calls: ToolCallList): string {
  const plain = styleFor({ color: false, unicode: true, tty: false });
  const style = { ...plain, marks: { ...plain.marks, prompt: '>' } };
  const view = { style, columns: 200, tty: false, verbose: false };
  return `${pastLines(events, calls, view).join('\n').trim()}\n`;
}
