import { fakeRuntime } from '@cobbler/agent/testing';

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  restateRunner: () => [
    {
      ...{ workflow: async () => 'Done.', ingress: ['http://127.0.0.1:9'], admin: 'http://127.0.0.1:9' },
      ...{ service: 'cobbler', host: '127.0.0.1', port: 0, address: 'http://127.0.0.1:9', reusePort: false },
      ...{
        identityKeys: ['publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f'],
        retentionMs: 1_000,
        idleMs: 1_000,
        drainMs: 0,
        patienceMs: 1,
        runtime: fakeRuntime(),
      },
    },
  ],
};

const needsEngine = 'no argument is valid without an engine: see arguments.test.ts';

const exceptions: Readonly<Record<string, string>> = {
  'restateRunner().start': needsEngine,
  'restateRunner().signal': needsEngine,
};

export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
