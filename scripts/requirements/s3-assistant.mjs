/** @type {import('./table.mjs').Table} */
export const assistant = {
  id: 'S3',
  title: 'chat assistant',
  entries: {
    'S3.1': {
      asks: 'allowlist first; then history, model, reply and both messages',
      in: ['packages/assistant/src/telegram/read-update.ts', 'packages/assistant/src/turn/turn.ts'],
    },
    'S3.2': {
      asks: 'the webhook returns 200; the work consists of steps with retries and time limits',
      in: [
        'packages/assistant/src/telegram/webhook.ts',
        'apps/worker/src/webhook.ts',
        'packages/assistant/src/cloudflare/workflow-steps.ts',
      ],
    },
    'S3.3': {
      asks: 'an unauthorized user gets 200, and no work or reply follows',
      in: ['packages/assistant/src/telegram/read-update.ts'],
    },
    'S3.4': {
      asks: 'if the model fails, an apology is sent and the message is stored',
      in: ['packages/assistant/src/turn/turn.ts', 'packages/assistant/src/turn/messages.ts'],
    },
    'S3.5': {
      asks: 'the response is sent, and both messages are stored',
      in: ['packages/assistant/src/turn/turn.ts', 'packages/assistant/src/turn/deliver.ts'],
    },
    'S3.6': {
      asks: 'five tool calls per turn; the sixth closes the turn',
      in: ['packages/assistant/src/turn/turn.ts', 'packages/assistant/src/assistant.ts'],
    },
    'S3.7': {
      asks: 'the model is reached only through the AI SDK',
      in: ['packages/provider-ai-sdk/src/create-ai-sdk.ts', 'scripts/house.json'],
    },
    'S3.8': {
      asks: 'ANTHROPIC_MODEL names the model; the default is claude-haiku-4-5',
      in: ['packages/provider-ai-sdk/src/anthropic.ts', 'apps/worker/src/parts.ts'],
    },
    'S3.9': {
      asks: 'instructions for each turn: role, tools or their absence, time',
      in: ['packages/assistant/src/turn/system-prompt.ts'],
    },
    'S3.10': {
      asks: 'the table of messages and its five columns',
      in: ['packages/assistant/src/storage/schema.ts', 'packages/assistant/src/storage/message-store.ts'],
    },
    'S3.11': {
      asks: 'the model sees the chat’s 20 newest messages',
      in: ['packages/assistant/src/turn/history.ts', 'packages/assistant/src/storage/message-store.ts'],
    },
    'S3.12': {
      asks: 'above a threshold older messages are summarized, embedded and indexed',
      in: [
        'packages/assistant/src/memory/remember.ts',
        'packages/assistant/src/cloudflare/vectorize-memory.ts',
        'packages/assistant/src/cloudflare/workers-ai-embedder.ts',
      ],
    },
    'S3.13': {
      asks: 'memories are searched for each message; those that match are shown',
      in: ['packages/assistant/src/memory/recall.ts', 'packages/assistant/src/sqlite/sqlite-memory.ts'],
    },
  },
  departures: [
    {
      of: ['S3.1', 'S3.5'],
      asked: 'both messages are saved at the end',
      here: 'the user’s before the model is called, the response once it is sent',
      why: 'no message is lost, whatever crashes in between',
    },
    {
      of: ['S3.1', 'S3.2', 'S3.10', 'S3.12'],
      asked: 'Cloudflare: Workflow, D1, Workers AI, Vectorize',
      here: 'the same turn there, and on one machine with SQLite, fetched updates and a word embedder',
      why: 'running an assistant needs no account',
    },
    {
      of: ['S3.6'],
      asked: 'the results so far are returned',
      here: 'a last request without tools turns them into a reply',
      why: 'results are not written for users, and a reply is never empty',
    },
    {
      of: ['S3.7'],
      asked: '`generateText`',
      here: 'the SDK’s language models below it; the loop, sending and retries are Cobbler’s, and another provider can be configured',
      why: 'promises 1 to 14 hold for them as for every provider',
    },
    {
      of: ['S3.12'],
      asked: 'one summary',
      here: 'facts, each a separate memory',
      why: 'a question resembles one fact, not a summary of many',
    },
  ],
};
