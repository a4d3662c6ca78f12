import { project } from '../../../vitest.base.ts';

/** The terminal half of `npm run verify -- faces`. It needs tmux, so it is no part of `npm test`. */
export default project('faces-terminal', ['**/*.test.ts']);
