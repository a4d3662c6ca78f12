import { project } from '../../../vitest.base.ts';

/** The terminal tests of `npm run verify -- faces`. They need tmux, so `npm test` skips them. */
export default project('faces-terminal', ['**/*.test.ts']);
