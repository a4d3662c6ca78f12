import { visibleText } from '@cobbler/agent/events';
import { visible } from './escape.ts';

/**
 * Like {@link visible}, but on one line, for names, titles and commands: line breaks and characters that are invisible
 * or look like others also become visible, tabs become spaces.
 */
export function oneLine(text: string): string {
  return visibleText(visible(text.trim()).replaceAll('\n', '\\n').replaceAll('\t', ' '));
}
