import { efforts, readEffort } from '../config/run-flags.ts';
import { visible } from '../terminal/escape.ts';
import { oneOf, optionValue } from '../terminal/option-value.ts';
import { themes } from '../terminal/style.ts';
import type { ChatHost, LocalParts, ModelChange } from './host.ts';
import { localParts } from './host.ts';
import type { CommandContext } from './slash-command.ts';

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

/** Switches to another model. */
export async function model(commandContext: CommandContext, name: string): Promise<void> {
  const { host, pick } = commandContext;
  const local = modelParts(host);
  const change = (model: string) => changeModel(commandContext, { model });
  if (name !== '') return await change(name);
  pick(`current: ${host.model.name}; prices are per million tokens`, local.models(), change, host.model.name);
}

/** Sets how much the model reasons. */
export async function effort(commandContext: CommandContext, level: string): Promise<void> {
  const { host, pick } = commandContext;
  modelParts(host);
  const change = (name: string) =>
    changeModel(commandContext, { effort: name === 'default' ? undefined : readEffort(name, '/effort') });
  if (level !== '') return await change(level);
  const items = [...efforts, 'default'].map((name) => ({ name }));
  const current = host.model.effort ?? 'default';
  pick(`effort of ${host.model.name}: ${current}`, items, change, current);
}

/** Shows the model's thinking since the last prompt. */
export function thinking({ conversation, say, style }: CommandContext): void {
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

/** Changes the colors. */
export function theme({ pick, say, style, setTheme }: CommandContext, given: string): void {
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
    style.theme,
  );
}

/** Turns the Vim keys on or off. */
export function vim({ switchVim, say, style }: CommandContext): void {
  const isOn = switchVim();
  say([style.dim(isOn ? 'Vim keys on: Esc for normal mode' : 'Vim keys off')]);
  say([style.dim(`for this chat; to keep it: cobbler config set vim ${isOn}`)]);
}
