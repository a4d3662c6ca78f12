/** The scripts of package.json that `npm run verify -- --all` runs besides the tests, the quick ones first. */
export const suites = [
  'budgets',
  'docs',
  'release:dry',
  'test:docs',
  'test:packed',
  'test:worker',
  'test:clis',
  'test:faces',
  'test:scale',
];
