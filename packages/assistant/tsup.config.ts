import type { Options } from 'tsup';
import { bundle } from '../../tsup.base.ts';

const config: Options = bundle({
  index: 'src/index.ts',
  'sqlite/index': 'src/sqlite/index.ts',
  'telegram/index': 'src/telegram/index.ts',
  'cloudflare/index': 'src/cloudflare/index.ts',
  'testing/index': 'src/testing/index.ts',
});

export default config;
