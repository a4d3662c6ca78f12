import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { Channel } from '@cobbler/assistant';

/** How the service is reached. */
export interface YourOwnOptions {
  readonly token: string;
  /** Default: the service's own address. */
  readonly baseURL?: string;
  /** Default: the real clock and network. */
  readonly runtime?: Runtime;
}

/** Your Own as a channel. Each call is made once; who calls decides about another try. */
export function yourOwnChannel(options: YourOwnOptions): Channel {
  const { token, baseURL = 'https://your-own.example', runtime = systemRuntime } = options;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = (method: string, body: unknown) =>
    runtime.fetch(`${baseURL}/${method}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    name: 'your-own',
    pieces() {
      // Given: the markdown of a reply.
      throw new Error(
        'src/your-own-channel.ts, pieces: cut a reply into pieces that fit, the same way each time.',
      );
    },
    async send(chatId) {
      // Given: (chatId, piece, { signal, buttons }).
      await call('send', { chatId });
      throw new Error('src/your-own-channel.ts, send: send the piece, and give the id of the message.');
    },
    async sendFile() {
      // Given: (chatId, file, { signal }).
      throw new Error(
        'src/your-own-channel.ts, sendFile: send the text as a file, and give the id of the message.',
      );
    },
    async edit() {
      // Given: (chatId, messageId, piece, { signal, buttons }).
      throw new Error('src/your-own-channel.ts, edit: put the piece in the place of the message.');
    },
    async typing() {
      // Best effort: a channel that cannot show it shows nothing.
    },
    async heard() {
      // Given: (tapId, text).
      throw new Error('src/your-own-channel.ts, heard: tell the service that the tap was heard.');
    },
  };
}
