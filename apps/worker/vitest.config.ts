import type { UserProjectConfigExport } from 'vitest/config';
import { project } from '../../vitest.base.ts';

const config: UserProjectConfigExport = project('worker');

export default config;
