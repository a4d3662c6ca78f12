import { readFileSync } from 'node:fs';

/** The page of the documentation that explains every error. The bundle contains its text instead of this read. */
export const errorsPage: string = readFileSync(
  new URL('../../../../docs/errors.md', import.meta.url),
  'utf8',
);
