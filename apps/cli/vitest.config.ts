import { fileURLToPath } from 'node:url';
import { project } from '../../vitest.base.ts';

const bundled = fileURLToPath(new URL('test/support/bundled.ts', import.meta.url));

export default project('cli', undefined, { globalSetup: [bundled] });
