import { read, record, text } from '../../values/input.ts';
import type { CommandDefinition } from './definition.ts';

const body = record<Pick<CommandDefinition, 'body'>>({ body: text }, ['body']);

/**
 * Returns the prompt of a command. `$ARGUMENTS` stands for all arguments, `$1` to `$9` for one of them; quotes keep words
 * together. Without such a placeholder, the arguments follow the text.
 */
export function expandCommand(command: Pick<CommandDefinition, 'body'>, given: string): string {
  const own = read(command, body, 'command').body;
  const all = read(given, text, 'given').trim();
  const words = [...all.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(
    ([word, ...quoted]) => quoted.find((one) => one !== undefined) ?? word,
  );
  let isUsed = false;
  // One pass, so that a placeholder in an argument stays text.
  const expanded = own.replace(/\$(ARGUMENTS|[1-9](?!\d))/g, (_, name: string) => {
    isUsed = true;
    return name === 'ARGUMENTS' ? all : (words[Number(name) - 1] ?? '');
  });
  return isUsed || all === '' ? expanded : `${expanded}\n\n${all}`;
}
