import { visibleText } from '@cobbler/agent/events';
import { visible } from './escape.ts';

/** Like {@link visible}, but on one line, and hidden or look-alike characters become visible too; tabs become spaces. */
export function oneLine(text: string): string {
  return visibleText(visible(text.trim()).replaceAll('\n', '\\n').replaceAll('\t', ' '));
}
