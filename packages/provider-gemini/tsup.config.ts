import { bundle } from '../../tsup.base.ts';

export default bundle({ index: 'src/index.ts', 'testing/index': 'src/testing/index.ts' });
