import { project } from '../../vitest.base.ts';

// pg loads one of its files with `require`; with the condition `import`, Node would resolve it to
// the wrong kind of module.
export default project('store-postgres', undefined, { only: ['@cobbler/source'] });
