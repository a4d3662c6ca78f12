import { anthropicModel } from '../src/anthropic.ts';

const config = { apiKey: 'key', baseURL: 'http://model.test', model: 'model-1', maxTokens: 10, env: {} };
const forTests = 'a helper of tests: a wrong argument fails the test that passes it';

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  createAiSdk: () => [
    { ...anthropicModel(config), secrets: ['secret'], resultFiles: 'inside', providerOptions: {} },
  ],
  anthropicModel: () => [{ ...config, retry: { retries: 0 }, timeouts: { totalMs: 10 } }],
  openaiModel: () => [{ ...config, api: 'chat', retry: { retries: 0 }, timeouts: { totalMs: 10 } }],
};

const internal = 'called by the agent that `createAiSdk` returns';

const exceptions: Readonly<Record<string, string>> = {
  aiSdkContract: forTests,
  throughAiSdk: forTests,
  'createAiSdk().run': 'covered by `createAgent().run` of the agent; it would send requests',
  'anthropicModel().model': internal,
  'anthropicModel().refuses': internal,
  'openaiModel().model': internal,
};

/** Valid arguments of every public function; tests/public-functions.test.ts replaces each by odd values. */
export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
