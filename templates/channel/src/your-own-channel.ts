import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { Channel } from '@cobbler/assistant';

/** Options of the channel. */
export interface YourOwnOptions {
  readonly token: string;
  /** Default: the service's own address. */
  readonly baseURL?: string;
  /** Default: the real clock and network. */
  readonly runtime?: Runtime;
}

/** Creates a channel over Your Own. Each request is sent once; the caller decides whether to retry it. */
export function yourOwnChannel(options: YourOwnOptions): Channel {
  const { token, baseURL = 'https://your-own.example', runtime = systemRuntime } = options;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = (method: string, body: unknown) =>
    runtime.fetch(`${baseURL}/${method}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    name: 'your-own',
    pieces() {
      // Argument: the Markdown of a reply.
      throw new Error(
        'src/your-own-channel.ts, pieces: split a reply into chunks that fit, the same way each time.',
      );
    },
    async send(chatId) {
      // Arguments: (chatId, piece, { signal, buttons }).
      await call('send', { chatId });
      throw new Error('src/your-own-channel.ts, send: send the chunk, and return the id of the message.');
    },
    async sendFile() {
      // Arguments: (chatId, file, { signal }).
      throw new Error(
        'src/your-own-channel.ts, sendFile: send the text as a file, and return the id of the message.',
      );
    },
    async edit() {
      // Arguments: (chatId, messageId, piece, { signal, buttons }).
      throw new Error('src/your-own-channel.ts, edit: replace the message with the chunk.');
    },
    async typing() {
      // Optional: a channel without a typing indicator does nothing.
    },
    async heard() {
      // Arguments: (tapId, text).
      throw new Error('src/your-own-channel.ts, heard: confirm the button press to the service.');
    },
  };
}
