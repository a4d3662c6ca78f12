import { project } from '../../vitest.base.ts';

// pg requires a part of itself: were the condition `import` given to Node, it would get the wrong kind of module.
export default project('store-postgres', undefined, { only: ['@cobbler/source'] });
