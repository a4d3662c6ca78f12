import { bundle } from '../../tsup.base.ts';

export default bundle({
  index: 'src/index.ts',
  batch: 'src/batch.ts',
  'testing/index': 'src/testing/index.ts',
  transcripts: 'src/transcripts.ts',
});
