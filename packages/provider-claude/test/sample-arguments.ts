const config = { apiKey: 'key', baseURL: 'http://model.test', model: 'fast', maxTokens: 10, env: {} };
const handler = { onText: () => {} };
const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }];
const stored = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }] };

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  createClaude: () => [{ ...config, thinking: 'disabled', retry: { retries: 0 }, timeouts: { totalMs: 10 } }],
  createClaudeBatch: () => [{ ...config, collectMs: 1, maxRequests: 2, pollMs: 1, retry: { retries: 0 } }],
  claudeHarness: () => [
    { ...config, systemPrompt: 'Be brief.', maxTurns: 2 },
    [],
    handler,
    { sessionId: 'session-1' },
  ],
  claudePrice: () => ['fast', 10],
  claudePricing: () => ['claude', 'fast', 10],
  'claudeTranscripts.match': () => [stored],
  'claudeTranscripts.read': () => [stored],
  'claudeTranscripts.write': () => [stored, messages],
};

const exceptions: Readonly<Record<string, string>> = {
  claudeTesting: 'a helper of tests: a wrong argument fails the test that passes it',
  'createClaudeBatch().run': 'like `createClaude().run`',
  'createClaude().run': 'covered by `createAgent().run` of the agent; it would send requests',
};

/** Valid arguments of every public function; tests/public-functions.test.ts replaces each by odd values. */
export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
