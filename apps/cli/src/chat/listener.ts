import { visible } from '../terminal/escape.ts';
import type { Style } from '../terminal/style.ts';
import type { Conversation } from './conversation.ts';
import { backLine, troubleLine } from './facts.ts';
import type { ChatListener } from './host.ts';

/** The chat, for the listener of one of its conversations. */
export interface ListenerPorts {
  readonly style: Style;
  /** True while the chat shows the conversation. */
  isCurrent(): boolean;
  /** Adds lines to the page. */
  aside(lines: readonly string[]): void;
  /** Shows the state of the connection; undefined if it is fine. */
  link(words: string | undefined): void;
}

/** Returns the listener that passes what happens in a session to its conversation. */
export function listenerOf(conversation: Conversation, ports: ListenerPorts): ChatListener {
  const { style, aside, link } = ports;
  return {
    handler: { onEvent: (event) => ports.isCurrent() && conversation.handle(event) },
    followsOthers: true,
    onTrouble: (message) => aside([troubleLine(message, style)]),
    onNotice: (line) => aside([style.yellow(visible(line))]),
    onLost: () => link('reconnecting…'),
    onRefused: (approvalId, reason) => {
      if (ports.isCurrent()) conversation.refused(approvalId, reason);
    },
    onUnread: (content) => {
      if (ports.isCurrent()) conversation.unread(content);
    },
    onBack: (events) => {
      aside([backLine(events, style)]);
      link(undefined);
    },
  };
}
