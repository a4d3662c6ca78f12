import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model writes again and again: prose, a list, a table and code. */
const answer = [
  'The next part of the answer is **a paragraph** of ordinary length, with `code` and a [link](https://example.com/page).',
  '- first item\n- second item\n  - nested item',
  '| Name | Meaning |\n|---|---:|\n| one | a cell with some words |\n| two | another cell |',
  '```ts\n/** Adds numbers. */\nexport function add(left: number, right = 1): number {\n  return left + right;\n}\n```',
].join('\n\n');

/** Time between two chunks of a few characters, in milliseconds: a fast model. */
const everyMs = 10;

/** Starts a service that answers each request with a response that does not end. */
export async function startEndlessModel(): Promise<{ readonly url: string; close(): void }> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const usage = { input_tokens: 1000, output_tokens: 1 };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      content: [],
    };
    send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    const chunks = `${answer}\n\n`.match(/[\s\S]{1,6}/g) ?? [];
    let at = 0;
    const timer = setInterval(() => {
      const text = chunks[at++ % chunks.length];
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    }, everyMs);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
