/** @type {import('./table.mjs').Table} */
export const assistant = {
  id: 'S3',
  title: 'chat assistant',
  entries: {
    'S3.1': {
      asks: 'allowlist at the door; then history, model, reply and both messages',
      in: ['packages/assistant/src/telegram/read-update.ts', 'packages/assistant/src/turn.ts'],
    },
    'S3.2': {
      asks: 'the webhook answers 200; the work is steps with retries and time limits',
      in: [
        'packages/assistant/src/telegram/webhook.ts',
        'apps/worker/src/webhook.ts',
        'packages/assistant/src/cloudflare/workflow-steps.ts',
      ],
    },
    'S3.3': {
      asks: 'a stranger gets 200, no work and no reply',
      in: ['packages/assistant/src/telegram/read-update.ts'],
    },
    'S3.4': {
      asks: 'a model that fails gives words of apology; the message is kept',
      in: ['packages/assistant/src/turn.ts', 'packages/assistant/src/words.ts'],
    },
    'S3.5': {
      asks: 'the answer is sent, and both messages are saved',
      in: ['packages/assistant/src/turn.ts', 'packages/assistant/src/deliver.ts'],
    },
    'S3.6': {
      asks: 'five tool calls a turn; at the sixth the turn is closed',
      in: ['packages/assistant/src/turn.ts', 'packages/assistant/src/assistant.ts'],
    },
    'S3.7': {
      asks: 'the model is reached by the AI SDK alone',
      in: ['packages/provider-ai-sdk/src/create-ai-sdk.ts', 'scripts/house.json'],
    },
    'S3.8': {
      asks: 'ANTHROPIC_MODEL names the model; without it claude-haiku-4-5',
      in: ['packages/provider-ai-sdk/src/anthropic.ts', 'apps/worker/src/parts.ts'],
    },
    'S3.9': {
      asks: 'instructions made anew: role, tools or that there are none, time',
      in: ['packages/assistant/src/system-prompt.ts'],
    },
    'S3.10': {
      asks: 'the table of messages and its five columns',
      in: ['packages/assistant/src/schema.ts', 'packages/assistant/src/message-store.ts'],
    },
    'S3.11': {
      asks: 'the model sees the chat’s 20 newest messages',
      in: ['packages/assistant/src/history.ts', 'packages/assistant/src/message-store.ts'],
    },
    'S3.12': {
      asks: 'past a threshold older messages are summarised, embedded and indexed',
      in: [
        'packages/assistant/src/memory/remember.ts',
        'packages/assistant/src/cloudflare/vectorize-memory.ts',
        'packages/assistant/src/cloudflare/workers-ai-embedder.ts',
      ],
    },
    'S3.13': {
      asks: 'each message is searched for; memories that fit are shown',
      in: ['packages/assistant/src/memory/recall.ts', 'packages/assistant/src/sqlite/sqlite-memory.ts'],
    },
  },
  departures: [
    {
      of: ['S3.1', 'S3.5'],
      seed: 'both messages are saved at the end',
      here: 'the person’s before the model is asked, the answer once it was sent',
      why: 'nothing that was said is lost, whatever dies on the way',
    },
    {
      of: ['S3.1', 'S3.2', 'S3.10', 'S3.12'],
      seed: 'Cloudflare: Workflow, D1, Workers AI, Vectorize',
      here: 'the same turn there, and on one machine with SQLite, fetched updates and an embedder of words',
      why: 'nobody needs an account to have an assistant',
    },
    {
      of: ['S3.6'],
      seed: 'the results so far are returned',
      here: 'a last request without tools makes a reply of them',
      why: 'results are not written for people, and a reply is never empty',
    },
    {
      of: ['S3.7'],
      seed: '`generateText`',
      here: 'the SDK’s language models below it; the loop, sending and retries are ours, and another provider can be named',
      why: 'promises 1 to 14 hold for them as for every provider',
    },
    {
      of: ['S3.12'],
      seed: 'one summary',
      here: 'facts, each a memory of its own',
      why: 'a question is like one fact, not like a summary of many',
    },
  ],
};
