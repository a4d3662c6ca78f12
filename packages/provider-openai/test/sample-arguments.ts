const config = { apiKey: 'key', baseURL: 'http://model.test', model: 'gpt-5.5', maxTokens: 10, env: {} };
const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }];
const chat = { messages: [{ role: 'user', content: 'Hello.' }] };
const items = { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }] };
const forTests = 'a helper of tests: a wrong argument fails the test that passes it';

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  createOpenAI: () => [{ ...config, api: 'chat', retry: { retries: 0 }, timeouts: { totalMs: 10 } }],
  createOpenAIBatch: () => [{ ...config, api: 'chat', collectMs: 1, maxRequests: 2, pollMs: 1 }],
  openAIPrice: () => ['gpt-5.5', 10],
  openAIPricing: () => ['openai', 'gpt-5.5', 10],
  'chatTranscripts.match': () => [chat],
  'chatTranscripts.read': () => [chat],
  'chatTranscripts.write': () => [chat, messages],
  'responsesTranscripts.match': () => [items],
  'responsesTranscripts.read': () => [items],
  'responsesTranscripts.write': () => [items, messages],
};

const exceptions: Readonly<Record<string, string>> = {
  chatTesting: forTests,
  responsesTesting: forTests,
  'createOpenAIBatch().run': 'like `createOpenAI().run`',
  'createOpenAI().run': 'covered by `createAgent().run` of the agent; it would send requests',
};

/** Valid arguments of every public function; tests/public-functions.test.ts replaces each by odd values. */
export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
