const config = { apiKey: 'key', baseURL: 'http://model.test', model: 'fast', maxTokens: 10, env: {} };

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  createGemini: () => [{ ...config, effort: 'low', retry: { retries: 0 }, timeouts: { totalMs: 10 } }],
  geminiPrice: () => ['fast'],
  geminiPricing: () => ['gemini', 'fast'],
};

const exceptions: Readonly<Record<string, string>> = {
  geminiTesting: 'a helper of tests: a wrong argument fails the test that passes it',
  'createGemini().run': 'covered by `createAgent().run` of the agent; it would send requests',
};

/** Valid arguments of every public function; tests/public-functions.test.ts replaces each by odd values. */
export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
