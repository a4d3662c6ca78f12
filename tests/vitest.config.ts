import { project } from '../vitest.base.ts';

// With the condition `import`, pg would load the wrong kind of module: see packages/store-postgres.
export default project('tests', ['**/*.test.ts'], { only: ['@cobbler/source'] });
