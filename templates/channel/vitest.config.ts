import { project } from '../../vitest.base.ts';

export default project('channel-your-own');
