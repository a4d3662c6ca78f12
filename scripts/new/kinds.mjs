// The kinds that `npm run new` creates: the directory, the contract and the next steps of each.

/**
 * @typedef {{
 *   folder: (name: string) => string,
 *   contract: boolean,
 *   steps: (name: string) => [string, string, string],
 * }} Kind `folder` is the target; `contract` is true for a package with a suite that it must pass
 */

/** @type {Record<string, Kind>} */
export const kinds = {
  provider: {
    folder: (name) => `packages/provider-${name}`,
    contract: true,
    steps: (name) => [
      `Read docs/writing-a-provider.md: eleven rules, and the best order in which to write the parts.`,
      `Write src/wire.ts, its mock src/testing/index.ts, and its capabilities in src/create-${name}.ts, all in packages/provider-${name}.`,
      `npm run verify -- contract ${name}: it reports the parts to write first. Then npm run generate -- api, and npm run check.`,
    ],
  },
  channel: {
    folder: (name) => `packages/channel-${name}`,
    contract: true,
    steps: (name) => [
      `Read packages/assistant/src/channel/channel.ts: what each method guarantees, and how it fails.`,
      `Write src/${name}-channel.ts, and a mock of its service in test/subjects.ts, in packages/channel-${name}.`,
      `npm test -- packages/channel-${name}: each failure names the missing part. Then npm run generate -- api, and npm run check.`,
    ],
  },
  store: {
    folder: (name) => `packages/store-${name}`,
    contract: true,
    steps: (name) => [
      `Read packages/agent/src/store/store.ts, and memory-store.ts next to it, which is the shortest store.`,
      `Write src/${name}-store.ts in packages/store-${name}: claim, append and read first.`,
      `npm test -- packages/store-${name}: each failure names the missing part. Then npm run generate -- api, and npm run check.`,
    ],
  },
  tool: {
    folder: () => 'packages/tools',
    contract: false,
    steps: (name) => [
      `Write packages/tools/src/${name}.ts: its parameters, its side effects (effect) and execute.`,
      `Write packages/tools/test/${name}.test.ts: what the model receives, including errors.`,
      `npm test -- packages/tools/test/${name}.test.ts. Then npm run check.`,
    ],
  },
};
