import { project } from '../../vitest.base.ts';

export default project('runner-restate');
