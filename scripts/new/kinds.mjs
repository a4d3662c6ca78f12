// What can be made by `npm run new`, where it goes, and what to do then.

/**
 * @typedef {{
 *   folder: (name: string) => string,
 *   contract: boolean,
 *   steps: (name: string) => [string, string, string],
 * }} Kind `folder` is where it goes; with `contract` it is a package of its own, with a suite it has to pass
 */

/** @type {Record<string, Kind>} */
export const kinds = {
  provider: {
    folder: (name) => `packages/provider-${name}`,
    contract: true,
    steps: (name) => [
      `Read docs/writing-a-provider.md: ten rules, and the order in which the parts are best written.`,
      `Write src/wire.ts, its inverse src/testing/index.ts, and what it can do in src/create-${name}.ts, all in packages/provider-${name}.`,
      `npm run verify -- contract ${name}: it reports the parts to write first. Then npm run generate -- api, and npm run check.`,
    ],
  },
  channel: {
    folder: (name) => `packages/channel-${name}`,
    contract: true,
    steps: (name) => [
      `Read packages/assistant/src/channel/channel.ts: what each call promises, and how it fails.`,
      `Write src/${name}-channel.ts, and the service it speaks to in test/subjects.ts, in packages/channel-${name}.`,
      `npm test -- packages/channel-${name}: each failure names the part that is missing. Then npm run generate -- api, and npm run check.`,
    ],
  },
  store: {
    folder: (name) => `packages/store-${name}`,
    contract: true,
    steps: (name) => [
      `Read packages/agent/src/store/store.ts, and memory-store.ts beside it: the shortest store there is.`,
      `Write src/${name}-store.ts in packages/store-${name}: claim, append and read first.`,
      `npm test -- packages/store-${name}: each failure names the part that is missing. Then npm run generate -- api, and npm run check.`,
    ],
  },
  tool: {
    folder: () => 'packages/tools',
    contract: false,
    steps: (name) => [
      `Say in packages/tools/src/${name}.ts what it takes, what it does to the world (its effect), and do it.`,
      `Say in packages/tools/test/${name}.test.ts what the model is told, also when something is wrong.`,
      `npm test -- packages/tools/test/${name}.test.ts. Then npm run check.`,
    ],
  },
};
