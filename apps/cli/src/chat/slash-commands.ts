import type { CommandDefinition } from '@cobbler/agent/definitions';
import { readProjectRules, trustRules } from '../config/project-rules.ts';
import type { PermissionMode } from '../permissions/permission.ts';
import { permissionWords } from '../permissions/permission.ts';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { clip, wrap } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { diffLines, diffSize } from '../view/diff-lines.ts';
import { background } from './background-command.ts';
import { contextLines, costLines } from './figures-view.ts';
import { localParts } from './host.ts';
import type { MenuItem } from './input/menu.ts';
import { effort, model, theme, thinking, vim } from './model-commands.ts';
import { plan, todo } from './planning-commands.ts';
import { copy, fork, resume, save, sessions } from './session-commands.ts';
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
  { name: 'plan', operand: '[off]', text: 'prevent changes until you approve a plan', run: plan },
  {
    name: 'todo',
    operand: '[add|done|drop …]',
    text: "show or change the model's to-do list",
    run: todo,
  },
  {
    name: 'background',
    operand: '[id|stop [id]]',
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
    text: 'reverse the last undo or rewind',
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
  {
    name: 'paste',
    text: 'attach the image in the clipboard, like Ctrl-V',
    run: (commandContext) => commandContext.pasteImage(),
  },
  { name: 'theme', operand: '[name]', text: 'change the colors', run: theme },
  { name: 'vim', text: 'turn Vim keys on or off', run: vim },
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
  ['@path', 'attach a file; Tab completes; or drop an image or a PDF on the terminal'],
  ['Ctrl-V', 'attach the image in the clipboard'],
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

function tools({ host, say, style, columns }: CommandContext): void {
  const local = localParts(host, 'chooses the tools', 'other tools: cobbler serve --tools NAMES');
  const word = { read: 'reads', idempotent: 'changes', once: 'changes' } as const;
  const width = Math.max(...local.tools.map(({ name }) => name.length));
  say(
    local.tools.map(({ name, description, effect = 'once' }) => {
      const [first = ''] = oneLine(description).split('. ');
      const text = clip(first, columns() - width - 13, style.marks.ellipsis);
      return `  ${style.bold(name.padEnd(width))} ${style.dim(word[effect].padEnd(8))} ${text}`;
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
