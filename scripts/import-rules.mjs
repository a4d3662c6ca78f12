// The rules for imports, checked by dependency-cruiser: `npm run check`. Type imports count. house.json lists what each
// package may import and the layers of each directory.
import { readFileSync } from 'node:fs';

/**
 * @typedef {import('dependency-cruiser').IRegularForbiddenRuleType
 *   | import('dependency-cruiser').IReachabilityForbiddenRuleType} Rule
 */

/** @type {typeof import('./house.json')} */
const { forbiddenNames, packages, layers } = JSON.parse(
  readFileSync(new URL('house.json', import.meta.url), 'utf8'),
);

/** @param {readonly string[]} paths */
const startsWith = (paths) => `^(${paths.join('|')})`;

/** @param {readonly string[]} names */
const npm = (...names) => `node_modules/(${names.join('|')})/`;

/**
 * @param {string} name
 * @param {string} comment what to do about a violation
 * @param {Rule['from']} from
 * @param {Rule['to']} to
 * @returns {any} a {@link Rule}; which one depends on `to`
 */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/**
 * Tests may also import the contract suites and the mock services of providers. Tests of the agent
 * may not, because these packages depend on the agent.
 */
const forTests = ['packages/conformance/', 'packages/provider-[^/]+/src/testing/'];
const [fallback, ...named] = Object.keys(packages);

const packageRules = Object.entries(packages).flatMap(([folder, mayImport]) => {
  const allowed = ['$1/', ...mayImport.map((one) => `${one}/`)];
  const inTests = folder === 'packages/agent' ? allowed : [...allowed, ...forTests];
  const others = folder === fallback ? { pathNot: startsWith(named.map((one) => `${one}/`)) } : {};
  const comment = `It may import ${mayImport.join(', ') || 'no other package'} (scripts/house.json).`;
  const any = '^(packages|apps)/';
  return [
    rule(
      'packages',
      comment,
      { path: `^(${folder})/src/`, ...others },
      { path: any, pathNot: startsWith(allowed) },
    ),
    rule(
      'packages',
      comment,
      { path: `^(${folder})/test/`, ...others },
      { path: any, pathNot: startsWith(inTests) },
    ),
  ];
});

const layerRules = layers.flatMap(({ folder, bottomFirst }) => {
  const paths = bottomFirst.map((name) => `${folder}/${name}${name.endsWith('/') ? '' : '$'}`);
  const comment = 'Move what it needs down, or pass it in. scripts/house.json has the order of the layers.';
  return [
    ...paths.map((path, at) =>
      rule(
        'layers',
        comment,
        { path: `^${path}`, ...(at > 0 && { pathNot: startsWith(paths.slice(0, at)) }) },
        { path: `^${folder}/`, pathNot: startsWith(paths.slice(0, at + 1)) },
      ),
    ),
    rule(
      'layers',
      'Add the file to a layer in scripts/house.json.',
      { path: `^${folder}/`, pathNot: startsWith(paths) },
      {},
    ),
  ];
});

const anywhere = ['zod', 're2js', 'json-schema-library'];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    rule('cycles', 'Move what both need into a file below them.', {}, { circular: true }),
    rule(
      'relative paths',
      'Import the package by its name.',
      { path: '^((packages|apps)/[^/]+)/(src|test)/' },
      { dependencyTypes: ['local'], pathNot: '^$1/' },
    ),
    ...packageRules,
    ...layerRules,
    rule(
      'purity',
      'decide() depends on the state alone: pass what it needs as data.',
      { path: '^packages/agent/src/loop/decide\\.ts$' },
      {
        path: '^packages/agent/src/(store/store|values/runtime|loop/(log|run-context|request-model|call-tools|driver))\\.ts$',
        reachable: true,
      },
    ),
    rule(
      'runs anywhere',
      'This entry runs in every runtime: move the import into ./node, or take the effect from Runtime.',
      { path: '^packages/agent/src/((provider|events|remote)/)?index\\.ts$' },
      { path: '.', pathNot: ['^packages/', npm(...anywhere)], reachable: true },
    ),
    rule(
      'portable',
      'A turn runs on every platform: take this as one of its dependencies.',
      { path: '^packages/assistant/src/(turn/turn|turn/control|assistant)\\.ts$' },
      {
        path: '.',
        pathNot: ['^packages/(?!assistant/src/(telegram|cloudflare|sqlite)/)', npm(...anywhere, 'nanoid')],
        reachable: true,
      },
    ),
    rule(
      'testing entries',
      'Handlers there are plain (Request) => Response functions: wrap them in the tests.',
      { path: '^packages/[^/]+/src/testing/index\\.ts$' },
      { path: npm('msw', 'vitest'), reachable: true },
    ),
    rule(
      'file names',
      'Name the file after what it contains.',
      {},
      {
        path: ['/src/', '/src/.*[/.-]'].map((start) => `${start}(${forbiddenNames.join('|')})[/.-]`),
        pathNot: 'node_modules/',
      },
    ),
    rule(
      'vendor names',
      'The core knows no provider.',
      {},
      { path: '^packages/agent/src/.*(claude|anthropic|openai)' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(packages|apps)/[^/]+/dist/|^site/dist/|/fixtures/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // Resolves imports like a runtime without Node modules.
      conditionNames: ['@cobbler/source', 'import', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.d.ts'],
    },
  },
};
