// Shows a chat assistant that remembers facts across conversations and asks the user before it acts.
// Run it with: npm run try -- examples/assistant.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelRequest } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import type { Runner } from '@cobbler/agent/runner';
import { memoryRunner } from '@cobbler/agent/runner';
import { scriptedAgent } from '@cobbler/agent/testing';
import {
  createAssistant,
  lexicalEmbedder,
  memoryChannel,
  sqlChats,
  sqlEvents,
  sqlMessages,
  sqlOutbox,
} from '@cobbler/assistant';
import { sqliteMemory, sqliteSql } from '@cobbler/assistant/sqlite';

// One file stores everything: messages, chats, the outbox and the memory.
const folder = mkdtempSync(join(tmpdir(), 'cobbler-example-'));
const sql = sqliteSql({ file: join(folder, 'chats.db') });

function answer({ messages, tools, system = '' }: ModelRequest) {
  const last = JSON.stringify(messages.at(-1)?.content);
  // From time to time, the assistant asks the model, without tools, which facts to remember. It adds these facts to the
  // instructions as notes. The second conversation contains nothing else from the first.
  if (tools.length === 0) return last.includes('Bello') ? 'Their dog is called Bello.' : 'NOTHING';
  if (last.includes('bought')) return 'It is on its way.';
  if (last.includes('Buy')) return { calls: [{ name: 'buy', arguments: { what: 'dog food' } }] };
  const notes = [system].flat().filter((part) => part.startsWith('Notes'));
  return last.includes('?') ? `I have a note: ${/^- (.*)$/m.exec(notes.join())?.[1]}` : 'A good name!';
}
const buy = defineTool({
  name: 'buy',
  description: 'Buys something.',
  parameters: { type: 'object' },
  execute: ({ what }) => `bought ${what}`,
});

// Telegram has the same interface. This channel prints each message that it receives and presses the first button.
const channel = memoryChannel({
  onMessage({ id, text, buttons: [first] }) {
    console.log('<', text.replaceAll(/\s+/g, ' '));
    if (first !== undefined) void arrive({ type: 'tap', data: first.data, tapId: id });
  },
});
const stores = {
  messages: sqlMessages(sql),
  chats: sqlChats(sql),
  outbox: sqlOutbox(sql),
  turns: sqlEvents(sql),
};
const assistant = createAssistant({
  ...stores,
  agent: scriptedAgent([answer], { repeat: true }),
  channel,
  tools: [buy],
  memory: sqliteMemory({ sql, embedder: lexicalEmbedder() }),
  remember: { threshold: { messages: 1 }, keep: 0 },
  runner: () => runner,
});
const runner: Runner = memoryRunner(assistant);
let arrivals = 0;
type Said = { type: 'text'; text: string } | { type: 'tap'; data: string; tapId: string };
async function arrive(said: Said): Promise<void> {
  const id = String(++arrivals);
  await assistant.receive({ id, chatId: '7', userId: '7', sentAt: Date.now(), ...said });
  await runner.result(`memory-${id}`);
}
for (const text of ['My dog is called Bello.', '/new', 'What is my dog called?', 'Buy him something.']) {
  console.log('>', text);
  await arrive({ type: 'text', text });
}
await runner.close();
sql.close();
rmSync(folder, { recursive: true });
